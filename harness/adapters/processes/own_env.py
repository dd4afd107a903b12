"""The environment of the harness itself, hidden from what it starts.

A process can read the environment with which each of its parents was started (``/proc/PID/environ``). In a PID
namespace a trial sees none of them. Elsewhere two things hold it off, as far as the system allows:

* The credentials are overwritten in the memory that the system shows; `os.environ` keeps them. This holds for root too.
* The process is marked as not dumpable (Linux), so that of other processes only root's may look into it.

Limit: what started the harness (a shell, a job of a CI system) has its own copy of its environment, and without a PID
namespace a trial of the same user can read it there. So keep tokens out of the step that runs untrusted code.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys

from harness.adapters.processes.redaction import has_credentials, named_like_secret

_PR_SET_DUMPABLE = 4
_START, _END = 50, 51  # fields of /proc/self/stat, counted from 1: where the first environment begins and ends


def hide() -> None:
    """Hide the credentials of this process's environment; what the system does not allow is left out."""
    if sys.platform != "linux":
        return
    with contextlib.suppress(OSError, ValueError, IndexError):
        _overwrite()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def _overwrite() -> None:
    """Write zeros over each variable that holds a credential, in the block that the system made at the start."""
    with open("/proc/self/stat", "rb") as file:  # noqa: PTH123
        fields = file.read().rsplit(b")", 1)[1].split()
    start, end = (int(fields[number - 3]) for number in (_START, _END))
    if not 0 < start < end:
        return
    block = ctypes.string_at(start, end - start)
    place = start
    for entry in block.split(b"\0"):
        name, _, value = entry.partition(b"=")
        if value and (named_like_secret(os.fsdecode(name)) or has_credentials(os.fsdecode(value))):
            ctypes.memset(place + len(entry) - len(value), 0, len(value))
        place += len(entry) + 1
