"""An environment counts only when its files are as published, and none of them belongs to two distributions.

``keras`` and ``keras-nightly`` install over each other and no installer warns; the RECORD files show it.
They also show when a file is not the one that was published: installers link files into their cache, so an
edit in place changes the cache, and every environment that is built from it.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.domain.errors import Untestable

# Files that many distributions ship by mistake or by convention, and that decide nothing.
HARMLESS = (
    "bin/",
    "../../../bin/",
    "share/",
    "../../../share/",
    "tests/",
    "test/",
    "docs/",
    "examples/",
    "LICENSE",
    "README",
)
LONGEST_RECORD = 64 << 20  # bytes; TensorFlow's has 4 MB


@dataclass(frozen=True, kw_only=True)
class _Row:
    """One line of a RECORD."""

    path: str
    sha256: str


def check(site_folders: Iterable[Path]) -> None:
    """Raise `Untestable` naming the first file that two distributions claim."""
    owners: dict[str, str] = {}
    for record in records(site_folders):
        distribution = record.parent.name.removesuffix(".dist-info")
        for row in _rows(record):
            other = owners.setdefault(row.path, distribution)
            if other != distribution:
                raise Untestable(
                    f"{row.path} belongs to both {other} and {distribution}: they install over each other",
                    where=str(record.parent.parent),
                    hint="keep one of them out of the companions",
                )


def altered(site: Path) -> list[str]:
    """Names of the distributions with a file that is not the published one."""
    return sorted(
        {
            record.parent.name.split("-", 1)[0]
            for record in records([site])
            if any(row.sha256 and _sha256(site, row.path) != row.sha256 for row in _rows(record))
        }
    )


def fingerprint(site: Path) -> str:
    """Hash of path, size and modification time of every file: an edit in place or a new file changes it.

    Byte code is left out: importing writes it.
    """
    hashed = hashlib.sha256()
    for folder, folders, files in os.walk(site):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(files):
            if not name.endswith(".pyc"):
                path = Path(folder, name)
                status = path.lstat()
                line = f"{path.relative_to(site)}\0{status.st_size}\0{status.st_mtime_ns}\n"
                hashed.update(line.encode("utf-8", "surrogateescape"))
    return hashed.hexdigest()[:16]


def records(site_folders: Iterable[Path]) -> Iterator[Path]:
    """Yield the RECORD of every installed distribution."""
    for folder in site_folders:
        yield from sorted(folder.glob("*.dist-info/RECORD"))


def _rows(record: Path) -> Iterator[_Row]:
    """Read a RECORD; it was written by whoever published the wheel, so nothing in it is believed."""
    if record.stat().st_size > LONGEST_RECORD:
        raise Untestable(f"its list of files is larger than {LONGEST_RECORD} bytes", where=str(record))
    try:
        lines = list(csv.reader(record.read_text(encoding="utf-8", errors="replace").splitlines()))
    except csv.Error as error:
        raise Untestable(f"its list of files cannot be read: {error}", where=str(record)) from error
    for line in lines:
        path = line[0] if line else ""
        if path and ".dist-info/" not in path and not path.startswith(HARMLESS) and not path.endswith(".pyc"):
            digest = line[1].removeprefix("sha256=") if len(line) > 1 and line[1].startswith("sha256=") else ""
            yield _Row(path=path, sha256=digest)


def _sha256(site: Path, path: str) -> str:
    """Hash of a file below the folder as RECORD writes it; "" for one that is missing or lies elsewhere."""
    file = Path(os.path.normpath(site / path))
    if not file.is_relative_to(site) or not file.is_file():
        return ""
    hashed = hashlib.sha256()
    try:
        with file.open("rb") as content:
            while chunk := content.read(1 << 20):
                hashed.update(chunk)
    except OSError:
        return ""
    return base64.urlsafe_b64encode(hashed.digest()).rstrip(b"=").decode()
