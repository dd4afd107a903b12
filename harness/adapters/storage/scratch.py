"""Folders for the while of one piece of work, and what is left of those whose harness was killed.

Each is held by the lock of a file beside it: whoever can take that lock knows that its owner is gone, in whatever
container it ran. The lock is there before the folder and goes after it.
"""

from __future__ import annotations

import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

LOCK = ".lock"
UNHELD_SECONDS = 86_400.0  # a folder without a lock is somebody else's until it is a day old


@contextmanager
def scratch_folder(parent: Path) -> Iterator[Path]:
    """A folder that is removed at the end, whatever happened in it."""
    made = parent / uuid.uuid4().hex
    try:
        with FileLock(_lock_of(made)):
            made.mkdir(mode=0o700)
            try:
                yield made
            finally:
                shutil.rmtree(made, ignore_errors=True)
    finally:
        if not made.exists():
            _lock_of(made).unlink(missing_ok=True)


def sweep(parent: Path) -> None:
    """Remove the folders whose owner is gone, and the locks of folders that are gone; safe beside other harnesses."""
    for place in parent.iterdir():
        with suppress(OSError, Timeout):
            if place.suffix == LOCK:
                _sweep_lock(place)
            elif not _lock_of(place).exists() and time.time() - place.stat().st_mtime > UNHELD_SECONDS:
                shutil.rmtree(place, ignore_errors=True)


def _sweep_lock(lock: Path) -> None:
    """Remove a lock that nobody holds, and its folder.

    One that its owner has made and not taken yet is no loss: a folder without a lock is left alone.
    """
    with FileLock(lock, timeout=0):
        shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
        if not lock.with_suffix("").exists():
            lock.unlink(missing_ok=True)


def _lock_of(folder: Path) -> Path:
    return folder.with_name(folder.name + LOCK)
