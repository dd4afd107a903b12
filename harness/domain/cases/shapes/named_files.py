"""Which files a source may read: the relative paths that stand in it, and the modules beside it that it imports."""

from __future__ import annotations

import re

from harness.domain.cases.shapes.source import Source

LISTING = {"glob", "iglob", "rglob", "listdir", "scandir", "iterdir", "walk"}
"""Functions that find files without naming them: a source that uses one may read all that lies there."""

_PUT_IN = re.compile(r"\{[^{}]*\}|%[-0-9.]*[sdif]")
_LONGEST = 200


def named_patterns(source: Source) -> tuple[str, ...]:
    """Texts of a source that may be relative paths, as patterns of `fnmatch`."""
    return tuple(dict.fromkeys(pattern for text in source.texts if (pattern := _pattern(text))))


def imported_modules(source: Source) -> tuple[str, ...]:
    """The first part of every module that it imports."""
    return tuple(dict.fromkeys(name.partition(".")[0] for name in source.imports))


def lists_files(text: str) -> bool:
    """Whether a source looks for files instead of naming them."""
    return any(re.search(rf"\b{name}\(", text) for name in LISTING)


def _pattern(text: str) -> str:
    shown = _PUT_IN.sub("*", text).removeprefix("./")
    if not shown or len(shown) > _LONGEST or "\n" in shown or "\0" in shown:
        return ""
    parts = shown.split("/")
    if shown.startswith(("/", "~")) or ".." in parts or not parts[0].strip("*. ") or "://" in shown:
        return ""
    return "" if "**" in shown else shown.rstrip("/")
