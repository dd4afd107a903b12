"""Which changed files cannot stand without which others, by what they import: fewer sets of files that say nothing.

This only chooses which sets are tried; what they show is measured, so a need that is missed or imagined is no error.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from harness.domain.search.hunks import Tree


def needs(before: Tree, after: Tree, files: Iterable[str]) -> dict[str, frozenset[str]]:
    """For each changed file, those that it takes along.

    A new file needs those that define what it imports and the old ones do not define; a file that no longer defines
    something needs those whose old text imports that.
    """
    changed = frozenset(files)
    found: dict[str, set[str]] = {name: set() for name in changed}
    for name in changed:
        for target in _missing(name, after, before):
            found[name] |= {target} & changed
        for target in _missing(name, before, after):
            if target in changed:
                found[target].add(name)
    return {name: frozenset(wanted - {name}) for name, wanted in found.items()}


def closed(files: Iterable[str], wanted: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    """These files with all that they need, by name."""
    found: set[str] = set()
    waiting = list(files)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += wanted[name]
    return tuple(sorted(found))


def _missing(name: str, own: Tree, other: Tree) -> Iterator[str]:
    """The files of a tree that define what one of its files imports and the other tree does not define."""
    for module, wanted in _imports(name, own.get(name, "")):
        if not _defined(other, module, wanted):
            yield from (place for place in _places(module, wanted) if place in own)


def _places(module: str, wanted: str) -> tuple[str, ...]:
    """Files that may define a name of a module; "" for the module itself."""
    base = module.replace(".", "/")
    inner = (f"{base}/{wanted}.py", f"{base}/{wanted}/__init__.py") if wanted else ()
    return (*inner, f"{base}.py", f"{base}/__init__.py")


def _defined(tree: Tree, module: str, wanted: str) -> bool:
    *inner, file, folder = _places(module, wanted)
    if any(place in tree for place in inner):
        return True
    text = tree.get(file, tree.get(folder))
    if text is None or wanted in ("", "*"):
        return text is not None
    names = _names(text)
    return wanted in names or "*" in names


@lru_cache(maxsize=8192)
def _names(text: str) -> frozenset[str]:
    """Every name that a text binds, at any level; "*" where it takes over those of another module."""
    found: set[str] = set()
    for node in ast.walk(_parsed(text)):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                found |= {(alias.asname or alias.name).partition(".")[0] for alias in aliases}
            case _:
                pass
    return frozenset(found)


@lru_cache(maxsize=8192)
def _imports(name: str, text: str) -> tuple[tuple[str, str], ...]:
    """What a file imports: (module, name), with "" for a module as a whole; nothing where it is not Python."""
    if not name.endswith(".py"):
        return ()
    found: list[tuple[str, str]] = []
    for node in ast.walk(_parsed(text)):
        if isinstance(node, ast.Import):
            found += [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = name.split("/")[: -node.level] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            found += [(module, alias.name) for alias in node.names]
    return tuple(found)


@lru_cache(maxsize=8192)
def _parsed(text: str) -> ast.Module:
    """The tree of a text; an empty one where it is not Python."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return ast.Module(body=[], type_ignores=[])
