"""Trials in a real interpreter with a toy package on its path; no installer is involved."""

from __future__ import annotations

import os
import sys
import venv
from dataclasses import replace
from pathlib import Path

import pytest
import tenacity

from harness.core.cases import Case
from harness.core.errors import HarnessError, Interrupted, SurroundingsError, Untestable, UsageError
from harness.core.observations import EndingKind, Observation
from harness.core.variants import Variant
from harness.edge import trials as module
from harness.edge.home import Home
from harness.edge.process import Processes
from harness.edge.trials import CANARY, ProbeTrials
from harness.seams import Environment, FinishedTrial, Trial
from tests.edge.samples import script

BASE = Trial(release="1.0", variant=Variant())


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty virtual environment."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, symlinks=True)
    return folder


class Stand:
    """One environment with one module, and cases that run in it."""

    def __init__(self, folder: Path, home: Home, processes: Processes, folder_of_cases: Path) -> None:
        self.folder, self.home, self.processes, self.cases = folder, home, processes, folder_of_cases
        (folder / CANARY).unlink(missing_ok=True)
        self.installs("__version__ = '1.0'")

    def installs(self, source: str) -> None:
        (site,) = self.folder.glob("lib/python*/site-packages")
        (site / "toykeras.py").write_text(source)

    @property
    def environment(self) -> Environment:
        return Environment(key="0" * 20, executable=str(self.folder / "bin/python"), python="3", lock=())

    def case(self, text: str, **changes: object) -> Case:
        path = self.cases / "case.py"
        path.write_text(text)
        return script(text, path=str(path), **{"timeout_seconds": 60.0, **changes})

    def run(self, case: Case, *trials: Trial, **options: object) -> list[FinishedTrial]:
        made = ProbeTrials(self.processes, self.home, **options)  # type: ignore[arg-type]
        return list(made.run(self.environment, case, trials or (BASE,)))

    def see(self, text: str, **changes: object) -> Observation:
        return self.run(self.case(text, **changes))[0].observation


@pytest.fixture
def stand(bare: Path, home: Home, processes: Processes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stand:
    monkeypatch.setattr(tenacity, "sleep_using_event", lambda event: lambda seconds: None)
    return Stand(bare, home, processes, tmp_path)


@pytest.mark.parametrize("code", [0, 1, 125, 127, 200])
def test_a_script_s_exit_code_is_a_fact(stand: Stand, code: int) -> None:
    ending = stand.see(f"raise SystemExit({code})").ending
    assert (ending.kind, ending.exit_code) == (EndingKind.EXITED, code)


@pytest.mark.parametrize("number", [6, 9, 11, 15])
def test_so_is_a_signal(stand: Stand, number: int) -> None:
    ending = stand.see(f"import os; os.kill(os.getpid(), {number})").ending
    assert (ending.kind, ending.signal) == (EndingKind.SIGNALLED, number)


def test_the_output_is_cut_to_its_beginning_and_its_end(stand: Stand) -> None:
    seen = stand.see("import sys\nprint('first')\nsys.stderr.write('x' * 300_000)\nprint('last')")
    assert seen.output.startswith("first")
    assert seen.output.rstrip().endswith("last")
    assert "[...]" in seen.output
    assert len(seen.output) < 20_000


def test_output_that_is_no_text_is_kept_as_far_as_it_is(stand: Stand) -> None:
    seen = stand.see("import sys; sys.stdout.buffer.write(b'a\\xff\\x00b')")
    assert seen.output == "a\ufffd\x00b"


def test_a_deadline_ends_all_children(stand: Stand, tmp_path: Path) -> None:
    note = tmp_path / "note"
    text = f"""
import os, time
if os.fork() == 0:
    os.setsid()
    time.sleep(3)
    open({str(note)!r}, 'w')
time.sleep(600)
"""
    seen = stand.see(text, timeout_seconds=1.0)
    assert seen.ending.kind is EndingKind.TIMED_OUT
    stand.see("import time; time.sleep(3.5)")
    assert not note.exists()


def test_a_child_that_keeps_the_output_open_does_not_keep_us(stand: Stand) -> None:
    seen = stand.see("import os, time\nif os.fork() == 0: time.sleep(600)\nprint('done')")
    assert (seen.ending.exit_code, seen.output) == (0, "done\n")


def test_the_memory_limit_counts_children_too(stand: Stand) -> None:
    text = "import os, time\nif os.fork() == 0: held = bytearray(os.urandom(1) * 300_000_000)\ntime.sleep(30)"
    (finished,) = stand.run(stand.case(text), memory_bytes=150_000_000)
    assert finished.observation.ending.kind is EndingKind.REFUSED
    assert "memory" in (finished.observation.ending.message or "")


def test_memory_below_the_limit_is_fine(stand: Stand) -> None:
    (finished,) = stand.run(stand.case("held = bytearray(10_000_000)"), memory_bytes=500_000_000)
    assert finished.observation.ending.exit_code == 0


def test_a_finished_trial_is_kept_and_not_run_again(stand: Stand, tmp_path: Path) -> None:
    case = stand.case(f"open({str(tmp_path / 'runs')!r}, 'a').write('x')")
    first, second = stand.run(case)[0], stand.run(case)[0]
    assert (first.cached, second.cached) == (False, True)
    assert second.observation == first.observation
    stand.run(case, fresh=True)
    assert (tmp_path / "runs").read_text() == "xx"


def test_what_says_nothing_of_the_release_is_not_kept(stand: Stand, tmp_path: Path) -> None:
    text = f"open({str(tmp_path / 'runs')!r}, 'a').write('x')\nimport os; os.kill(os.getpid(), 9)"
    case = stand.case(text)
    stand.run(case)
    stand.run(case)
    assert (tmp_path / "runs").read_text() == "xx"


@pytest.mark.parametrize(
    "changes", [{"seed": 1}, {"timeout_seconds": 59.0}, {"fit": {"epochs": 2}}, {"package": "toynumpy"}]
)
def test_another_question_is_another_trial(stand: Stand, changes: dict[str, object]) -> None:
    trials = ProbeTrials(stand.processes, stand.home)
    cases = stand.case("pass"), stand.case("pass", **changes)
    assert len({trials._key(stand.environment, case, BASE) for case in cases}) == 2


@pytest.mark.parametrize("damage", [b"", b"{", b"null", b'{"ending": {}}', b"\xff"])
def test_a_damaged_cache_counts_as_absent(stand: Stand, damage: bytes) -> None:
    case = stand.case("pass")
    stand.run(case)
    (kept,) = (stand.home.root / "trials").rglob("*.json")
    kept.write_bytes(damage)
    assert stand.run(case)[0].cached is False


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("raise ImportError('planted: libtoy.so')", "ImportError: planted: libtoy.so"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("import os; os.kill(os.getpid(), 11)", "killed by SIGSEGV while importing"),
        ("import os; os._exit(0)", "it printed nothing"),
        ("import os; print('gone'); os.close(1); os._exit(4)", "cannot be imported"),
        ("class E(Exception):\n def __str__(self): raise SystemError\nraise E", "cannot be shown"),
    ],
)
def test_a_release_that_cannot_be_imported_is_untestable_with_its_reason(stand: Stand, source: str, told: str) -> None:
    stand.installs(source)
    with pytest.raises(Untestable) as refused:
        stand.see("pass")
    assert told in refused.value.what


