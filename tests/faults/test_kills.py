"""The harness is interrupted or killed at every step, or has a rival; nothing that is finished is lost."""

from __future__ import annotations

import os
import re
import shlex
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

from harness.adapters.environments import layers
from harness.adapters.storage import journal
from tests.local_index import LocalIndex
from tests.toy_runs import Child, Harness, Repro, children_of_home, repro, words_of
from tests.toys import Toy

UNDISTURBED = ({"1.0": "good", "1.1": "good", "1.2": "skip", "1.3": "bad"}, [("regression", "1.1", "1.3")])


def nothing_left() -> None:
    """Wait until no process below this test's home is alive; pytest-timeout ends what never ends."""
    while children_of_home():
        threading.Event().wait(0.02)


def lines(run: Path) -> int:
    path = run / journal.NAME
    return path.read_bytes().count(b"\n") if path.exists() else 0


def steps(home: Path, case: Repro, run: Path) -> dict[str, Callable[[], object]]:
    """Moments of a run, by what can be seen of them from outside."""
    built = home / "environments"
    return {
        "resolving": lambda: list((home / "scratch").glob("*/requirements.in")),
        "the first build": lambda: list(built.glob("*/*/recipe.json")),
        "installing": lambda: list(built.glob("*/*/*/lib/python*/site-packages/*")),
        "between two builds": lambda: list(built.glob(f"*/{layers.SEAL}")),
        "journal begun": lambda: lines(run) >= 1,
        "the first trial": lambda: case.ran().total() >= 1,
        "trial finished": lambda: lines(run) >= 2,
        "later": lambda: lines(run) >= 4,
    }


STEPS = [
    "resolving", "the first build", "installing", "between two builds", "journal begun", "the first trial",
    "trial finished", "later",
]  # fmt: skip


@pytest.mark.parametrize("step", STEPS)
def test_sigkill_at_any_step_then_resume(
    tmp_path: Path, harness_run: Harness, index: LocalIndex, isolated: Path, step: str
) -> None:
    case, run = repro(tmp_path), tmp_path / "run"
    words = words_of(case, "1.0", "1.3", "--jobs", "1")
    child = Child([*words, "--output", str(run)], tmp_path)
    child.until(steps(isolated, case, run)[step])
    child.kill(signal.SIGKILL)
    child.end()
    nothing_left()
    known = journal.read(run)[1] if lines(run) else []
    ran = case.ran()
    found = harness_run(*words, *(("--resume", run) if lines(run) else ("--output", run)))
    assert (found.verdicts, found.transitions) == UNDISTURBED
    again = case.ran() - ran
    finished = sum(entry.finished is not None for entry in known)
    total = sum(len(release["trials"]) for release in found.report["releases"])
    assert again.total() <= total - finished, "a finished trial was run again"
    assert journal.read(run)[1][: len(known)] == known


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("step", ["the first build", "the first trial", "trial finished"])
def test_ctrl_c_ends_the_children_and_prints_the_command_that_resumes(
    tmp_path: Path, harness_run: Harness, index: LocalIndex, isolated: Path, step: str, number: int
) -> None:
    case, run = repro(tmp_path), tmp_path / "run"
    if step == "the first trial":
        case.hold.touch()  # the trial hangs until it is ended
    words = words_of(case, "1.0", "1.3", "--jobs", "2")
    child = Child([*words, "--output", str(run)], tmp_path)
    child.until(lambda: lines(run) and steps(isolated, case, run)[step]())
    child.kill(number)
    ended = child.end()
    assert ended.code == 130
    assert not children_of_home()
    case.hold.unlink(missing_ok=True)
    assert all(entry.untestable is None or entry.release == "1.2" for entry in journal.read(run)[1]), (
        "what Ctrl-C ended must not look like a release that cannot be tested"
    )
    command = re.search(r"^ *(harness bisect .*)$", ended.err, re.MULTILINE)
    assert command, ended.err
    found = harness_run(*shlex.split(command[1])[1:], "--json")
    assert (found.verdicts, found.transitions) == UNDISTURBED


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_fixed_release_can_be_interrupted_and_resumed_too(
    tmp_path: Path, harness_run: Harness, index: LocalIndex, isolated: Path, number: int
) -> None:
    case, run = repro(tmp_path), tmp_path / "a run"
    words = ["verify-fix", str(case.path), "--fixed-in", "2.3", "--from", "2.2", "--json"]
    undisturbed = harness_run(*words, "--fresh", "--output", tmp_path / "undisturbed")
    case.log.unlink()
    case.hold.touch()
    child = Child([*words, "--fresh", "--output", str(run)], tmp_path)
    child.until(lambda: case.ran().total() >= 1)
    child.kill(number)
    ended = child.end()
    assert ended.code == 130
    assert not children_of_home()
    case.hold.unlink()
    command = re.search(r"^ *(harness verify-fix .*)$", ended.err, re.MULTILINE)
    assert command, ended.err
    found = harness_run(*shlex.split(command[1])[1:], "--json")
    assert found.code == undisturbed.code == 0, found.err
    graded = [[(r["version"], r["grade"]) for r in fix["releases"]] for fix in found.report["fixes"]]
    assert graded == [[("2.3", "proven")]]


