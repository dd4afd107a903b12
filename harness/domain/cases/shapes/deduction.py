"""What is under test in a file that does not say it: from its dependencies, or else from its imports."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from harness.domain.cases.shapes.source import Source
from harness.domain.errors import UsageError
from harness.domain.releases.distributions import FRAMEWORK, import_name

KERAS = "keras"
BACKENDS = ("tensorflow", "jax", "torch", "openvino")
_RUNNERS = ("pytest", "pip", "setuptools", "ipython", "jupyter", "notebook", "ipykernel")
_BACKEND = re.compile(r"""KERAS_BACKEND["']\s*\]?\s*[=,]\s*["'](\w+)["']""")


@dataclass(frozen=True, kw_only=True)
class Deduced:
    """What was taken for the package under test and for its companions.

    Attributes:
        package: Distribution under test.
        dependencies: The companions that follow; empty where the file names its own.
        assumption: The sentence that tells the user.
    """

    package: str
    dependencies: tuple[str, ...] = ()
    assumption: str


def from_dependencies(dependencies: Sequence[str], *, path: str) -> Deduced:
    """The package under test is the dependency without an exact version; keras where there are several.

    Raises:
        UsageError: several could be meant, or none.
    """
    read = [Requirement(text) for text in dependencies]
    named = {canonicalize_name(one.name): one for one in read if canonicalize_name(one.name) not in _RUNNERS}
    names = [name for name, one in named.items() if not _exact(one)]
    open_ones = [name for name in names if not named[name].specifier]
    for found in (names, open_ones):
        if KERAS in found or len(found) == 1:
            package = KERAS if KERAS in found else found[0]
            return Deduced(
                package=package,
                assumption=f"under test: {package}, of the dependencies that the file does not pin "
                f"({', '.join(names)}); --package names another one",
            )
    if KERAS in named:
        return Deduced(package=KERAS, assumption="under test: keras, in other versions than the file pins")
    if not named:
        raise _unclear("the metadata has no dependencies", path)
    raise _unclear(f"several dependencies could be meant: {', '.join(open_ones or names or named)}", path)


def from_imports(source: Source, text: str, *, local: Collection[str], standard: Collection[str], path: str) -> Deduced:
    """The package under test is Keras, or TensorFlow, or the only package that is imported.

    Args:
        source: What the file does.
        text: Its text, for the backend that it sets.
        local: Modules that lie beside it.
        standard: Modules of the standard library.
        path: Where it lies, for messages.

    Raises:
        UsageError: none of these is imported.
    """
    tops = [name.partition(".")[0] for name in source.imports]
    modules = [name for name in dict.fromkeys(tops) if name not in (*local, *standard) and name not in _RUNNERS]
    if KERAS in modules:
        backend = backend_of(text)
        return Deduced(
            package=KERAS,
            dependencies=(backend,),
            assumption=f"under test: keras, which the file imports, with {backend} as its backend "
            "(--package and --with say otherwise)",
        )
    if FRAMEWORK in modules or len(modules) == 1:
        package = FRAMEWORK if FRAMEWORK in modules else modules[0].replace("_", "-")
        return Deduced(
            package=package, assumption=f"under test: {package}, which the file imports; --package names another one"
        )
    raise _unclear(f"it imports {', '.join(modules) or 'no package'}", path)


def backend_of(text: str) -> str:
    """The backend of Keras that a source sets; TensorFlow where it sets none."""
    found = _BACKEND.search(text)
    return found[1] if found is not None and found[1] in BACKENDS else FRAMEWORK


def companions_of_imports(source: Source, text: str, package: str) -> tuple[str, ...]:
    """What a file without metadata needs beside a package that the user names: Keras needs its backend."""
    tops = {name.partition(".")[0] for name in source.imports}
    if KERAS not in tops:
        return ()
    found = [backend_of(text), *([] if import_name(package) == KERAS else [KERAS])]
    return tuple(name for name in found if import_name(name) != import_name(package))


def _exact(requirement: Requirement) -> bool:
    return any(
        one.operator in ("==", "===") and not one.version.endswith(".*") for one in requirement.specifier
    ) or bool(requirement.url)


def _unclear(why: str, path: str) -> UsageError:
    return UsageError(
        f"what is under test? {why}",
        where=path,
        hint="say it with --package NAME (and --with NAME==VERSION for what stands beside it)",
    )
