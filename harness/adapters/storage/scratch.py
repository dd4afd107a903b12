"""Temporary folders, and the removal of those whose harness was killed.

Each has a lock file beside it: whoever gets that lock knows that the owner of the folder is gone, even when it ran in
another container. The lock is made before the folder and removed after it.
"""

from __future__ import annotations

import os
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

LOCK = ".lock"
UNLOCKED_SECONDS = 86_400.0  # a folder without a lock is left alone until it is a day old


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
                remove_tree(made)
    finally:
        if not made.exists():
            _lock_of(made).unlink(missing_ok=True)


def remove_tree(folder: Path) -> None:
    """Remove a folder as far as the system allows it, also where a trial has taken away the right to change it."""
    shutil.rmtree(folder, ignore_errors=True)
    if not folder.is_dir() or folder.is_symlink():
        return
    with suppress(OSError):
        folder.chmod(0o700)
    for place, names, _ in os.walk(folder):
        for name in names:
            if not (inner := Path(place, name)).is_symlink():
                with suppress(OSError):
                    inner.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)


def sweep(parent: Path) -> None:
    """Remove the folders whose owner is gone, and the locks of folders that are gone; safe beside other harnesses."""
    for place in parent.iterdir():
        with suppress(OSError, Timeout):
            if place.suffix == LOCK:
                _sweep_lock(place)
            elif not _lock_of(place).exists() and time.time() - place.stat().st_mtime > UNLOCKED_SECONDS:
                remove_tree(place)


def _sweep_lock(lock: Path) -> None:
    """Remove a lock that is free, and its folder.

    It may be free because its owner has not taken it yet. That does no harm: the owner makes it again.
    """
    with FileLock(lock, timeout=0):
        remove_tree(lock.with_suffix(""))
        if not lock.with_suffix("").exists():
            lock.unlink(missing_ok=True)


def _lock_of(folder: Path) -> Path:
    return folder.with_name(folder.name + LOCK)
