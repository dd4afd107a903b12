"""What a trial lacked when it failed: a full disk says nothing about a release, unless there was room."""

from __future__ import annotations

import re
from enum import Enum

from harness.domain.trials.observation import EndingKind, Observation


class Shortage(str, Enum):
    """What the machine had too little of."""

    DISK = "disk space"
    FILES = "open files"
    PROCESSES = "processes or threads"
    MEMORY = "memory"


_SIGNS = {
    Shortage.DISK: re.compile(
        r"\[Errno (?:28|122|27)\]|os error (?:28|122|27)\b|No space left on device|Disk quota exceeded|File too large"
    ),
    Shortage.FILES: re.compile(r"\[Errno (?:23|24)\]|os error (?:23|24)\b|Too many open files"),
    Shortage.PROCESSES: re.compile(
        r"\[Errno 11\]|os error 11\b|can't start new thread|Resource temporarily unavailable|pthread_create failed"
    ),
    Shortage.MEMORY: re.compile(
        r"\[Errno 12\]|os error 12\b|\bMemoryError\b|Cannot allocate memory|\bstd::bad_alloc\b"
        r"|failed with exit code (?:-9|137)\b"
    ),
}


def shortage_in(text: str) -> Shortage | None:
    """What an error text says that was lacking, or None."""
    return next((kind for kind, sign in _SIGNS.items() if sign.search(text)), None)


def shortage_of(observation: Observation) -> Shortage | None:
    """What a trial lacked when it failed; None for one that ended well or failed in another way."""
    ending = observation.ending
    if ending.kind in (EndingKind.FINISHED, EndingKind.TIMED_OUT) or ending.exit_code == 0:
        return None
    own = f"{ending.exception or ''}: {ending.message or ''}"
    return shortage_in(own) or (None if ending.kind is EndingKind.RAISED else shortage_in(observation.output))
