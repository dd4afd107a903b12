"""The files that a script reads beside itself: found by what its text names, and copied for each trial.

A trial runs in a private copy of them, so nothing that one trial writes with a relative path meets another one. What
is too large for that is linked: it is read where it lies.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from glob import escape
from pathlib import Path

from harness.adapters.storage.files import disk_errors
from harness.domain.cases.shapes.named_files import imported_modules, lists_files, named_patterns
from harness.domain.cases.shapes.source import read_source

LARGEST = 64 * 1024 * 1024
"""Bytes of one named file or folder that is copied for each trial; a larger one is linked."""
MOST_FILES = 2_000
MOST_MODULES = 200
SHARED = ("conftest.py",)
_UNREAD = ("__pycache__", "node_modules", "reports")
_PIECE = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Beside:
    """What lies beside a case and belongs to it.

    Attributes:
        names: Files and folders, absolute, sorted.
        digest: Hash of what they hold, "" where there are none.
        linked: Those that are too large to be copied.
    """

    names: tuple[Path, ...] = ()
    digest: str = ""
    linked: tuple[Path, ...] = ()


def find(text: str, case: Path, folder: Path, patterns: Sequence[str] = (), *, own: Iterable[str] = ()) -> Beside:
    """Find the files that a source names, and those that the modules beside it name.

    Args:
        text: The source; a text that is no Python names nothing.
        case: Where it lies.
        folder: Where the user stands.
        patterns: What the case's metadata names, relative to its own folder.
        own: Modules of the environment, which no folder of that name stands for.
    """
    places = tuple(dict.fromkeys((case.parent.resolve(), folder.resolve())))
    found: set[Path] = set()
    sources, left = [text], MOST_MODULES
    while sources and left:
        left -= 1
        one = sources.pop()
        for path in _named(one, places, own):
            new = path not in found
            found.add(path)
            sources += list(_texts(path)) if new else []
    for pattern in patterns:
        found.update(_matching(case.parent.resolve(), pattern))
    for place in places:
        found.update(path for name in SHARED if (path := place / name).is_file())
    return described(path for path in found if path != case.resolve())


def all_of(folder: Path) -> Beside:
    """Everything in a folder, for a command that may read any of it."""
    return described(_entries(folder.resolve()))


def described(paths: Iterable[Path]) -> Beside:
    """What a set of files and folders holds; one inside of another one counts once."""
    names = sorted({path for path in paths if not _hidden(path)})
    names = [name for name in names if not any(other in name.parents for other in names)]
    if not names:
        return Beside()
    digest, linked = hashlib.sha256(), []
    for name in names:
        files = list(_files(name))
        size = sum(size for _, size, _ in files)
        large = size > LARGEST or len(files) > MOST_FILES
        linked += [name] if large else []
        for path, size, changed in files:
            shown = path.relative_to(name.parent)
            holds = f"{shown}\0{size}\0{changed if large else _hash(path)}\0"
            digest.update(holds.encode("utf-8", "surrogatepass"))
    return Beside(names=tuple(names), digest=digest.hexdigest()[:16], linked=tuple(linked))


def copy(beside: Beside, roots: Sequence[tuple[Path, Path]]) -> None:
    """Lay what belongs to a case into the folders of one trial.

    Args:
        beside: What belongs to it.
        roots: Pairs of a folder of the user and its copy, the innermost first.
    """
    for name in beside.names:
        for folder, place in roots:
            if name.is_relative_to(folder):
                _lay(name, place / name.relative_to(folder), linked=name in beside.linked)
                break


def _lay(name: Path, place: Path, *, linked: bool) -> None:
    with disk_errors(place, "set HARNESS_HOME to a folder with space"):
        place.parent.mkdir(parents=True, exist_ok=True)
        if linked:
            place.symlink_to(name)
        elif name.is_dir():
            shutil.copytree(name, place, dirs_exist_ok=True, ignore=shutil.ignore_patterns(*_UNREAD, ".*"))
        else:
            shutil.copyfile(name, place)


def _named(text: str, places: Sequence[Path], own: Iterable[str]) -> Iterator[Path]:
    try:
        source = read_source(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for place in places:
        for pattern in named_patterns(source):
            yield from _matching(place, pattern)
        for module in imported_modules(source):
            if module not in own:
                yield from (p for p in (place / f"{module}.py", place / module) if _importable(p))
        if lists_files(text):
            yield from _entries(place)


def _importable(path: Path) -> bool:
    return path.is_file() or any(path.glob("*.py"))


def _matching(place: Path, pattern: str) -> Iterator[Path]:
    with suppress(OSError, ValueError, NotImplementedError):
        if "*" not in pattern:
            yield from [place / pattern] if (place / pattern).exists() else []
            return
        yield from list(place.glob("*".join(escape(part) for part in pattern.split("*"))))[:MOST_FILES]


def _entries(place: Path) -> Iterator[Path]:
    with suppress(OSError):
        yield from (path for path in place.iterdir() if path.name not in _UNREAD and not (path / "pyvenv.cfg").exists())


def _hidden(path: Path) -> bool:
    return path.name.startswith(".") or path.name in _UNREAD


def _texts(path: Path) -> Iterator[str]:
    """Sources of a module or of the modules of a package."""
    files = [path] if path.suffix == ".py" else (sorted(path.rglob("*.py"))[:MOST_MODULES] if path.is_dir() else [])
    for file in files:
        with suppress(OSError, UnicodeDecodeError):
            yield file.read_text(encoding="utf-8")


def _files(name: Path) -> Iterator[tuple[Path, int, int]]:
    """Each file with its size and the time of its last change; at most one more than is copied."""
    if name.is_file():
        status = name.stat()
        yield name, status.st_size, status.st_mtime_ns
        return
    count = 0
    for folder, folders, files in os.walk(name):
        folders[:] = sorted(one for one in folders if not one.startswith(".") and one not in _UNREAD)
        for file in sorted(one for one in files if not one.startswith(".")):
            with suppress(OSError):
                status = Path(folder, file).stat()
                yield Path(folder, file), status.st_size, status.st_mtime_ns
                count += 1
            if count > MOST_FILES:
                return


def _hash(path: Path) -> str:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while piece := file.read(_PIECE):
                digest.update(piece)
    except OSError as error:
        return f"unreadable: {error.strerror}"
    return digest.hexdigest()
