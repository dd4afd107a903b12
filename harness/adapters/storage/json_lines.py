"""Files of one JSON value per line that are only ever appended to, and that survive a kill and a full disk."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from io import FileIO
from pathlib import Path

from harness.adapters.storage.checksums import marked
from harness.adapters.storage.files import disk_errors


def append(path: Path, line: str, *, hint: str) -> None:
    """Write one line with its checksum, or none; when this returns, it is on the disk.

    A line that a kill left half written is cut off.

    Args:
        path: The file; made when it is missing.
        line: JSON text without a newline.
        hint: What to try when the disk fails.

    Raises:
        InfrastructureError: the disk is full or cannot be written; the file is as it was.
    """
    with disk_errors(path, hint), path.open("a+b", buffering=0) as file:
        size, whole = _sizes(file)
        if whole < size:
            file.truncate(whole)
        rest = memoryview(marked(line).encode() + b"\n")
        try:
            while rest:
                rest = rest[file.write(rest) :]
            os.fsync(file.fileno())
        except BaseException:  # a line without its end, with another one behind it, would damage the whole file
            with contextlib.suppress(OSError):
                file.truncate(whole)
            raise


def whole_lines(content: bytes) -> list[tuple[int, bytes]]:
    """The lines that are not blank, each with its number from 1.

    The newline is written last, so whatever follows the last one was torn by a kill and is dropped.
    """
    whole, _, _ = content.rpartition(b"\n")
    return [(number, line) for number, line in enumerate(whole.split(b"\n"), start=1) if line.strip()]


def read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """What `whole_lines` says of a file's content, one line in memory at a time; raises `OSError`."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if line.endswith(b"\n") and line.strip():
                yield number, line[:-1]


def _sizes(file: FileIO) -> tuple[int, int]:
    """Bytes of a file, and of its whole lines."""
    size = file.seek(0, os.SEEK_END)
    if size == 0:
        return 0, 0
    file.seek(size - 1)
    if file.read(1) == b"\n":
        return size, size
    file.seek(0)
    return size, file.readall().rfind(b"\n") + 1
