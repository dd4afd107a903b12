"""The reference set of companions of a timeline, and how each release departs from it as little as it can.

A . . . . . . . . B      the set of one end resolves with the other end
x x A . . . . . . B      an end that resolves with nothing is left out: it is skip, as any untestable end
. . . . A | B . . .      a compatibility boundary: the set of the longer side is the reference
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

from harness.adapters.environments.resolver import Unsatisfiable
from harness.domain.releases.companions import name_of, pin_of
from harness.domain.releases.moves import changed
from harness.domain.search.gaps import middles, next_outermost

SCAN = 32
"""Of a long timeline, this many evenly spread releases are tried; when none resolves, no other is tried."""

Lock = tuple[str, ...]
Resolve = Callable[[int, Lock], Lock]
"""Resolves the release at a place of the timeline with the given pins; raises `Unsatisfiable`."""
Preferring = Callable[[Lock, Lock], Lock]
"""Resolves one release with pins that must hold and lines that are preferred; raises `Unsatisfiable`."""


@dataclass(frozen=True, kw_only=True)
class PinnedSet:
    """A set of companions, as locked lines, and the places of the first and last release that it resolves with."""

    lock: Lock
    first: int
    last: int


def named_in(lock: Lock, named: Collection[str]) -> Lock:
    """The pins of what was asked for by name."""
    return tuple(pin_of(line) for line in lock if name_of(line) in named)


def reference_set(count: int, resolve: Resolve, named: Collection[str]) -> PinnedSet:
    """The set from which the releases depart the least.

    Best is one that both ends take whole; then one whose named companions both ends take; then any.

    Args:
        count: Length of the timeline.
        resolve: Resolves one release.
        named: Canonical names of what was asked for by name.

    Raises:
        Unsatisfiable: one of the ends resolves with no companions at all.
    """
    resolve = lru_cache(maxsize=None)(resolve)
    with suppress(Unsatisfiable):
        return over_all(count, resolve)
    resolve(count - 1, ())
    resolve(0, ())
    held = _held_over_all(count, resolve, named)
    return over_most(count, lambda place, pins: resolve(place, tuple(dict.fromkeys((*held, *pins)))))


def _held_over_all(count: int, resolve: Resolve, named: Collection[str]) -> Lock:
    """Pins of the named companions that both ends take; none where no such pins are found."""
    for lead, follow in ((0, count - 1), (count - 1, 0)):
        with suppress(Unsatisfiable):
            held = named_in(resolve(lead, ()), named)
            resolve(follow, held)
            return held
    return ()


def least_moved(reference: Lock, named: Collection[str], resolve: Preferring, again: Preferring) -> Lock:
    """Resolve one release so that no companion stands elsewhere than in the reference without need.

    The named ones are held first, and moved only where nothing resolves with them. Of what moved, each is then put
    back where the rest can stay where it is: no smaller part of the moved ones would have sufficed.

    Args:
        reference: The reference set.
        named: Canonical names of what was asked for by name.
        resolve: Resolves with pins that must hold and lines to be preferred.
        again: The same, once `resolve` has read all that it needs.

    Raises:
        Unsatisfiable: nothing resolves, whatever moves.
    """
    try:
        lock = resolve(named_in(reference, named), reference)
    except Unsatisfiable:
        lock = resolve((), reference)
    moved = [move.name for move in changed(lock, reference)]
    for name in sorted(moved, key=lambda name: (name not in named, name)):
        free = {move.name for move in changed(lock, reference)}
        if name in free:
            held = tuple(pin_of(line) for line in reference if name_of(line) not in free - {name})
            with suppress(Unsatisfiable):
                lock = again(held, reference)
    return lock


def over_all(count: int, resolve: Resolve) -> PinnedSet:
    """Pin the set of the oldest release for the newest too, or the other way round; raises `Unsatisfiable`."""
    try:
        return _pinned(0, count - 1, resolve)
    except Unsatisfiable:
        return _pinned(count - 1, 0, resolve)


def over_most(count: int, resolve: Resolve) -> PinnedSet:
    """Pin the set of the newest release that resolves, or of the oldest: whichever fits more of the timeline.

    Where both fit the same number of releases, the newest one is used.

    Raises:
        Unsatisfiable: no release resolves.
    """
    attempt = lru_cache(maxsize=None)(lambda place, pins: _attempt(resolve, place, pins))
    newest_first = range(count - 1, -1, -1)
    found = [pinned for order in (newest_first, newest_first[::-1]) if (pinned := _along(order, attempt)) is not None]
    if not found:
        return _pinned(count - 1, count - 1, resolve)  # raises the reason
    first, last = max(found, key=lambda ends: abs(ends[1] - ends[0]))
    return _pinned(first, last, resolve)


def _along(order: range, attempt: Callable[[int, Lock], Lock | None]) -> tuple[int, int] | None:
    """The first place that resolves, and the farthest one that resolves with its set; None when none resolves."""
    lead = _outermost(order, lambda place: attempt(place, ()) is not None)
    if lead is None:
        return None
    pins = tuple(map(pin_of, attempt(lead, ()) or ()))
    behind = order[order.index(lead) + 1 :]
    far = _outermost(behind[::-1], lambda place: attempt(place, pins) is not None)
    return lead, lead if far is None else far


def _pinned(lead: int, follow: int, resolve: Resolve) -> PinnedSet:
    own = resolve(lead, ())
    other = resolve(follow, tuple(map(pin_of, own)))
    both = {name_of(line): line for line in (*other, *own)}
    return PinnedSet(
        lock=tuple(line for _, line in sorted(both.items())), first=min(lead, follow), last=max(lead, follow)
    )


def _attempt(resolve: Resolve, place: int, pins: Lock) -> Lock | None:
    try:
        return resolve(place, pins)
    except Unsatisfiable:
        return None


def _outermost(order: range, fits: Callable[[int], bool]) -> int | None:
    """The first place that fits; where no stride reaches one, evenly spread places are tried too."""
    known: dict[int, bool] = {}
    spread = middles(range(len(order)), len(order) // SCAN)
    while (place := next_outermost(order, known)) is not None or not any(known.values()):
        if place is None and (place := next((order[k] for k in spread if order[k] not in known), None)) is None:
            return None
        known[place] = fits(place)
    return next(place for place in order if known.get(place))
