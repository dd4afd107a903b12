"""The processes of a probe: each dies with its parent, and none outlives its trial."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PAGE = os.sysconf("SC_PAGE_SIZE")
ENDING_SECONDS = 10.0  # of killing what a trial left behind and what forks faster than it is found


def memory_used(pid: int) -> int:
    """Bytes of memory of a process, its part of shared pages included; 0 where the system does not say."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:  # noqa: PTH123
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:"))
    except (OSError, ValueError, IndexError, StopIteration):
        return 0


def more_memory_than(limit: int, pids: list[int]) -> bool:
    """Whether processes use more than this together, a page that several share counted once; False: nobody says.

    What they hold is cheap to read and never less than what they use, so the exact sum is needed only above the limit.
    """
    return sum(map(_resident, pids)) > limit and sum(map(memory_used, pids)) > limit


def _resident(pid: int) -> int:
    """Bytes that a process holds in memory, shared pages included."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:  # noqa: PTH123
            return int(file.read().split()[1]) * _PAGE
    except (OSError, ValueError, IndexError):
        return 0


def die_with(parent: int, number: int) -> None:
    """Let Linux send this process a signal when its parent dies; elsewhere the deadline ends it.

    Args:
        parent: Process id of the parent; when it is the parent no longer, this process exits with code 71.
        number: The signal.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)
        if os.getppid() != parent:  # it died before the system was told to watch it
            os._exit(71)


def adopt_orphans() -> None:
    """Become the parent of every process that a trial leaves behind, so that it can be ended."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_group(pid: int) -> None:
    """Kill the trial's process group and whatever left the group but is still ours, until nothing is left.

    The trial's own process is not waited for: its supervisor has to learn how it ended.
    """
    end = time.monotonic() + ENDING_SECONDS
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    while (left := [orphan for orphan in descendants() if orphan != pid]) and time.monotonic() < end:
        for orphan in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(orphan, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(orphan, os.WNOHANG)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def descendants(of: int | None = None) -> list[int]:
    """Process ids below this process or another one, from /proc; empty where there is no /proc."""
    parents: dict[int, int] = {}
    for entry in os.listdir("/proc") if os.path.isdir("/proc") else []:  # noqa: PTH112, PTH208
        if entry.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{entry}/stat", "rb") as file:  # noqa: PTH123
                parents[int(entry)] = int(file.read().rsplit(b")", 1)[1].split()[1])
    found: list[int] = []
    level = [os.getpid() if of is None else of]
    while level:
        level = [pid for pid, parent in parents.items() if parent in level]
        found += level
    return found


def end_everything(*_: object) -> None:
    """Kill every trial and leave: the handler of SIGTERM."""
    for pid in descendants():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    os._exit(143)
