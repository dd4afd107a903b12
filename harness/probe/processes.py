"""The processes of a probe: each dies with its parent, and none outlives its trial."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def memory_used(pid: int) -> int:
    """Bytes of memory of a process, its part of shared pages included; 0 where the system does not say."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:  # noqa: PTH123
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:"))
    except (OSError, ValueError, IndexError, StopIteration):
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
    """Kill the trial's process group and whatever left the group but is still ours."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    for orphan in descendants():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(orphan, signal.SIGKILL)
        if orphan != pid:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(orphan, os.WNOHANG)


def descendants() -> list[int]:
    """Process ids below this one, from /proc; empty where there is no /proc."""
    parents: dict[int, int] = {}
    for entry in os.listdir("/proc") if os.path.isdir("/proc") else []:  # noqa: PTH112, PTH208
        if entry.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{entry}/stat", "rb") as file:  # noqa: PTH123
                parents[int(entry)] = int(file.read().rsplit(b")", 1)[1].split()[1])
    found: list[int] = []
    level = [os.getpid()]
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
