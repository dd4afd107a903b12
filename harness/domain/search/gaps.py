"""Unbroken stretches of places, and where to try next in them."""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

Places = tuple[int, int]
"""An unbroken stretch: its first place, and the one behind its last."""


class Stretches:
    """The places that are open, as unbroken stretches; taking one out and finding the longest cost next to nothing."""

    def __init__(self, parts: Iterable[Places] = ()) -> None:
        self._parts = [part for part in parts if part[0] < part[1]]
        self._by_length = sorted(map(_key, self._parts))
        self._count = sum(stop - start for start, stop in self._parts)

    @classmethod
    def of(cls, places: Iterable[int]) -> Stretches:
        """The stretches that places in rising order form."""
        return cls(_joined(places))

    def __len__(self) -> int:
        return self._count

    def __contains__(self, place: int) -> bool:
        return self._holding(place) is not None

    def remove(self, place: int) -> None:
        """Take one place out; raises `KeyError` where it is not open."""
        at = self._holding(place)
        if at is None:
            raise KeyError(place)
        whole = self._parts[at]
        parts = _cut(whole, place)
        self._parts[at : at + 1] = parts
        del self._by_length[bisect_left(self._by_length, _key(whole))]
        for part in parts:
            insort(self._by_length, _key(part))
        self._count -= 1

    def between(self, low: int, high: int, without: Collection[int] = ()) -> list[Places]:
        """The parts that lie strictly between two places, some places taken out."""
        first = max(0, bisect_right(self._parts, (low, -1)) - 1)
        found = []
        for start, stop in self._parts[first : bisect_left(self._parts, (high, -1))]:
            part = (max(start, low + 1), min(stop, high))
            found += [part] if part[0] < part[1] else []
        for place in without:
            found = [piece for part in found for piece in (_cut(part, place) if part[0] <= place < part[1] else [part])]
        return found

    def middles(self, limit: int = 0, without: Collection[int] = ()) -> Iterator[int]:
        """As the function of that name, over all stretches, some places taken out."""
        held = {self._parts[at] for place in without if (at := self._holding(place)) is not None}
        rest = [part for start, stop in held for part in self.between(start - 1, stop, without)]
        yield from _middles(map(_key, rest), limit, (key for key in self._by_length if _part(key) not in held))

    def _holding(self, place: int) -> int | None:
        at = bisect_left(self._parts, (place + 1, -1)) - 1
        return at if at >= 0 and place < self._parts[at][1] else None


def middles(places: Iterable[int], limit: int = 0) -> Iterator[int]:
    """The middle of the longest unbroken stretch, again and again, until none is longer than `limit`.

    The middle is as far as can be from what was tried or is broken. Of stretches of one length the first comes first.
    """
    return middles_of(_joined(places), limit)


def middles_of(parts: Iterable[Places], limit: int = 0) -> Iterator[int]:
    """As `middles`, of places that are given as stretches."""
    return _middles(map(_key, parts), limit, iter(()))


def _middles(some: Iterable[Places], limit: int, rest: Iterator[Places]) -> Iterator[int]:
    """Work through `some` and `rest`, which is sorted and so long that only its head is looked at."""
    heap = list(some)
    heapq.heapify(heap)
    head = next(rest, None)
    while heap or head is not None:
        if head is not None and (not heap or head < heap[0]):
            longest, head = head, next(rest, None)
        else:
            longest = heapq.heappop(heap)
        start, stop = _part(longest)
        if stop - start <= limit:
            return
        middle = (start + stop) // 2
        yield middle
        for part in _cut((start, stop), middle):
            heapq.heappush(heap, _key(part))


def next_outermost(order: Sequence[int], works: Mapping[int, bool]) -> int | None:
    """Where to try next so that the first place that works is found: see `next_from_end`.

    Args:
        order: Neighbouring places, outermost first.
        works: What was found out so far.

    Returns:
        The place; None when the first one that works is known, or when no stride reaches one.
    """
    first = next((k for k, place in enumerate(order) if works.get(place)), None)
    broken = max((k for k in range(first or 0) if order[k] in works), default=-1)
    backwards = len(order) > 1 and order[0] > order[-1]
    found = next_from_end(len(order), lambda k: order[k] in works, first, broken, backwards=backwards)
    return None if found is None else order[found]


def next_from_end(
    length: int, tried: Callable[[int], bool], first: int | None, broken: int, *, backwards: bool = False
) -> int | None:
    """Where to try next so that the first place that works is found; places count from the outer end.

    Broken places lie together at that end, so strides double until a place works, and the border of the broken area
    is then found by halving.

        x x . x . . . x . . . . . . . A      strides 1, 2, 4, 8
        x x . x . . . x . x x A . . . A      back to the border

    Args:
        length: How many places there are.
        tried: Whether a place was tried.
        first: The first place that works.
        broken: The last place before `first` that was tried; -1: none was.
        backwards: The outer end is the newest; of two middles the newer one is taken all the same.

    Returns:
        The place; None when the first one that works is known, or when no stride reaches one.
    """
    if not length or first == 0:
        return None
    if not tried(0):
        return 0
    if first is None:
        strides = ((1 << k) - 1 for k in range(length.bit_length()))
        return next((k for k in strides if not tried(k)), None)
    return (broken + first + (not backwards)) // 2 if broken + 1 < first else None


def _joined(places: Iterable[int]) -> Iterator[Places]:
    start = stop = -1
    for place in places:
        if place != stop:
            if start < stop:
                yield start, stop
            start = place
        stop = place + 1
    if start < stop:
        yield start, stop


def _cut(part: Places, place: int) -> list[Places]:
    start, stop = part
    return [piece for piece in ((start, place), (place + 1, stop)) if piece[0] < piece[1]]


def _key(part: Places) -> Places:
    """Sorts the longest first, and of equals the first."""
    return part[0] - part[1], part[0]


def _part(key: Places) -> Places:
    return key[1], key[1] - key[0]
