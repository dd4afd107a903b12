"""How much memory the processes of one release may use when nobody says: a share of what is free."""

from __future__ import annotations

import contextlib
from pathlib import Path

import psutil

SHARE = 0.8  # of what is free at the start, divided by the jobs
LEAST = 2 * 2**30  # bytes; below this the limit would stop what has always worked
_CGROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def share_of_free(jobs: int) -> int:
    """Bytes that one of `jobs` may use, its whole tree of processes together."""
    return max(LEAST, int(SHARE * free() / max(1, jobs)))


def free() -> int:
    """Bytes that are free on this machine, or in the container that this process runs in."""
    found = [psutil.virtual_memory().available]
    for limit, used in _CGROUPS:
        with contextlib.suppress(OSError, ValueError):  # "max" is no number: no limit
            found.append(int(Path(limit).read_text()) - int(Path(used).read_text()))
    return max(0, min(found))
