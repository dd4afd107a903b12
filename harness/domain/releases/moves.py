"""Companions that stand at another version in one environment than in another."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from packaging.utils import canonicalize_name

from harness.domain.releases.companions import pin_of
from harness.domain.releases.distributions import import_name

_PINNED = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?\s*==+\s*([^\s;]+)")
_NAME = re.compile(r"[A-Za-z0-9._-]*")


@dataclass(frozen=True, kw_only=True)
class Move:
    """One companion that is not at the version of the reference.

    Attributes:
        name: Canonical name.
        version: Where it is; of a package from a place, that place.
        reference: Where it is in the reference; "" where that does not have it.
        named: It was asked for by name, without a version that would hold it.
    """

    name: str
    version: str
    reference: str = ""
    named: bool = False

    def __str__(self) -> str:
        beside = f"instead of {self.reference}" if self.reference else "in addition"
        return f"{self.name} {self.version} {beside}{', although asked for by name' if self.named else ''}"


def package_names(package: str) -> frozenset[str]:
    """The package under test by its own name and by that of its module: neither is a companion."""
    return frozenset((str(canonicalize_name(package)), str(canonicalize_name(import_name(package)))))


def companions_in(lock: Sequence[str], shared: Sequence[str], package: str) -> tuple[str, ...]:
    """The companions of an environment.

    Args:
        lock: What its lock has beside the shared one.
        shared: The lock that it shares with the other environments of its run, unless its own names companions too.
        package: Distribution under test.
    """
    own = tuple(line for line in lock if _pinned(line)[0] not in package_names(package))
    return own or tuple(shared)


def moves(lock: Sequence[str], reference: Sequence[str], named: Collection[str] = ()) -> tuple[Move, ...]:
    """Companions of `lock` that the reference has at another version, or not at all, by name.

    Args:
        lock: Locked lines.
        reference: Locked lines.
        named: Canonical names of what was asked for by name.
    """
    before, now = _versions(reference), _versions(lock)
    return tuple(
        Move(name=name, version=version, reference=before.get(name, ""), named=name in named and name in before)
        for name, version in sorted(now.items())
        if version != before.get(name)
    )


def changed(lock: Sequence[str], reference: Sequence[str]) -> tuple[Move, ...]:
    """Companions that both have, at two versions: what only one has, the release itself asks for."""
    return tuple(move for move in moves(lock, reference) if move.reference)


def _versions(lock: Sequence[str]) -> dict[str, str]:
    return dict(map(_pinned, lock))


def _pinned(line: str) -> tuple[str, str]:
    """Canonical name and version of a locked line of a journal, which may hold what no index takes any more."""
    if found := _PINNED.match(line):
        return str(canonicalize_name(found[1])), found[2]
    return str(canonicalize_name(_NAME.findall(line)[0])), pin_of(line)
