"""The difference between two trees of text files, as hunks that can be applied one by one, and as a unified diff."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

Tree = Mapping[str, str]
"""Text by the path of a file below the folder of the package; bytes that are no UTF-8 are kept as surrogates."""
Overlay = Mapping[str, str | None]
"""Files that stand in the place of those of a tree; None: the file is removed."""

_LINES = re.compile(r"[^\n]*\n|[^\n]+")  # str.splitlines also cuts at form feeds, which are no ends of lines


@dataclass(frozen=True, kw_only=True)
class Hunk:
    """A replacement of lines in one file of the tree before.

    Attributes:
        file: Path of the file.
        first: Index of the first line that it replaces, from 0.
        last: Index behind the last one; equal to `first` where it only adds.
        lines: What stands there instead.
        removes: The file is not in the tree after.
    """

    file: str
    first: int
    last: int
    lines: tuple[str, ...] = ()
    removes: bool = False


def changed_files(before: Tree, after: Tree) -> tuple[str, ...]:
    """The files that differ, that were added or removed, by name."""
    return tuple(name for name in sorted({*before, *after}) if before.get(name) != after.get(name))


def hunks_of(before: Tree, after: Tree, files: Iterable[str]) -> tuple[Hunk, ...]:
    """The hunks of these files; a file that only one of the trees has is one hunk."""
    return tuple(hunk for name in files for hunk in _of_file(name, before.get(name), after.get(name)))


def applied(before: Tree, hunks: Iterable[Hunk]) -> Overlay:
    """What a tree becomes by some of its hunks: the files that differ from it."""
    by_file: dict[str, list[Hunk]] = {}
    for hunk in hunks:
        by_file.setdefault(hunk.file, []).append(hunk)
    return {name: _with(before.get(name, ""), own) for name, own in sorted(by_file.items())}


def unified(before: Tree, overlay: Overlay) -> str:
    """The unified diff from a tree to what it becomes by an overlay, as ``git apply`` and ``patch -p1`` read it."""
    return "".join(_diff(name, before.get(name), text) for name, text in sorted(overlay.items()))


def counted(hunks: Iterable[Hunk], before: Tree) -> tuple[int, int]:
    """Lines added and lines removed."""
    hunks = tuple(hunks)
    removed = sum(len(_lines(before[h.file])) if h.removes else h.last - h.first for h in hunks)
    return sum(len(h.lines) for h in hunks), removed


def _of_file(name: str, before: str | None, after: str | None) -> list[Hunk]:
    if after is None:
        return [Hunk(file=name, first=0, last=0, removes=True)]
    if before is None:
        return [Hunk(file=name, first=0, last=0, lines=_lines(after))]
    old, new = _lines(before), _lines(after)
    codes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [
        Hunk(file=name, first=first, last=last, lines=new[begin:end])
        for tag, first, last, begin, end in codes
        if tag != "equal"
    ]


def _with(text: str, hunks: Sequence[Hunk]) -> str | None:
    if any(hunk.removes for hunk in hunks):
        return None
    lines = list(_lines(text))
    for hunk in sorted(hunks, key=lambda one: one.first, reverse=True):  # from the end: places before it stay right
        lines[hunk.first : hunk.last] = hunk.lines
    return "".join(lines)


def _diff(name: str, before: str | None, after: str | None) -> str:
    old, new = ("/dev/null" if text is None else f"{side}/{name}" for side, text in (("a", before), ("b", after)))
    made = difflib.unified_diff(_lines(before or ""), _lines(after or ""), old, new)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in made)


def _lines(text: str) -> tuple[str, ...]:
    return tuple(_LINES.findall(text))
