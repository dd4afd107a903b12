"""Unbroken stretches of places, and where to try next in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence


def middles(places: Sequence[int], limit: int = 0) -> Iterator[int]:
    """The middle of the longest unbroken stretch, again and again, until none is longer than `limit`.

    The middle is as far as can be from what was tried or is broken.
    """
    stretches: list[tuple[int, int]] = []
    for place in places:
        if stretches and stretches[-1][1] == place:
            stretches[-1] = (stretches[-1][0], place + 1)
        else:
            stretches.append((place, place + 1))
    while stretches:
        longest = max(stretches, key=lambda stretch: stretch[1] - stretch[0])
        start, stop = longest
        if stop - start <= limit:
            return
        middle = (start + stop) // 2
        yield middle
        at = stretches.index(longest)
        stretches[at : at + 1] = [part for part in ((start, middle), (middle + 1, stop)) if part[0] < part[1]]


def next_outermost(order: Sequence[int], works: Mapping[int, bool]) -> int | None:
    """Where to try next so that the first place that works is found.

    Broken places lie together at the end where the order begins, so strides double until a place works, and the
    border of the broken area is then found by halving.

        x x . x . . . x . . . . . . . A      strides 1, 2, 4, 8
        x x . x . . . x . x x A . . . A      back to the border

    Args:
        order: The places, outermost first.
        works: What was found out so far.

    Returns:
        The place; None when the first one that works is known, or when no stride reaches one.
    """
    if not order or works.get(order[0]):
        return None
    if order[0] not in works:
        return order[0]
    first = next((k for k, place in enumerate(order) if works.get(place)), None)
    if first is None:
        strides = ((1 << k) - 1 for k in range(len(order).bit_length()))
        return next((order[k] for k in strides if order[k] not in works), None)
    broken = max(k for k in range(first) if order[k] in works)
    return next(middles(sorted(order[broken + 1 : first])), None)
