"""What is pinned beside the package under test, so that a timeline differs in that package alone."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from harness.core.distributions import FRAMEWORK, import_name
from harness.core.errors import UsageError
from harness.core.timelines import NIGHTLIES
from harness.edge.interpreters import Interpreter


class Mode(str, Enum):
    """One set for the whole timeline, or the one of each release's day."""

    FIXED = "fixed"
    AS_OF = "as-of"


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What a question asks for beside the package under test.

    Attributes:
        package: Distribution under test.
        requirements: The cases' companions with the user's pins laid over them.
        data_packages: Installed without their dependencies.
    """

    package: str
    requirements: tuple[str, ...]
    data_packages: tuple[str, ...] = ()

    @property
    def overrides(self) -> tuple[str, ...]:
        """Keep out the siblings that install the same module, for example keras beside keras-nightly.

        tf-nightly asks for keras-nightly; where the stable Keras is its companion, that one is kept out as well.
        """
        own = canonicalize_name(self.package)
        module = import_name(own)
        kept_out = [] if own == module.replace("_", "-") else [module]
        asked = {canonicalize_name(Requirement(text).name) for text in self.requirements}
        if module == FRAMEWORK != own:
            kept_out += [nightly for name, nightly in NIGHTLIES.items() if name in asked]
        return tuple(f'{name} ; sys_platform == "never"' for name in kept_out)


@dataclass(frozen=True, kw_only=True)
class Companions:
    """The companions of a timeline.

    Attributes:
        wanted: What was asked for.
        mode: Fixed or as-of.
        interpreter: The Python of every environment.
        lock: In fixed mode every companion, pinned with hashes; empty in as-of mode.
        data_lock: The data packages, pinned.
        takes: Over how many releases the lock was found to hold; 0 in as-of mode.
        seam: Where it stops to fit, and what to ask for instead; "" when both ends take it.
    """

    wanted: Wanted
    mode: Mode
    interpreter: Interpreter
    lock: tuple[str, ...] = ()
    data_lock: tuple[str, ...] = ()
    takes: int = 0
    seam: str = ""

    @property
    def shared(self) -> tuple[str, ...]:
        """What every environment has, unless a release needs something else beside it."""
        return (*self.lock, *self.data_lock)


def framework_package() -> str:
    """The distribution that brings TensorFlow to this machine."""
    if sys.platform == "linux" and platform.machine() == "x86_64" and not has_gpu():
        return "tensorflow-cpu"
    return "tensorflow[and-cuda]" if sys.platform == "linux" and has_gpu() else FRAMEWORK


def has_gpu() -> bool:
    """Whether an NVIDIA driver is loaded."""
    return Path("/proc/driver/nvidia/version").exists() or Path("/dev/nvidia0").exists()


def wanted(package: str, companions: Iterable[str], pins: Iterable[str], data_packages: Iterable[str]) -> Wanted:
    """Lay the user's pins (``--with``) over the cases' companions and name the framework's distribution.

    A pin of ``tensorflow`` holds for whatever distribution brings TensorFlow to this machine. What installs the
    same module as the package under test (keras beside keras-nightly) is no companion of it.
    """
    under_test = import_name(package)
    chosen: dict[str, list[str]] = {}
    for text in companions:
        requirement = Requirement(text)
        if import_name(requirement.name) != under_test:
            chosen.setdefault(canonicalize_name(requirement.name), []).append(_localized(requirement))
    for text in pins:
        requirement = Requirement(text)
        if import_name(requirement.name) == under_test:
            raise UsageError(
                f"{requirement.name} is the package under test: {package} installs the same module",
                where="--with",
                hint="choose its versions with --from and --to",
            )
        chosen[canonicalize_name(requirement.name)] = [_localized(requirement)]
    named = {name for name in chosen if name.startswith(f"{FRAMEWORK}-")}
    if named:
        chosen.pop(FRAMEWORK, None)
    return Wanted(
        package=package,
        requirements=tuple(dict.fromkeys(text for texts in chosen.values() for text in texts)),
        data_packages=tuple(dict.fromkeys(data_packages)),
    )


def doubled(distributions: Iterable[str]) -> bool:
    """Whether the framework is among them under two names, which install the same files."""
    return sum(import_name(name) == FRAMEWORK for name in distributions) > 1


def by_own_name(requirements: Iterable[str]) -> tuple[str, ...]:
    """The requirements with the framework under its own name: tf-keras and others ask for it by that name alone."""
    parsed = [Requirement(text) for text in requirements]
    for requirement in parsed:
        if import_name(requirement.name) == FRAMEWORK:
            requirement.name = FRAMEWORK
    return tuple(str(requirement) for requirement in parsed)


def _localized(requirement: Requirement) -> str:
    if canonicalize_name(requirement.name) != FRAMEWORK:
        return str(requirement)
    marker = f" ; {requirement.marker}" if requirement.marker else ""
    return f"{framework_package()}{requirement.specifier}{marker}"
