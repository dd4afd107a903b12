"""Trials in a real interpreter with a toy package on its path."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import psutil
import pytest

from harness.adapters.processes import reaper
from harness.adapters.processes.process import Processes
from harness.adapters.trials import probing as module
from harness.domain.cases.backends import Backend
from harness.domain.cases.case import Level
from harness.domain.errors import Interrupted, Untestable, UsageError
from harness.domain.trials.observation import EndingKind
from tests.adapters.toy_environment import ToyEnvironment


@pytest.mark.parametrize("code", [0, 1, 125, 127, 200])
def test_a_script_s_exit_code_is_a_fact(toys: ToyEnvironment, code: int) -> None:
    ending = toys.see(f"raise SystemExit({code})").ending
    assert (ending.kind, ending.exit_code) == (EndingKind.EXITED, code)


@pytest.mark.parametrize("number", [6, 9, 11, 15])
def test_so_is_a_signal(toys: ToyEnvironment, number: int) -> None:
    ending = toys.see(f"import os; os.kill(os.getpid(), {number})").ending
    assert (ending.kind, ending.signal) == (EndingKind.SIGNALLED, number)


def test_the_output_is_cut_to_its_beginning_and_its_end(toys: ToyEnvironment) -> None:
    seen = toys.see("import sys\nprint('first')\nsys.stderr.write('x' * 300_000)\nprint('last')")
    assert seen.output.startswith("first")
    assert seen.output.rstrip().endswith("last")
    assert "[...]" in seen.output
    assert len(seen.output) < 20_000


def test_output_without_end_fills_nothing_and_hides_nothing(toys: ToyEnvironment) -> None:
    """A flood until the deadline, from a child that is left behind, and while the package is imported."""
    flood = "while True: print('x' * 10_000)"
    assert toys.see(flood, timeout_seconds=1.0).ending.kind is EndingKind.TIMED_OUT
    left = f"import os, sys\nif os.fork() == 0:\n    os.setsid()\n    {flood}\nsys.exit(3)"
    seen = toys.see(left)
    assert (seen.ending.kind, seen.ending.exit_code) == (EndingKind.EXITED, 3)
    assert len(seen.output) < 20_000
    toys.installs("__version__ = '1.0'\nfor _ in range(500): print('x' * 10_000)")
    assert toys.see("import toykeras").ending.exit_code == 0


def test_output_that_is_no_text_is_kept_as_far_as_it_is(toys: ToyEnvironment) -> None:
    seen = toys.see("import sys; sys.stdout.buffer.write(b'a\\xff\\x00b')")
    assert seen.output == "a\ufffd\x00b"


def test_a_deadline_ends_all_children(toys: ToyEnvironment, tmp_path: Path) -> None:
    note = tmp_path / "note"
    text = f"""
import os, time
if os.fork() == 0:
    os.setsid()
    time.sleep(3)
    open({str(note)!r}, 'w')
