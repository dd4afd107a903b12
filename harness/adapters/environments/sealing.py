"""An environment counts only when its files are as published, and none of them belongs to two distributions.

``keras`` and ``keras-nightly`` install over each other and no installer warns; the RECORD files show it.
They also show when a file is not the one that was published, or not there: installers may link files into their
cache, so an edit in place changes the cache, and every environment that is built from it.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from stat import S_IMODE, S_ISDIR, S_ISLNK, S_ISREG

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from harness.adapters.storage.files import file_digest
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
CANARY = "canary{}.json"
UNSEALED = frozenset(CANARY.format(of) for of in ("", "-jax", "-torch"))
"""Written into an environment after it was sealed: its canary was good, with the backend of that name."""
INTERPRETER = r"bin/python[0-9.]*"
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


@dataclass(frozen=True, kw_only=True)
class State:
    """The files of a folder as the file system describes them.

    Attributes:
        fingerprint: Changes with every file that is added, removed, written, replaced or touched.
        newest_ns: The last change of any of them, in nanoseconds of the file system's clock.
        files: How many there are.
    """

    fingerprint: str
    newest_ns: int
    files: int


def state(root: Path) -> State:
    """Describe a folder: path, kind, size, times of data and of any change, and inode of each file in it.

    The time of any change (ctime) cannot be set back by a program, so a write with its date restored shows as well.
    Byte code counts too: a truncated file of it makes an import fail. Of folders only the names count: programs try
    whether a folder can be written.
    """
    lines = []
    newest = 0
    for path, status in _entries(root):
        times = (status.st_mtime_ns, status.st_ctime_ns) if not S_ISDIR(status.st_mode) else ()
        newest = max(newest, *times, 0)
        size = status.st_size if times else 0
        lines.append((path, status.st_mode, size, times, status.st_ino))
    described = repr(lines).encode("utf-8", "surrogateescape")
    return State(fingerprint=hashlib.sha256(described).hexdigest()[:32], newest_ns=newest, files=len(lines))


def contents(root: Path) -> str:
    """Hash of the contents of every file, however it came there: a folder that was moved or linked keeps it.

    The date of source files counts, because byte code names it.
    """
    hashed = hashlib.sha256()
    for path, status in _entries(root):
        if S_ISDIR(status.st_mode):
            continue
        link = (root / path).readlink() if S_ISLNK(status.st_mode) else ""
        content = (
            file_digest(root / path) if S_ISREG(status.st_mode) else f"{status.st_mode:o} {link}"
        )  # a pipe may block
        date = int(status.st_mtime) if path.endswith(".py") else 0
        hashed.update(f"{path}\0{content}\0{date}\n".encode("utf-8", "surrogateescape"))
    return hashed.hexdigest()


def changed_since(root: Path, newest_ns: int) -> list[str]:
    """Files that were changed after a moment; a removed one is not among them."""
    found = []
    for path, status in _entries(root):
        if not S_ISDIR(status.st_mode) and max(status.st_mtime_ns, status.st_ctime_ns) > newest_ns:
            found.append(path)
    return sorted(found)


def only_linked(root: Path, newest_ns: int) -> bool:
    """Whether all that changed after a moment are files with several names: making a link touches the file."""
    changed = changed_since(root, newest_ns)
    return bool(changed) and all((root / path).lstat().st_nlink > 1 for path in changed)


def make_read_only(root: Path) -> None:
    """Take the right to write from every file with one name; folders keep it, so that the whole can be removed."""
    for path, status in _entries(root):
        if S_ISREG(status.st_mode) and status.st_nlink == 1 and path not in UNSEALED:
            (root / path).chmod(S_IMODE(status.st_mode) & ~0o222)


def stray_links(root: Path) -> list[str]:
    """Symbolic links that lead out of the folder, but for the interpreter's: they break when their target goes."""
    real = root.resolve()
    return [
        path
        for path, status in _entries(root)
        if S_ISLNK(status.st_mode)
        and not re.fullmatch(INTERPRETER, path)
        and not (root / path).resolve().is_relative_to(real)
    ]


def absent(site: Path, names: Mapping[str, str]) -> list[str]:
    """Distributions that are not there, by their canonical name; "" as version means any."""
    found: dict[str, set[str]] = {}
    for record in records([site]):
        name, _, version = record.parent.name.removesuffix(".dist-info").rpartition("-")
        found.setdefault(canonicalize_name(name), set()).add(version)
    return sorted(
        name for name, version in names.items() if not any(_same(version, one) for one in found.get(name, ()))
    )


def _same(wanted: str, found: str) -> bool:
    try:
        return not wanted or Version(wanted) == Version(found)
    except InvalidVersion:
        return wanted == found


def _entries(root: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Everything below a folder, by its path from there, in order."""
    waiting = [("", str(root))]
    while waiting:
        prefix, folder = waiting.pop()
        # By descriptor: the system need not walk the whole path for each file, which is a third of the time.
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            with os.scandir(descriptor) as listed:
                entries = [(entry.name, entry.stat(follow_symlinks=False)) for entry in listed]
        finally:
            os.close(descriptor)
        for name, status in sorted(entries, key=lambda entry: entry[0]):
            path = prefix + name
            if path not in UNSEALED:
                yield path, status
                if S_ISDIR(status.st_mode):
                    waiting.append((f"{path}/", f"{folder}/{name}"))


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
    try:
        return base64.urlsafe_b64encode(bytes.fromhex(file_digest(file))).rstrip(b"=").decode()
    except OSError:
        return ""
