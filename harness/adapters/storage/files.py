"""Files written whole or not at all, and a failing disk as one clear message."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from harness.domain.errors import InfrastructureError, UsageError

_LIMITS = {
    errno.EFBIG: "raise the limit on the size of files (ulimit -f), then run the same command again",
    errno.EMFILE: "raise the limit on open files (ulimit -n), or use fewer --jobs, then run the same command again",
    errno.ENFILE: "end other programs that have many files open, then run the same command again",
    errno.EAGAIN: "raise the limit on processes (ulimit -u), or use fewer --jobs, then run the same command again",
    errno.ENOMEM: "use fewer --jobs, or end other programs, then run the same command again",
}


@contextmanager
def disk_errors(path: Path, hint: str) -> Iterator[None]:
    """Turn a failing disk into one clear message."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise InfrastructureError(
                "the disk is full", where=str(error.filename or path), hint="free some space and resume"
            ) from error
        if error.errno in _LIMITS:
            raise InfrastructureError(
                f"a limit of this session is reached: {error.strerror}",
                where=str(error.filename or path),
                hint=_LIMITS[error.errno],
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
            raise InfrastructureError(
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
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise InfrastructureError("the disk is full", where=str(path), hint="free some space") from error
        raise UsageError(
            f"the output folder cannot be written: {error.strerror}",
            where=str(path),
            hint="give another one with --output",
        ) from error
    return path


def write_whole(path: Path, text: str) -> None:
    """Write a file so that a reader sees the old one or the new one, never half."""
    with disk_errors(path, "choose a folder that can be written"):
        handle, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(partial).chmod(0o644)
            Path(partial).replace(path)
        except BaseException:
            Path(partial).unlink(missing_ok=True)
            raise


def write_reports(folder: Path, texts: Mapping[str, str]) -> None:
    """Write reports by file name into a folder that is there, each whole or not at all.

    A name such as ``locks/KEY.txt`` has its own folder, which is made.
    """
    for name, text in texts.items():
        path = folder / name
        if path.parent != folder:
            with disk_errors(path, "choose a folder that can be written"):
                path.parent.mkdir(exist_ok=True)
        write_whole(path, text)
