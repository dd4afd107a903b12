"""Which modules the files of a distribution are, as its wheel or its RECORD lists them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from packaging.utils import canonicalize_name

_EXTENSION = re.compile(r"(.+?)(?:\.[A-Za-z0-9_-]+)?\.(?:so|pyd)")
_ASIDE = frozenset({"tests", "test", "docs", "examples", "benchmarks"})
SHARED = 0.5
"""Two distributions bring the same module when they share more of the smaller one's files than this."""


def code_files(paths: Iterable[str]) -> frozenset[str]:
    """The importable files among those of a wheel or a RECORD; metadata, data folders and programs are none."""
    return frozenset(
        path
        for path in paths
        if path.endswith((".py", ".so", ".pyd"))
        and (top := path.split("/")[0]) not in ("..", "", "bin")
        and not top.endswith((".data", ".dist-info"))
    )


def modules(paths: Iterable[str]) -> dict[str, int]:
    """The outermost modules by dotted name, with the number of their files; a namespace is no module itself.

    ``google/protobuf/__init__.py`` makes ``google.protobuf``, since ``google`` has no ``__init__.py``.
    """
    files = code_files(paths)
    packages = {file.removesuffix("/__init__.py") for file in files if file.endswith("/__init__.py")}
    return dict(Counter(name for file in files if (name := _outermost(file, packages))))


def main_module(package: str, guess: str, paths: Iterable[str]) -> str:
    """The module that stands for a distribution: the one called like it, else the one with the most files.

    Args:
        package: The distribution.
        guess: What its name suggests; kept where it is there, or where nothing is.
        paths: Its files.
    """
    found = modules(paths)
    if guess in found or not found:
        return guess
    own = canonicalize_name(package)
    named = [name for name in found if own in (canonicalize_name(name), canonicalize_name(name.rpartition(".")[2]))]
    plain = [name for name in found if not name.startswith("_") and name.split(".")[0] not in _ASIDE]
    return min(named or plain or found, key=lambda name: (-found[name], name))


def overlap(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two distributions, by their files of code, bring the same module and would lie over each other."""
    smaller = min(len(one), len(other))
    return smaller > 0 and len(one & other) > SHARED * smaller


def _outermost(file: str, packages: set[str]) -> str:
    """The dotted name of the outermost package that a file belongs to, or of the file itself."""
    *folders, name = file.split("/")
    for depth in range(1, len(folders) + 1):
        if "/".join(folders[:depth]) in packages:
            return ".".join(folders[:depth])
    extension = _EXTENSION.fullmatch(name)
    stem = extension[1] if extension else name.removesuffix(".py")
    return "" if stem == "__init__" else ".".join((*folders, stem))
