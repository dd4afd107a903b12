"""Folders for the while of one piece of work, and what is left of those whose harness was killed.

Each is held by the lock of a file beside it: whoever can take that lock knows that its owner is gone, in whatever
container it ran. One more lock keeps apart those who make a folder and those who look for forgotten ones.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

LOCK = ".lock"
UNHELD_SECONDS = 86_400.0  # a folder without a lock is somebody else's until it is a day old


@contextmanager
def scratch_folder(parent: Path, guard: Path) -> Iterator[Path]:
    """A folder that is removed at the end, whatever happened in it.

    Args:
        parent: Where it is made.
        guard: The lock that is held while it is made.
    """
    with FileLock(guard):
        made = Path(tempfile.mkdtemp(dir=parent))
        own = FileLock(_lock_of(made))
        own.acquire()
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)
        own.release()
        if not made.exists():
            _lock_of(made).unlink(missing_ok=True)


def sweep(parent: Path, guard: Path) -> None:
    """Remove the folders whose owner is gone; leave it to the next run where another harness is at it."""
    with suppress(Timeout, OSError), FileLock(guard, timeout=0):
        for place in parent.iterdir():
            if place.is_dir() and _forgotten(place):
                shutil.rmtree(place, ignore_errors=True)
        for lock in parent.glob(f"*{LOCK}"):
            if not lock.with_suffix("").exists():
                lock.unlink(missing_ok=True)


def _forgotten(folder: Path) -> bool:
    if not _lock_of(folder).exists():
        return time.time() - folder.stat().st_mtime > UNHELD_SECONDS
    try:
        with FileLock(_lock_of(folder), timeout=0):
            return True
    except Timeout:
        return False


def _lock_of(folder: Path) -> Path:
    return folder.with_name(folder.name + LOCK)
