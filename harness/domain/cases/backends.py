"""The backends of Keras: which one a case is run with, and what that changes in its companions and variables."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum

from packaging.requirements import Requirement

from harness.domain.releases.distributions import import_name

VARIABLE = "KERAS_BACKEND"


class Backend(str, Enum):
    """What computes below Keras; each is also the name of the framework's module and of its distribution."""

    TENSORFLOW = "tensorflow"
    JAX = "jax"
    TORCH = "torch"


def frameworks_among(requirements: Iterable[str]) -> tuple[Backend, ...]:
    """The frameworks that some requirements name, in the order in which Keras prefers them."""
    modules = {import_name(Requirement(text).name) for text in requirements}
    return tuple(backend for backend in Backend if backend.value in modules)


def named_in(env: Mapping[str, str]) -> Backend | None:
    """The backend that environment variables name; None for none, or for one that this harness does not know."""
    value = env.get(VARIABLE)
    return next((backend for backend in Backend if backend.value == value), None)


def moved(companions: Iterable[str], backend: Backend, keep: Iterable[Backend] = ()) -> tuple[str, ...]:
    """Companions for another backend: its framework in place of the others, except those to `keep`."""
    given = tuple(companions)
    dropped = {other.value for other in Backend} - {backend.value} - {other.value for other in keep}
    kept = tuple(text for text in given if import_name(Requirement(text).name) not in dropped)
    return kept if backend in frameworks_among(kept) else (*kept, backend.value)


def imported_frameworks(code: str) -> tuple[Backend, ...]:
    """The frameworks that a case imports wherever it runs: at its top, outside of functions and the main guard."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    modules = {name.partition(".")[0] for node in _always(tree.body) for name in _modules(node)}
    return tuple(backend for backend in Backend if backend.value in modules)


def _always(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of a module that run when it is imported, those below ``try`` and ``with`` included."""
    for node in body:
        yield node
        if isinstance(node, ast.Try | ast.With):
            yield from _always(node.body)


def _modules(node: ast.stmt) -> list[str]:
    match node:
        case ast.Import(names=names):
            return [alias.name for alias in names]
        case ast.ImportFrom(module=str(module), level=0):
            return [module]
        case _:
            return []