def test_an_import_that_hangs_is_ended(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "IMPORT_SECONDS", -170.0)
    stand.installs("import time; time.sleep(600)")
    with pytest.raises(Untestable, match="not done after"):
        stand.see("pass", timeout_seconds=45.0)


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("import os; os.kill(os.getpid(), 9)", "memory ran out"),
        (
            "import sys; sys.stderr.write('OSError: [Errno 28] No space left on device\\n'); import os; os._exit(1)",
            "disk",
        ),
    ],
)
def test_a_machine_that_fails_while_importing_is_no_skip(stand: Stand, source: str, told: str) -> None:
    stand.installs(source)
    with pytest.raises(SurroundingsError, match=told):
        stand.see("pass")


def test_a_machine_that_fails_once_is_asked_again(stand: Stand, tmp_path: Path) -> None:
    flag = str(tmp_path / "flag")
    stand.installs(f"import os\nif not os.path.exists({flag!r}): open({flag!r}, 'w'); os.kill(os.getpid(), 9)\n")
    assert stand.see("pass").ending.exit_code == 0


def test_another_version_than_asked_for_is_our_fault(stand: Stand) -> None:
    stand.installs("__version__ = '2.0'")
    with pytest.raises(HarnessError, match=r"environment of 1.0 imports toykeras 2.0") as failure:
        stand.see("pass")
    assert type(failure.value) is HarnessError


def test_a_red_canary_comes_first_and_each_time(stand: Stand, tmp_path: Path) -> None:
    stand.installs("__version__ = '1.0'\nSequential = None")
    for _ in range(2):
        with pytest.raises(Untestable, match="canary"):
            stand.see(f"open({str(tmp_path / 'ran')!r}, 'w')")
    assert not (tmp_path / "ran").exists()


def test_a_case_that_was_edited_since_is_refused(stand: Stand) -> None:
    case = stand.case("pass")
    Path(case.path).write_text("raise SystemExit(1)")
    with pytest.raises(UsageError, match="edited"):
        stand.run(case)
    Path(case.path).unlink()
    with pytest.raises(UsageError):
        stand.run(case)


def test_several_trials_share_one_process_tree_and_come_in_order(stand: Stand) -> None:
    trials = [replace(BASE, repeat=n) for n in range(3)]
    finished = stand.run(stand.case("import os; print(os.getppid())"), *trials)
    assert [one.trial.repeat for one in finished] == [0, 1, 2]
    assert len({one.observation.output for one in finished}) == 1, "one parent"


def test_a_trial_leaves_nothing_in_the_home_but_its_result(stand: Stand) -> None:
    stand.see("import os; open(os.path.expanduser('~/x'), 'w'); open(os.environ['TMPDIR'] + '/y', 'w'); open('z', 'w')")
    assert list((stand.home.root / "scratch").iterdir()) == []


def test_a_trial_sees_a_home_of_its_own_and_no_setting_of_the_user_s(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    seen = stand.see("import os, sys; print(os.path.expanduser('~'), sys.flags.isolated)\nimport tests")
    assert str(stand.home.root) in seen.output
    assert "No module named 'tests'" in seen.output


def test_secrets_in_what_a_case_prints_are_masked(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://joe:pr0xyp4ss@proxy:1")
    seen = stand.see("import os; print(os.environ['HTTPS_PROXY'])")
    assert seen.output == "http://***@proxy:1\n"


def test_a_probe_that_is_ended_with_the_harness_tells_nothing(stand: Stand) -> None:
    stand.processes.end_all()
    with pytest.raises(Interrupted):
        stand.see("pass")


def test_the_probe_needs_nothing_of_the_harness(stand: Stand) -> None:
    seen = stand.see("import sys; print([n for n in sys.modules if n.startswith('harness')])")
    assert seen.output == "[]\n"
    assert os.path.realpath(stand.environment.executable) == os.path.realpath(sys.executable)