time.sleep(600)
"""
    seen = toys.see(text, timeout_seconds=1.0)
    assert seen.ending.kind is EndingKind.TIMED_OUT
    toys.see("import time; time.sleep(3.5)")
    assert not note.exists()


def test_a_child_that_keeps_the_output_open_does_not_keep_us(toys: ToyEnvironment) -> None:
    seen = toys.see("import os, time\nif os.fork() == 0: time.sleep(600)\nprint('done')")
    assert (seen.ending.exit_code, seen.output) == (0, "done\n")


def test_the_memory_limit_counts_children_too(toys: ToyEnvironment) -> None:
    text = "import os, time\nif os.fork() == 0: held = bytearray(os.urandom(1) * 300_000_000)\ntime.sleep(30)"
    (finished,) = toys.run(toys.case(text), memory_bytes=150_000_000)
    assert finished.observation.ending.kind is EndingKind.OUT_OF_MEMORY
    assert "memory" in (finished.observation.ending.message or "")


def test_memory_below_the_limit_is_fine(toys: ToyEnvironment) -> None:
    (finished,) = toys.run(toys.case("held = bytearray(10_000_000)"), memory_bytes=500_000_000)
    assert finished.observation.ending.exit_code == 0


def test_an_import_that_hangs_is_ended(toys: ToyEnvironment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "IMPORT_SECONDS", -170.0)
    toys.installs("import time; time.sleep(600)")
    with pytest.raises(Untestable, match="not done after"):
        toys.see("pass", timeout_seconds=45.0, level=Level.MODEL)


def test_a_case_that_was_edited_since_is_refused(toys: ToyEnvironment) -> None:
    case = toys.case("pass")
    Path(case.path).write_text("raise SystemExit(1)")
    with pytest.raises(UsageError, match="edited"):
        toys.run(case)
    Path(case.path).unlink()
    with pytest.raises(UsageError):
        toys.run(case)


def test_a_trial_sees_a_home_of_its_own_and_no_setting_of_the_user_s(
    toys: ToyEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))
    seen = toys.see("import os, sys; print(os.path.expanduser('~'), sys.flags.isolated)\nimport tests")
    assert str(toys.home.root) in seen.output
    assert "No module named 'tests'" in seen.output


def test_secrets_in_what_a_case_prints_are_masked(toys: ToyEnvironment) -> None:
    assert toys.see("print('http://joe:pr0xyp4ss@proxy:1')").output == "http://***@proxy:1\n"


def test_a_trial_gets_no_variable_with_a_credential(toys: ToyEnvironment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://joe:pr0xyp4ss@proxy:1")
    monkeypatch.setenv("HTTP_PROXY", "http://proxy:1")
    seen = toys.see("import os; print(os.environ.get('HTTPS_PROXY'), os.environ['HTTP_PROXY'])")
    assert seen.output == "None http://proxy:1\n"


@pytest.mark.skipif(not psutil.LINUX, reason="no /proc")
@pytest.mark.parametrize("ways", [reaper.WAYS, ("subreaper",)], ids=["best", "subreaper"])
def test_the_parents_of_a_trial_show_it_no_secret(
    toys: ToyEnvironment, monkeypatch: pytest.MonkeyPatch, ways: tuple[str, ...]
) -> None:
    """Its own, the probe's and the reaper's environment are made for it; those beyond are out of sight."""
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_0123456789")
    toys.processes = Processes(ways)
    text = (
        "import os\npid = os.getpid()\nseen = 0\nwhile pid > 0 and seen < 3:\n"
        "    text = open(f'/proc/{pid}/environ', 'rb').read()\n    assert b'ghp_0123456789' not in text, pid\n"
        "    pid = int(open(f'/proc/{pid}/stat').read().rsplit(')', 1)[1].split()[1])\n    seen += 1\nprint(seen)"
    )
    assert toys.see(text).output == "3\n"


class TestPrivateCopy:
    """The text that runs is the one that was read, and everything else is as if the user's file ran."""

    def test_an_edit_while_the_probe_imports_is_not_run(self, toys: ToyEnvironment) -> None:
        case = toys.case("print('as read')")
        edit = f"path = {case.path!r}\nopen(path, 'w').write('print(1); raise SystemExit(1)')"
        toys.installs(f"__version__ = '1.0'\n{edit}")
        (finished,) = toys.run(case)
        assert (finished.observation.output, finished.observation.ending.exit_code) == ("as read\n", 0)

    def test_a_case_that_was_edited_before_is_refused(self, toys: ToyEnvironment) -> None:
        case = toys.case("pass")
        Path(case.path).write_text("raise SystemExit(1)")
        with pytest.raises(UsageError, match="edited"):
            toys.run(case)

    def test_its_places_are_those_of_the_file(self, toys: ToyEnvironment) -> None:
        (toys.cases / "beside.py").write_text("word = 'a sibling'")
        text = "import sys, os, beside\nprint([__file__, sys.argv[0], sys.path[0], __name__, beside.word])"
        path = str(toys.cases / "case.py")
        assert toys.see(text).output == f"{[path, path, str(toys.cases), '__main__', 'a sibling']}\n"

    def test_a_traceback_names_the_file_and_shows_the_line(self, toys: ToyEnvironment) -> None:
        seen = toys.see("def fails():\n    raise ValueError('odd')\nfails()")
        assert seen.ending.exit_code == 1
        path = toys.cases / "case.py"
        assert f'File "{path}", line 3, in <module>\n    fails()' in seen.output
        assert "raise ValueError('odd')" in seen.output
        assert seen.output.endswith("ValueError: odd\n")
        assert "script_runner" not in seen.output

    @pytest.mark.parametrize(("text", "code"), [("import sys; sys.exit('no')", 1), ("x = (", 1), ("", 0)])
    def test_other_ends(self, toys: ToyEnvironment, text: str, code: int) -> None:
        assert toys.see(text).ending.exit_code == code

    def test_its_classes_can_be_pickled_and_its_future_is_its_own(self, toys: ToyEnvironment) -> None:
        text = "import pickle\nclass C:\n    x: int\npickle.loads(pickle.dumps(C()))\nprint(C.__annotations__)"
        assert toys.see(text).output == "{'x': <class 'int'>}\n"


