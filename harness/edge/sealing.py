"""An environment counts only when no file in it belongs to two distributions.

``keras`` and ``keras-nightly`` install over each other and no installer warns; the RECORD files show it.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from harness.core.errors import Untestable

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


def check(site_folders: Iterable[Path]) -> None:
    """Raise `Untestable` naming the first file that two distributions claim."""
    owners: dict[str, str] = {}
    for record in records(site_folders):
        distribution = record.parent.name.removesuffix(".dist-info")
        for path in _files(record):
            other = owners.setdefault(path, distribution)
            if other != distribution:
                raise Untestable(
                    f"{path} belongs to both {other} and {distribution}: they install over each other",
                    where=str(record.parent.parent),
                    hint="keep one of them out of the companions",
                )


def fingerprint(site: Path) -> str:
    """Hash of path, size and modification time of every installed file: an edit in place changes it.

    Byte code is left out: importing writes it.
    """
    hashed = hashlib.sha256()
    for record in records([site]):
        for path in sorted(_files(record)):
            file = site / path
            if file.suffix != ".pyc" and file.exists():
                status = file.stat()
                hashed.update(f"{path}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return hashed.hexdigest()[:16]


def records(site_folders: Iterable[Path]) -> Iterator[Path]:
    """Yield the RECORD of every installed distribution."""
    for folder in site_folders:
        yield from sorted(folder.glob("*.dist-info/RECORD"))


def _files(record: Path) -> Iterator[str]:
    with record.open(encoding="utf-8", newline="") as file:
        for row in csv.reader(file):
            path = row[0] if row else ""
            if path and ".dist-info/" not in path and not path.startswith(HARMLESS) and not path.endswith(".pyc"):
                yield path
