"""What a probe wrote is held against what was asked of it."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from harness.adapters.environments import failures
from harness.adapters.processes.process import Ended
from harness.adapters.trials.probe_results import import_failure, read_result
from harness.adapters.trials.probing import CANARY
from harness.domain.cases.case import Level
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import InfrastructureError, Untestable
from tests.adapters.toy_environment import ToyEnvironment


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("raise ImportError('planted: libtoy.so')", "ImportError: planted: libtoy.so"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("import os; os.kill(os.getpid(), 11)", "killed by SIGSEGV while importing"),
        ("import os; os._exit(0)", "it printed nothing"),
        ("import os; print('gone'); os.close(1); os._exit(4)", "cannot be imported"),
        ("class E(Exception):\n def __str__(self): raise SystemError\nraise E", "cannot be shown"),
    ],
)
def test_a_release_that_cannot_be_imported_is_untestable_with_its_reason(
    toys: ToyEnvironment, source: str, expected: str
) -> None:
    toys.installs(source)
    with pytest.raises(Untestable) as refused:
        toys.see("pass", level=Level.MODEL)
    assert expected in refused.value.what


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import os; os.kill(os.getpid(), 9)", "memory ran out"),
        (
            "import sys; sys.stderr.write('OSError: [Errno 28] No space left on device\\n'); import os; os._exit(1)",
            "disk",
        ),
    ],
)
def test_a_machine_that_fails_while_importing_is_no_skip(toys: ToyEnvironment, source: str, expected: str) -> None:
    toys.installs(source)
    with pytest.raises(InfrastructureError, match=expected):
        toys.see("pass", level=Level.MODEL)


def test_a_machine_that_fails_once_is_asked_again(toys: ToyEnvironment, tmp_path: Path) -> None:
    flag = str(tmp_path / "flag")
    toys.installs(f"import os\nif not os.path.exists({flag!r}): open({flag!r}, 'w'); os.kill(os.getpid(), 9)\n")
    assert toys.see("pass").ending.exit_code == 0


def test_a_module_of_another_version_that_is_nobody_s_file_is_untestable(toys: ToyEnvironment) -> None:
    toys.installs("__version__ = '2.0'")
    with pytest.raises(Untestable, match=r"environment of 1.0 imports toykeras 2.0"):
        toys.see("pass", level=Level.MODEL)


def test_metadata_and_record_are_believed_before_a_module_s_own_version(toys: ToyEnvironment) -> None:
    """tensorflow-cpu 2.15.0.post1 says 2.15.0."""
    toys.installs("__version__ = '0.9'\nSequential = None")
    (site,) = toys.folder.glob("lib/python*/site-packages")
    info = site / "toykeras-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toykeras\nVersion: 1.0\n")
    try:
        (info / "RECORD").write_text("toykeras.py,,\n")
        with pytest.raises(Untestable, match="canary"):
            toys.see("pass", level=Level.MODEL)
        (info / "RECORD").write_text("")
        with pytest.raises(Untestable, match=r"environment of 1.0 imports toykeras 0.9"):
            toys.see("pass", level=Level.MODEL)
    finally:
        shutil.rmtree(info)  # the environment is that of other tests too


def test_what_an_import_that_fails_means_is_for_a_script_to_say(toys: ToyEnvironment) -> None:
    toys.installs("raise ImportError('planted: libtoy.so')")
    assert toys.see("print('needs no toykeras')").ending.exit_code == 0
    assert toys.see("import toykeras").ending.exit_code == 1
    assert not (toys.folder / CANARY).exists()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import os; os.kill(os.getpid(), 11)", "killed by SIGSEGV while importing"),
        ("import os; os._exit(0)", "left with exit code 0 while importing"),
        ("raise SystemExit(0)", "import toykeras: SystemExit"),
    ],
)
def test_an_end_by_force_or_one_that_looks_good_is_not(toys: ToyEnvironment, source: str, expected: str) -> None:
    """git would stop the search, or take it for good; neither says anything of the case."""
    toys.installs(source)
    with pytest.raises(Untestable, match=expected):
        toys.see("import toykeras")


def test_a_script_that_was_written_for_a_crash_meets_it(toys: ToyEnvironment) -> None:
    toys.installs("import os; os.kill(os.getpid(), 11)")
    assert toys.see("import toykeras", expects=Symptom.KILLED).ending.signal == 11


def test_what_lies_below_the_package_under_test_is_the_environment_s(toys: ToyEnvironment) -> None:
    with pytest.raises(Untestable, match="cannot be imported: import torch: ModuleNotFoundError"):
        toys.see("pass", companions=("torch",))


def test_a_red_canary_comes_first_and_each_time(toys: ToyEnvironment, tmp_path: Path) -> None:
    toys.installs("__version__ = '1.0'\nSequential = None")
    for _ in range(2):
        with pytest.raises(Untestable, match="canary"):
            toys.see(f"open({str(tmp_path / 'ran')!r}, 'w')", level=Level.MODEL)
    assert not (tmp_path / "ran").exists()


def test_a_script_fails_with_a_red_canary_only_by_the_same_error(toys: ToyEnvironment) -> None:
    """Keras 3.9 trains with no JAX of today; a script that fails before its training still shows what it shows."""
    toys.installs("__version__ = '1.0'\nSequential = None")
    with pytest.raises(Untestable, match="canary"):
        toys.see("import numpy")  # as the canary does; it is not there
    assert toys.see("print('trains nothing')").ending.exit_code == 0
    assert toys.see("raise ValueError('its own')").ending.exit_code == 1
    assert not (toys.folder / CANARY).exists()


RESULTS = "import glob, os, sys\nresults = os.path.join(os.path.dirname(os.getcwd()), 'results')\n"


@pytest.mark.parametrize(
    "body",
    [
        "os.mkdir(os.path.join(results, 'trial-0.json'))",
        "[open(p, 'wb').write(b'\\xff\\xfe') for p in glob.glob(results + '/*.stage')]",
        "[(os.unlink(p), os.mkdir(p)) for p in glob.glob(results + '/*.stage')]",
        "[(os.unlink(p), os.mkfifo(p)) for p in glob.glob(results + '/*.stage')]",
        "os.mkfifo(os.path.join(results, 'trial-0.json'))",
    ],
)
def test_a_case_that_writes_into_its_results_is_judged_by_how_it_ended(toys: ToyEnvironment, body: str) -> None:
    """Each of these ended the probe, and the user was told that memory may have run out."""
    assert toys.see(f"{RESULTS}{body}\nsys.exit(3)").ending.exit_code == 3


@pytest.mark.parametrize(
    ("body", "seen"),
    [
        ("import signal; os.kill(os.getppid(), signal.SIGKILL)", "the probe was killed by SIGKILL"),
        ("import signal; os.kill(os.getppid(), signal.SIGABRT)", "the probe was killed by SIGABRT"),
        ("import shutil; shutil.rmtree(results)", "the folder of the results was removed"),
    ],
)
def test_what_was_seen_is_said(toys: ToyEnvironment, body: str, seen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "ATTEMPTS", 1)
    with pytest.raises(InfrastructureError) as failure:
        toys.see(f"{RESULTS}{body}\nimport time; time.sleep(5)")
    assert failure.value.what.startswith(seen)
    assert str(failure.value.hint).startswith("does the case ")


@pytest.mark.parametrize(("content", "seen"), [(None, "replaced by a folder"), (b"{", "cannot be read: ")])
def test_a_result_that_is_none(tmp_path: Path, content: bytes | None, seen: str) -> None:
    path, log = tmp_path / "trial-0.json", tmp_path / "log"
    path.mkdir() if content is None else path.write_bytes(content)
    log.write_text("")
    with pytest.raises(InfrastructureError, match=seen):
        read_result(path, Ended(exit_code=0, seconds=1.0, timed_out=False, log=log))


def test_where_the_case_is_about_that_it_is_an_observation(toys: ToyEnvironment, tmp_path: Path) -> None:
    about = replace(toys.case("pass"), expects=Symptom.IMPORT_ERROR)
    for error, seen in (
        ("import toykeras: ImportError: planted: libtoy.so", ("ImportError", "planted: libtoy.so")),
        ("import numpy: ImportError: not ours", None),
        (None, None),
    ):
        (tmp_path / "imported.json").write_text(json.dumps({"error": error}), encoding="utf-8")
        found = import_failure(about, tmp_path)
        assert (found and (found.ending.exception, found.ending.message)) == seen
        assert import_failure(replace(about, expects=None), tmp_path) is None
    (tmp_path / "imported.json").unlink()
    assert import_failure(about, tmp_path) is None
