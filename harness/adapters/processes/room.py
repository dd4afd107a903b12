"""Whether the machine has room for the next step: disk, open files, processes and memory.

A step that runs on a full disk fails in a hundred ways, and most of them look like a fault of the release. So the room
is checked before each step that writes, and after each one that failed.
"""

from __future__ import annotations

import os
import resource
import tempfile
from collections.abc import Iterable
from pathlib import Path

import psutil

from harness.adapters.storage.home import Home
from harness.domain.errors import InfrastructureError
from harness.domain.trials.shortage import Shortage

LEAST_BYTES = 16 << 20  # on each disk that is written; also the least size that a single file may have
LEAST_FILES = 128  # inodes that are free, and files that one process may open
LEAST_PROCESSES = 32  # that may still be started
LEAST_MEMORY_BYTES = 256 << 20
_CGROUP = Path("/sys/fs/cgroup")


def installer_cache() -> Path:
    """Where uv stores what it fetches."""
    own = os.environ.get("UV_CACHE_DIR")
    beside = os.environ.get("XDG_CACHE_HOME")
    return Path(own) if own else (Path(beside) if beside else Path.home() / ".cache") / "uv"


def check_room(home: Home, doing: str, further: Iterable[Path] = ()) -> None:
    """Check the disks of the cache folder, of the temporary files and of `further`, and the limits on files.

    Args:
        home: The cache folder.
        doing: What the step is: ``resolving``, ``installing`` or ``running a trial``.
        further: Other folders that the step writes to; they need not exist yet.

    Raises:
        InfrastructureError: there is less room than `LEAST_BYTES` or `LEAST_FILES`.
    """
    for folder in (home.root, Path(tempfile.gettempdir()), *further):
        _check_disk(_existing(folder), doing)
    largest = _limit(resource.RLIMIT_FSIZE)
    if largest is not None and largest < LEAST_BYTES:
        raise InfrastructureError(
            f"files may have {largest} bytes at most ({doing}); at least {LEAST_BYTES} are needed",
            where="the limit on the size of files (ulimit -f)",
            hint="raise it with ulimit -f unlimited, then run the same command again",
        )
    most = _limit(resource.RLIMIT_NOFILE)
    if most is not None and most < LEAST_FILES:
        raise InfrastructureError(
            f"a process may open {most} files at most ({doing}); at least {LEAST_FILES} are needed",
            where="the limit on open files (ulimit -n)",
            hint=f"raise it with ulimit -n {LEAST_FILES * 8}, then run the same command again",
        )


def check_room_after(shortage: Shortage, home: Home, doing: str) -> None:
    """Check whether there is room now for what a step lacked; raises `InfrastructureError` where there is none."""
    check_room(home, doing)
    if shortage is Shortage.PROCESSES and (left := _processes_left()) is not None and left < LEAST_PROCESSES:
        raise InfrastructureError(
            f"only {max(0, left)} processes or threads can still be started ({doing}); {LEAST_PROCESSES} are needed",
            where="the limit on processes (ulimit -u, or pids.max of the control group)",
            hint="raise it, or use fewer --jobs, then run the same command again",
        )
    if shortage is Shortage.MEMORY and (free := free_memory()) < LEAST_MEMORY_BYTES:
        raise InfrastructureError(
            f"memory ran out ({doing}): {free} bytes are free, {LEAST_MEMORY_BYTES} are needed",
            where="the memory of this machine or control group",
            hint="use fewer --jobs and run it again",
        )


def free_memory() -> int:
    """Bytes of memory that are free, on the machine and in the control group."""
    free = int(psutil.virtual_memory().available)
    most, used = _number(_CGROUP / "memory.max"), _number(_CGROUP / "memory.current")
    return free if most is None or used is None else min(free, most - used)


def _check_disk(folder: Path, doing: str) -> None:
    try:
        state = os.statvfs(folder)
    except OSError:
        return  # what is wrong with the folder is said by whoever writes to it
    free = state.f_bavail * state.f_frsize
    if free < LEAST_BYTES and state.f_blocks:
        raise InfrastructureError(
            f"the disk is full ({doing}): {free} bytes are free, at least {LEAST_BYTES} are needed",
            where=str(folder),
            hint="free some space, or use another disk (HARNESS_HOME, UV_CACHE_DIR, TMPDIR), and run it again",
        )
    if state.f_files and state.f_favail < LEAST_FILES:
        raise InfrastructureError(
            f"the disk is full ({doing}): it takes {state.f_favail} more files, at least {LEAST_FILES} are needed",
            where=str(folder),
            hint="remove some files, or use another disk (HARNESS_HOME, UV_CACHE_DIR, TMPDIR), and run it again",
        )


def _existing(folder: Path) -> Path:
    place = folder.absolute()
    while not os.path.exists(place) and place != place.parent:  # noqa: PTH110 - Path.exists raises where it may not look
        place = place.parent
    return place


def _limit(kind: int) -> int | None:
    soft, _ = resource.getrlimit(kind)
    return None if soft == resource.RLIM_INFINITY else soft


def _processes_left() -> int | None:
    """How many processes and threads may still be started; None where nothing limits them."""
    limits = []
    most, used = _number(_CGROUP / "pids.max"), _number(_CGROUP / "pids.current")
    if most is not None and used is not None:
        limits.append(most - used)
    own = _limit(resource.RLIMIT_NPROC)
    if own is not None and os.getuid() != 0:
        limits.append(own - sum(_threads(process) for process in psutil.process_iter()))
    return min(limits, default=None)


def _threads(process: psutil.Process) -> int:
    try:
        return int(process.num_threads()) if process.uids().real == os.getuid() else 0
    except psutil.Error:
        return 0


def _number(file: Path) -> int | None:
    try:
        return int(file.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