def test_two_harnesses_race_for_the_same_environments(tmp_path: Path, index: LocalIndex, isolated: Path) -> None:
    case = repro(tmp_path)
    words = words_of(case, "1.0", "1.3")
    rivals = [Child([*words, "--output", str(tmp_path / name)], tmp_path) for name in ("one", "other")]
    for rival in rivals:
        ended = rival.end()
        assert (ended.verdicts, ended.transitions) == UNDISTURBED
    for folder in (isolated / "environments").iterdir():
        assert len(list(folder.glob("build-*.log"))) == 1, "built once"


def test_who_waits_for_another_harness_says_so_and_can_be_interrupted(
    tmp_path: Path, index: LocalIndex, isolated: Path, harness_run: Harness
) -> None:
    case = repro(tmp_path)
    words = words_of(case, "1.0", "1.0")
    harness_run(*words)
    locks = [FileLock(path) for path in (isolated / "locks").glob("*.lock")]
    for lock in locks:
        lock.acquire()
    child = Child([*words, "--fresh", "--output", str(tmp_path / "run")], tmp_path)
    said: list[str] = []
    assert child._process.stderr is not None
    while not any("waiting" in line for line in said):
        said.append(child._process.stderr.readline())
        assert said[-1], "it ended"
    child.kill(signal.SIGINT)
    assert child.end().code == 130
    for lock in locks:
        lock.release()


def test_one_run_has_one_harness(tmp_path: Path, index: LocalIndex, isolated: Path, harness_run: Harness) -> None:
    case, run = repro(tmp_path), tmp_path / "run"
    case.hold.touch()
    words = words_of(case, "1.0", "1.1")
    child = Child([*words, "--output", str(run)], tmp_path)
    child.until(lambda: case.ran().total() >= 1)
    refused = harness_run(*words, "--resume", run)
    assert refused.code == 2
    assert "another harness is writing this run" in refused.err
    case.hold.unlink()
    assert child.end().code == 3


def test_the_children_of_a_killed_harness_end_without_it(tmp_path: Path, index: LocalIndex, isolated: Path) -> None:
    """A trial that hangs, with a child of its own that left its group, and nobody who would end them."""
    body = "if os.fork() == 0: os.setsid(); time.sleep(600)"
    case = repro(tmp_path, body=body + "\ntime.sleep(600)")
    child = Child(words_of(case, "1.0", "1.0"), tmp_path)
    child.until(lambda: case.ran().total() >= 1)
    assert children_of_home()
    os.kill(child.pid, signal.SIGKILL)
    child.end()
    nothing_left()


def test_a_build_that_hangs_ends_with_its_killed_harness(tmp_path: Path, index: LocalIndex, isolated: Path) -> None:
    """nox, uv and the release's own build below it: three generations that nobody waits for any more."""
    hung = tmp_path / "hung"
    backend = f"import time\ndef build_wheel(*_): open({str(hung)!r}, 'w'); time.sleep(600)"
    index.publish([Toy(version="7.0", build_backend=backend)])
    child = Child(words_of(repro(tmp_path), "7.0", "7.0"), tmp_path)
    child.until(hung.exists)
    assert len(children_of_home()) >= 3
    os.kill(child.pid, signal.SIGKILL)
    child.end()
    nothing_left()
