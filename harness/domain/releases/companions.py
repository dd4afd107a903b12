"""The companions of a timeline: what is pinned beside the package under test, and on which interpreter."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from harness.domain.releases.distributions import FRAMEWORK, import_name
from harness.domain.releases.nightlies import NIGHTLIES
from harness.domain.releases.release import Channel, Release

_PINNED = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*(?:\[[^\]]*\])?)\s*==(?!=)")


@dataclass(frozen=True, kw_only=True)
class Interpreter:
    """One CPython: its full version and where it lies."""

    version: str
    path: str

    @property
    def minor(self) -> str:
        """For example 3.11."""
        return ".".join(self.version.split(".")[:2])


class Mode(str, Enum):
    """One reference set for the whole timeline, or the one of each release's day."""

    FIXED = "fixed"
    AS_OF = "as-of"


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What a question asks for beside the package under test.

    Attributes:
        package: Distribution under test.
        requirements: The cases' companions with the user's pins laid over them.
        data_packages: Installed without their dependencies.
        extras: Extras of the package under test.
        laid_aside: Overrides of the user and the case: what other packages require of these is not heard. The name of
            the package under test alone stands for its release.
        requires_python: Interpreters that the case takes; "" for any.
    """

    package: str
    requirements: tuple[str, ...]
    data_packages: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    laid_aside: tuple[str, ...] = ()
    requires_python: str = ""

    def installs(self, release: Release) -> str:
        """The requirement that installs a release with the extras."""
        exact = release.exact_requirement
        return (
            exact.replace(release.package, f"{release.package}[{','.join(self.extras)}]", 1) if self.extras else exact
        )

    def overrides_for(self, release: Release) -> tuple[str, ...]:
        """What replaces the requirements of other packages beside this release.

        A commit carries the number of the last release, so what companions require of that number means nothing.
        """
        own = canonicalize_name(self.package)
        named = [text for text in self.laid_aside if canonicalize_name(Requirement(text).name) != own]
        replaced = len(named) < len(self.laid_aside) or release.channel is Channel.COMMIT
        return (*self.overrides, *named, *((release.exact_requirement,) if replaced else ()))

    def accepts_python(self, version: str) -> bool:
        """Whether the case takes an interpreter."""
        return SpecifierSet(self.requires_python).contains(version, prereleases=True)

    @property
    def names(self) -> frozenset[str]:
        """Canonical names of what is asked for; TensorFlow by its own name too, which others require it by."""
        names = {str(canonicalize_name(Requirement(text).name)) for text in self.requirements}
        return frozenset(names | {FRAMEWORK for name in names if import_name(name) == FRAMEWORK})

    @property
    def overrides(self) -> tuple[str, ...]:
        """Keep out the siblings that install the same module, for example keras beside keras-nightly.

        tf-nightly asks for keras-nightly; where the stable Keras is its companion, that one is kept out as well.
        """
        own = canonicalize_name(self.package)
        module = import_name(own)
        kept_out = [] if own == module.replace("_", "-") else [module]
        named = {canonicalize_name(Requirement(text).name) for text in self.requirements}
        if module == FRAMEWORK != own:
            kept_out += [nightly for name, nightly in NIGHTLIES.items() if name in named]
        return tuple(f'{name} ; sys_platform == "never"' for name in kept_out)


@dataclass(frozen=True, kw_only=True)
class Companions:
    """The companions of a timeline.

    Attributes:
        wanted: What was asked for.
        mode: Fixed or as-of.
        interpreter: The Python of every environment.
        lock: In fixed mode the reference set, pinned with hashes, from which each release departs as little as it
            can; empty in as-of mode.
        data_lock: The data packages, pinned.
        takes: Over how many releases the lock was found to hold as it is; 0 in as-of mode.
        boundary: Beyond which releases companions move, or nothing resolves; "" when both ends take the lock.
        indexes: The user's settings of where packages come from, without secrets.
    """

    wanted: Wanted
    mode: Mode
    interpreter: Interpreter
    lock: tuple[str, ...] = ()
    data_lock: tuple[str, ...] = ()
    takes: int = 0
    boundary: str = ""
    indexes: tuple[str, ...] = ()

    @property
    def shared(self) -> tuple[str, ...]:
        """What every environment has, unless a release needs something else beside it."""
        return (*self.lock, *self.data_lock)

    @property
    def pinned(self) -> tuple[str, ...]:
        """The shared companions with their versions, without hashes."""
        return tuple(pin_of(line) for line in self.shared)


def name_of(line: str) -> str:
    """Canonical name of a locked line."""
    return str(canonicalize_name(Requirement(pin_of(line)).name))


def pin_of(line: str) -> str:
    """A locked line without its hashes."""
    return line.split(" --hash=", 1)[0].strip()


def exact(line: str) -> str:
    """A locked line that takes its version alone: ``a==1.1`` takes 1.1+cu12 too, and installers prefer that one."""
    return _PINNED.sub(r"\1===", line, count=1)


def version_of(line: str, package: str) -> str | None:
    """The version that a locked line pins, where it is a line of this package and pins one."""
    found = _PINNED.match(line)
    if found is None or name_of(line) != canonicalize_name(package):
        return None
    return str(Requirement(pin_of(line)).specifier).removeprefix("==")
