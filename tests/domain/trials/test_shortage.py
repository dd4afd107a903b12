"""Which failed trials may have failed for want of something."""

from __future__ import annotations

import pytest

from harness.domain.trials.observation import Ending, EndingKind, Observation, Stage
from harness.domain.trials.shortage import Shortage, shortage_in, shortage_of

SIGNS = {
    "OSError: [Errno 28] No space left on device": Shortage.DISK,
    "[Errno 122] Disk quota exceeded": Shortage.DISK,
    "OSError: [Errno 27] File too large": Shortage.DISK,
    "failed to write (os error 28)": Shortage.DISK,
    "OSError: [Errno 24] Too many open files: 'x'": Shortage.FILES,
    "RuntimeError: can't start new thread": Shortage.PROCESSES,
    "BlockingIOError: [Errno 11] Resource temporarily unavailable": Shortage.PROCESSES,
    "MemoryError": Shortage.MEMORY,
    "numpy._core._exceptions._ArrayMemoryError: MemoryError": Shortage.MEMORY,
    "terminate called after throwing an instance of 'std::bad_alloc'": Shortage.MEMORY,
    "ValueError: shapes do not fit": None,
    "OSError: [Errno 2] No such file": None,
    "os error 281": None,
    "": None,
}


@pytest.mark.parametrize(("text", "expected"), SIGNS.items())
def test_signs(text: str, expected: Shortage | None) -> None:
    assert shortage_in(text) is expected


def seen(kind: EndingKind, output: str = "", **changes: object) -> Observation:
    ending = Ending(kind=kind, stage=Stage.SCRIPT, **changes)  # type: ignore[arg-type]
    return Observation(ending=ending, output=output)


def test_a_trial_that_ended_well_lacked_nothing() -> None:
    assert shortage_of(seen(EndingKind.FINISHED, "MemoryError")) is None
    assert shortage_of(seen(EndingKind.EXITED, "MemoryError", exit_code=0)) is None
    assert shortage_of(seen(EndingKind.TIMED_OUT, "MemoryError")) is None


def test_what_a_failed_script_printed_counts() -> None:
    assert shortage_of(seen(EndingKind.EXITED, "x\nMemoryError\n", exit_code=1)) is Shortage.MEMORY
    assert shortage_of(seen(EndingKind.SIGNALLED, "std::bad_alloc", signal=6)) is Shortage.MEMORY
    assert shortage_of(seen(EndingKind.EXITED, "wrong", exit_code=1)) is None


def test_of_what_was_raised_the_exception_alone_counts() -> None:
    raised = seen(EndingKind.RAISED, "MemoryError", exception="ValueError", message="no")
    assert shortage_of(raised) is None
    assert shortage_of(seen(EndingKind.RAISED, exception="MemoryError")) is Shortage.MEMORY
    full = seen(EndingKind.RAISED, exception="OSError", message="[Errno 28] No space left on device")
    assert shortage_of(full) is Shortage.DISK
