"""Releases with what a search would make of each: dates, what is left out, what can be used here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.domain.releases.companions import Interpreter
from harness.domain.releases.release import Order, Release, Timeline


@dataclass(frozen=True, kw_only=True)
class ListedRelease:
    """One release of the range, left out ones included.

    Attributes:
        version: As PEP 440 writes it.
        date: Day of its first file; None: unknown.
        requires_python: As the index says.
        yanked: The reason, ``yes`` without one, None when it is not yanked.
        usable: Whether it can be used here, or why not.
    """

    version: str
    date: str | None
    requires_python: str | None
    yanked: str | None
    usable: str


@dataclass(frozen=True, kw_only=True)
class Listing:
    """All releases of a range.

    Attributes:
        package: Distribution.
        order: By version or by date.
        releases: In that order.
        left_out: How many of them a search would leave out.
    """

    package: str
    order: Order
    releases: tuple[ListedRelease, ...]
    left_out: int


def describe(timeline: Timeline, interpreters: Sequence[Interpreter]) -> list[ListedRelease]:
    """One line per release of the range, the excluded ones included, each with its reason."""
    left_out = {x.release.version: x.reason for x in timeline.excluded}
    everything = [*timeline.releases, *(x.release for x in timeline.excluded)]
    ordered = sorted(everything, key=lambda r: r.parsed) if timeline.order is Order.VERSION else everything
    return [_line(release, left_out.get(release.version), interpreters) for release in ordered]


def _line(release: Release, left_out: str | None, interpreters: Sequence[Interpreter]) -> ListedRelease:
    accepted = [i.minor for i in interpreters if release.accepts_python(i.version)]
    usable = f"yes, on Python {', '.join(accepted)}" if accepted else f"no: no Python {release.requires_python} here"
    return ListedRelease(
        version=release.version,
        date=release.released.date().isoformat() if release.released else None,
        requires_python=release.requires_python,
        yanked=None if release.yanked is None else release.yanked or "yes",
        usable=f"left out: {left_out}" if left_out else usable,
    )