class TestFreshInterpreter:
    """A script starts as with ``python script.py``: nothing is imported before it, nothing is chosen for it."""

    def test_nothing_is_imported_or_chosen_before_it(self, toys: ToyEnvironment) -> None:
        text = (
            "import os, sys\nprint('toykeras' in sys.modules, 'numpy' in sys.modules, os.environ.get('KERAS_BACKEND'))"
        )
        assert toys.see(text).output == "False False None\n"

    def test_it_has_the_variables_that_its_case_sets(self, toys: ToyEnvironment) -> None:
        text = "import os\nprint(os.environ['MODE'], os.environ['KERAS_BACKEND'])"
        assert toys.see(text, env={"MODE": "fast", "KERAS_BACKEND": "own"}).output == "fast own\n"

    def test_other_variables_are_another_trial(self, toys: ToyEnvironment) -> None:
        text = "import os\nprint(os.environ.get('MODE'))"
        assert [toys.see(text, env=env).output for env in ({}, {"MODE": "a"}, {"MODE": "b"})] == [
            "None\n",
            "a\n",
            "b\n",
        ]

    def test_the_canary_has_the_backend_of_the_case(self, toys: ToyEnvironment) -> None:
        (site,) = toys.folder.glob("lib/python*/site-packages")
        (site / "torch.py").write_text("")
        toys.installs("import os\n__version__ = '1.0'\nassert os.environ['KERAS_BACKEND'] == 'torch'")
        toys.see("pass", backend=Backend.TORCH)
        assert [path.name for path in toys.folder.glob("canary*")] == ["canary-torch.json"]
        (toys.folder / "canary-torch.json").unlink()
        (site / "torch.py").unlink()


class TestImportLimits:
    def test_an_import_that_hangs_is_skipped(self, toys: ToyEnvironment, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "IMPORT_SECONDS", 1.0)
        toys.installs("import time; time.sleep(600)")
        with pytest.raises(Untestable, match="cannot be imported: not done after 1 s"):
            toys.see("pass", level=Level.MODEL)

    @pytest.mark.parametrize(
        "source",
        ["import os, signal; os.kill(os.getpid(), signal.SIGSTOP)", "import os, signal; os.killpg(0, signal.SIGSTOP)"],
    )
    def test_so_is_one_that_stops_itself(
        self, toys: ToyEnvironment, source: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "IMPORT_SECONDS", 1.0)
        toys.installs(source)
        with pytest.raises(Untestable, match="not done after 1 s"):
            toys.see("pass", level=Level.MODEL)

    @pytest.mark.skipif(not psutil.LINUX, reason="the system does not say how much memory a process uses")
    @pytest.mark.parametrize("before", ["", "import os\nif os.fork(): time.sleep(60)\n"], ids=["itself", "a child"])
    def test_one_that_fills_the_memory_is_skipped_with_its_reason(self, toys: ToyEnvironment, before: str) -> None:
        toys.installs(
            f"import time\n{before}held = bytearray(400_000_000)\nheld[::4096] = held[::4096]\ntime.sleep(60)"
        )
        with pytest.raises(Untestable, match="needs more memory than the limit of 200000000 bytes"):
            toys.run(toys.case("pass", level=Level.MODEL), memory_bytes=200_000_000)

    def test_the_deadline_follows_the_slowest_release(self) -> None:
        times = module.ImportTimes()
        assert times.deadline_seconds == module.IMPORT_SECONDS
        times.add(2.0)
        assert times.deadline_seconds == module.LEAST_IMPORT_SECONDS
        times.add(9.0)
        times.add(1.0)
        assert times.deadline_seconds == 90.0
        times.add(1000.0)
        assert times.deadline_seconds == module.IMPORT_SECONDS


def test_a_probe_that_is_ended_with_the_harness_tells_nothing(toys: ToyEnvironment) -> None:
    toys.processes.end_all()
    with pytest.raises(Interrupted):
        toys.see("pass")


def test_the_probe_needs_nothing_of_the_harness(toys: ToyEnvironment) -> None:
    seen = toys.see("import sys; print([n for n in sys.modules if n.startswith('harness')])")
    assert seen.output == "[]\n"
    assert os.path.realpath(toys.environment.executable) == os.path.realpath(sys.executable)
