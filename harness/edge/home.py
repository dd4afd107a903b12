"""The user's cache folder: environments, index pages and finished trials, shared by all checkouts."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from harness.core.errors import SurroundingsError, UsageError
from harness.edge.scratch import scratch_folder, sweep


@dataclass(frozen=True)
class Home:
    """Folders below one root."""

    root: Path

    @classmethod
    def default(cls) -> Home:
        """``HARNESS_HOME`` or the user's cache folder."""
        override = os.environ.get("HARNESS_HOME")
        return cls(Path(override).absolute() if override else platformdirs.user_cache_path("regression-harness"))

    def folder(self, *parts: str) -> Path:
        """Return a folder below the root, made if missing; raises `SurroundingsError` when it cannot be."""
        path = self.root.joinpath(*parts)
        with disk_errors(path, "set HARNESS_HOME to a folder that can be written"):
            path.mkdir(parents=True, exist_ok=True)
        return path

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """A temporary folder that is removed at the end, whatever happened in it."""
        parent = self.folder("scratch")
        with disk_errors(parent, "free some space"), scratch_folder(parent) as made:
            yield made

    def sweep(self) -> None:
        """Remove the temporary folders that killed harnesses left behind."""
        sweep(self.folder("scratch"))


@contextmanager
def disk_errors(path: Path, hint: str) -> Iterator[None]:
    """Turn a failing disk into one clear message."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise SurroundingsError(
                "the disk is full", where=str(error.filename or path), hint="free some space and resume"
            ) from error
        if error.errno in (
            errno.ENOENT,
            errno.EACCES,
            errno.EROFS,
            errno.EPERM,
            errno.ENOTDIR,
            errno.EEXIST,
            errno.EIO,
        ):
            raise SurroundingsError(
                f"cannot write: {error.strerror}", where=str(error.filename or path), hint=hint
            ) from error
        raise


def check_output(path: Path) -> None:
    """Refuse a folder that could not be made or written, before any work; makes nothing."""
    place = path.absolute()
    while not os.path.exists(place) and place != place.parent:  # noqa: PTH110 - Path.exists raises where it may not look
        place = place.parent
    if place.is_dir() and os.access(place, os.W_OK | os.X_OK):
        return
    why = "not writable" if place.is_dir() else "no folder"
    raise UsageError(
        f"the output folder cannot be written: {place} is {why}", where=str(path), hint="give another one with --output"
    )


def output_folder(path: Path) -> Path:
    """Make the folder of a run; raises `UsageError` where it cannot be written."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise SurroundingsError("the disk is full", where=str(path), hint="free some space") from error
        raise UsageError(
            f"the output folder cannot be written: {error.strerror}",
            where=str(path),
            hint="give another one with --output",
        ) from error
    return path
