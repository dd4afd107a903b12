"""Unbroken stretches of places, and where to look into them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


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
