"""Trials in a real interpreter with a toy package on its path."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from harness.adapters.trials import probing as module
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
    assert finished.observation.ending.kind is EndingKind.REFUSED
    assert "memory" in (finished.observation.ending.message or "")


def test_memory_below_the_limit_is_fine(toys: ToyEnvironment) -> None:
    (finished,) = toys.run(toys.case("held = bytearray(10_000_000)"), memory_bytes=500_000_000)
    assert finished.observation.ending.exit_code == 0


def test_an_import_that_hangs_is_ended(toys: ToyEnvironment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "IMPORT_SECONDS", -170.0)
    toys.installs("import time; time.sleep(600)")
    with pytest.raises(Untestable, match="not done after"):
        toys.see("pass", timeout_seconds=45.0)


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


def test_secrets_in_what_a_case_prints_are_masked(toys: ToyEnvironment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://joe:pr0xyp4ss@proxy:1")
    seen = toys.see("import os; print(os.environ['HTTPS_PROXY'])")
    assert seen.output == "http://***@proxy:1\n"


def test_a_probe_that_is_ended_with_the_harness_tells_nothing(toys: ToyEnvironment) -> None:
    toys.processes.end_all()
    with pytest.raises(Interrupted):
        toys.see("pass")


def test_the_probe_needs_nothing_of_the_harness(toys: ToyEnvironment) -> None:
    seen = toys.see("import sys; print([n for n in sys.modules if n.startswith('harness')])")
    assert seen.output == "[]\n"
    assert os.path.realpath(toys.environment.executable) == os.path.realpath(sys.executable)
