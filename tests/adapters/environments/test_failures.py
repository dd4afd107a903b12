"""Who is to blame, read from what uv and nox really print (uv 0.5 to 0.13)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import tenacity

from harness.adapters.environments import failures
from harness.adapters.environments.failures import (
    Transient,
    explanation,
    infrastructure_failure,
    known_conflict,
    machine_failure,
    retried,
)
from harness.adapters.processes.process import Ended, Processes
from harness.domain.errors import InfrastructureError, Interrupted, Untestable

INDEX = {
    "refused": "error: Failed to fetch: http://127.0.0.1:9/simple/toykeras/\n  cause: error sending request for url\n"
    "  cause: client error (Connect)\n  cause: tcp connect error\n  cause: Connection refused (os error 111)",
    "no such host": "error: Failed to fetch: `http://nosuch.invalid/`\n  Caused by: dns error\n"
    "  Caused by: failed to lookup address information: Name or service not known",
    "stalled": "error: Failed to download `toykeras==1.0`\n  cause: operation timed out",
    "broke off": "error: Failed to download `toykeras==1.0`\n  cause: Failed to write to the distribution cache\n"
    "  cause: error decoding response body\n  cause: end of file before message length reached",
    "server error": "error: Failed to fetch: x\n  cause: HTTP status server error (503 Service Unavailable)",
    "log-in page": "error: Unsupported `Content-Type` \"image/png\" for `x`. Expected JSON or HTML.",
    "half a page": "error: Received some unexpected JSON from `x`\n  cause: EOF while parsing an object",
    "forbidden": "error: No solution found when resolving dependencies\n  cause: Because toykeras was not found in\n"
    "the package registry\nhint: An index (x) returned a 403 Forbidden error. Check that the credentials are valid.",
    "wrong hash": "error: Failed to download `toykeras==1.0`\n  cause: Hash mismatch for `toykeras==1.0`\n   Expected:",
}  # fmt: skip
MACHINE = {
    "files are limited": "nox > Command uv pip install failed with exit code -25",
    "a file is too large": "error: failed to write to file `x`: File too large (os error 27)",
    "disk full": "error: Failed to query\n  cause: failed to write to file `x`: No space left on device (os error 28)",
    "disk full in a build": "error: Failed to build `x`\n [stderr]\n OSError: [Errno 28] No space left on device",
    "quota": "OSError: [Errno 122] Disk quota exceeded",
    "no memory": "error: failed to allocate: Cannot allocate memory (os error 12)",
    "no memory in a build": "[stderr]\n MemoryError",
    "killed below nox": "nox > Command uv pip install -r x failed with exit code -9",
}
READ_ONLY = {
    "no cache": "error: Failed to initialize cache at `/proc/nope`",
    "read-only": "Read-only file system (os error 30)",
}
RELEASE = {
    "conflict": "error: No solution found when resolving dependencies\n  cause: Because networkx==3 needs numpy>=2",
    "broken build": "error: Failed to build `toykeras==1.5`\n  cause: The build backend returned an error\n  [stderr]\n"
    "  urllib3: error sending request, operation timed out, Failed to fetch",
    "no zip": "error: Failed to download `toykeras==1.0`\n  cause: Failed to extract archive: toykeras-1.0.whl",
    "file gone": "error: Failed to fetch: x\n  cause: HTTP status client error (404 Not Found) for url (x)",
}  # fmt: skip


NOX = (
    "nox > Running session\nnox > Command uv pip install -r /x/lock.txt failed with exit code 1:\n"
    "nox > error: Failed to build `a`\n  cause: it broke\n\n [stderr]\n no compiler\nnox > Session failed."
)


def ended(tmp_path: Path, text: str, exit_code: int = 1, *, timed_out: bool = False) -> Ended:
    (tmp_path / "log").write_text(text, encoding="utf-8")
    return Ended(exit_code=exit_code, seconds=1.0, timed_out=timed_out, log=tmp_path / "log")


@pytest.mark.parametrize("text", INDEX.values(), ids=INDEX)
def test_the_index_may_answer_the_next_time(tmp_path: Path, text: str) -> None:
    failure = infrastructure_failure(ended(tmp_path, text), "installing")
    assert isinstance(failure, Transient)
    assert "index" in failure.what
    assert failure.hint


@pytest.mark.parametrize("text", MACHINE.values(), ids=MACHINE)
def test_disk_and_memory_are_the_machine_s(tmp_path: Path, text: str) -> None:
    for failure in (infrastructure_failure(ended(tmp_path, text), "x"), machine_failure(ended(tmp_path, text), "x")):
        assert isinstance(failure, InfrastructureError)
        assert re.search("disk|memory|larger than this session allows", failure.what)
        assert isinstance(failure, Transient) == ("memory" in failure.what), "a full disk stays full"


@pytest.mark.parametrize("text", READ_ONLY.values(), ids=READ_ONLY)
def test_a_folder_that_cannot_be_written_is_said_so(tmp_path: Path, text: str) -> None:
    failure = infrastructure_failure(ended(tmp_path, text), "installing")
    assert failure is not None
    assert "cannot be written" in failure.what


@pytest.mark.parametrize("text", RELEASE.values(), ids=RELEASE)
def test_what_the_release_does_is_the_release_s(tmp_path: Path, text: str) -> None:
    assert infrastructure_failure(ended(tmp_path, text), "installing") is None


@pytest.mark.parametrize("code", [-9, 137])
def test_the_kernel_s_kill_is_a_lack_of_memory(tmp_path: Path, code: int) -> None:
    assert isinstance(machine_failure(ended(tmp_path, "", code), "installing"), Transient)


def test_a_deadline_while_installing_is_the_index_s(tmp_path: Path) -> None:
    failure = infrastructure_failure(ended(tmp_path, "", -15, timed_out=True), "installing")
    assert isinstance(failure, Transient)
    assert "deadline" in failure.what


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("error: No solution found when resolving dependencies\n  cause: Because a and\n         b", "Because a and b"),
        ("  \u00d7 No solution found when resolving dependencies:\n  \u2570\u2500\u25b6 Because a", "Because a"),
        ("warning: x\nerror: Failed to fetch: y\n  cause: refused\nhint: z", "Failed to fetch: y: refused"),
        (NOX, "Failed to build `a`: it broke no compiler"),
        ("", ""),
    ],
)
def test_explanation_is_one_paragraph_without_decoration(output: str, expected: str) -> None:
    assert explanation(output) == expected


class Flaky:
    """Fails a given number of times."""

    def __init__(self, failures: int, error: Exception) -> None:
        self.left, self.error, self.calls = failures, error, 0

    def __call__(self) -> str:
        self.calls += 1
        if self.calls <= self.left:
            raise self.error
        return "done"


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tenacity, "sleep_using_event", lambda event: lambda seconds: None)


@pytest.mark.usefixtures("at_once")
def test_a_transient_failure_is_tried_again_and_told() -> None:
    notes: list[str] = []
    work = Flaky(2, Transient("the index did not answer"))
    assert retried(work, Processes(), notes.append) == "done"
    assert notes == [f"attempt {n} of 3 failed: the index did not answer" for n in (1, 2)]


@pytest.mark.usefixtures("at_once")
def test_attempts_are_bounded() -> None:
    work = Flaky(99, Transient("down"))
    with pytest.raises(Transient):
        retried(work, Processes())
    assert work.calls == failures.ATTEMPTS


@pytest.mark.parametrize("error", [InfrastructureError("the disk is full"), Untestable("broken"), Interrupted("ended")])
def test_what_will_not_change_is_not_tried_again(error: Exception) -> None:
    work = Flaky(1, error)
    with pytest.raises(type(error)):
        retried(work, Processes())
    assert work.calls == 1


def test_a_harness_that_is_being_ended_does_not_wait(processes: Processes) -> None:
    processes.end_all()
    work = Flaky(2, Transient("down"))
    assert retried(work, processes) == "done"  # the pauses ended at once: this test would take minutes


@pytest.mark.parametrize(
    ("said", "conflict"),
    [
        (RELEASE["conflict"], "Because networkx==3 needs numpy>=2"),
        (RELEASE["broken build"], ""),
        ("error: No solution found\n  cause: Because toynumpy was not found in the cache and you need it", ""),
        ("error: No solution found\n  cause: Because x\nhint: Packages were unavailable: network was disabled", ""),
    ],
)
def test_without_the_network_only_a_conflict_among_what_is_cached_is_one(
    tmp_path: Path, said: str, conflict: str
) -> None:
    assert known_conflict(ended(tmp_path, said)).removeprefix("cause: ") == conflict
