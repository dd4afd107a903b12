"""Files written whole or not at all, and a failing disk as one clear message."""

from __future__ import annotations

import errno
import hashlib
import os
import resource
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from harness.domain.errors import InfrastructureError, UsageError

LEAST_FILE_LIMIT = 64 << 20  # bytes; no byte code of any package is larger, and a larger file fails loudly
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
        if error.errno is None or isinstance(error, ConnectionError):  # a lock that was not got; a pipe or a network
            raise
        raise InfrastructureError(
            f"cannot write: {error.strerror}", where=str(error.filename or path), hint=hint
        ) from error


def check_file_limit() -> None:
    """Refuse to work where files must stay small: Python and installers would leave them cut off without a word.

    Raises:
        InfrastructureError: the limit of this session is lower than `LEAST_FILE_LIMIT`.
    """
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if limit != resource.RLIM_INFINITY and limit < LEAST_FILE_LIMIT:
        raise InfrastructureError(
            f"this session allows no file larger than {limit} bytes",
            where="ulimit -f",
            hint="raise the limit: ulimit -f unlimited",
        )


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


def write_whole(path: Path, text: str, *, synced: bool = True) -> None:
    """Write a file so that a reader sees the old one or the new one, never half.

    Args:
        path: The file.
        text: All of its content.
        synced: It survives a power cut too; that costs some milliseconds a file.
    """
    with disk_errors(path, "choose a folder that can be written"):
        handle, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                if synced:
                    file.flush()
                    os.fsync(file.fileno())
            Path(partial).chmod(0o644)
            Path(partial).replace(path)
        except BaseException:
            Path(partial).unlink(missing_ok=True)
            raise


def write_reports(folder: Path, texts: Mapping[str, str]) -> None:
    """Write reports by file name into a folder that is there, each whole or not at all.

    A name such as ``locks/KEY.txt`` has its own folder, which is made. There can be ten thousand of those, and a sync
    of each takes minutes: they come first and are left to the operating system. After a power cut the journal, which
    is synced, gives them again.
    """
    below = {name: text for name, text in texts.items() if (folder / name).parent != folder}
    for parent in sorted({(folder / name).parent for name in below}):
        with disk_errors(parent, "choose a folder that can be written"):
            parent.mkdir(exist_ok=True)
    for name, text in below.items():
        write_whole(folder / name, text, synced=False)
    for name, text in texts.items():
        if name not in below:
            write_whole(folder / name, text)


def file_digest(file: Path) -> str:
    """SHA-256 of one file, read piece by piece; raises OSError."""
    hashed = hashlib.sha256()
    with file.open("rb") as content:
        while chunk := content.read(1 << 20):
            hashed.update(chunk)
    return hashed.hexdigest()
