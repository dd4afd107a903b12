"""Watches the import step from a process of its own: it may need only so long and so much memory.

An import can hang in C, stop itself or fill the memory. A thread of the same process would then not run either.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from typing import Any

from . import results
from .processes import descendants, die_with, more_memory_than

CHECK_SECONDS = 0.1


@contextlib.contextmanager
def guarded(report_file: str, seconds: float | None, memory_bytes: int | None) -> Iterator[None]:
    """Kill this process where the block needs too long or too much; the report then says why.

    Args:
        report_file: Where the import step reports.
        seconds: Deadline of the block; None: none.
        memory_bytes: Memory that this process and its children may use; None: no limit.
    """
    if seconds is None and memory_bytes is None:
        yield
        return
    importer = os.getpid()
    watcher = os.fork()
    if watcher == 0:
        try:
            os.setsid()  # what the import does to its own group does not reach this process
            die_with(importer, signal.SIGKILL)
            _watch(importer, report_file, seconds, memory_bytes)
        finally:
            os._exit(0)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.kill(watcher, signal.SIGKILL)
            os.waitpid(watcher, 0)


def _watch(importer: int, report_file: str, seconds: float | None, memory_bytes: int | None) -> None:
    deadline = None if seconds is None else time.monotonic() + seconds
    own = os.getpid()
    while os.getppid() == importer:
        time.sleep(CHECK_SECONDS)
        watched = [importer, *(pid for pid in descendants(importer) if pid != own)]
        if deadline is not None and time.monotonic() > deadline:
            why = f"not done after {seconds:.0f} s"
        elif memory_bytes is not None and more_memory_than(memory_bytes, watched):
            why = f"needs more memory than the limit of {memory_bytes} bytes"
        else:
            continue
        failed: dict[str, Any] = {"versions": {}, "files": {}, "seconds": 0.0, "error": why}
        results.write(report_file, failed)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for pid in watched:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        return
