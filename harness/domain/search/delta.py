"""Delta debugging: from changes that together have an effect to a minimal set of them that has it.

The algorithm is ddmin of Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE Transactions
on Software Engineering 28(2), 2002, with its third outcome: a set of changes that says nothing (it does not import, it
fails in another way) is unresolved, and is never taken for one that has the effect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import Generic, TypeVar

T = TypeVar("T")


class Effect(str, Enum):
    """What a set of changes does to the verdict."""

    FLIPS = "flips"
    KEEPS = "keeps"
    UNRESOLVED = "unresolved"


Test = Callable[[Sequence[T]], "Effect | None"]
"""What a set of changes does; None: the budget is spent, and nothing was run."""


@dataclass(frozen=True, kw_only=True)
class Minimal(Generic[T]):
    """What is left of the changes.

    Attributes:
        changes: They flip the verdict, in their given order.
        complete: No single one of them can be left out; false: the budget was spent before that was known.
    """

    changes: tuple[T, ...]
    complete: bool


def minimize(changes: Sequence[T], test: Test[T]) -> Minimal[T]:
    """Shrink changes that together flip the verdict to a set of which no single one can be left out.

    Args:
        changes: Known to flip the verdict together; none of them is known to keep it.
        test: What a subset does. It is asked for the same subset more than once and should remember.
    """
    current, parts = tuple(changes), 2
    while len(current) > 1:
        for smaller, finer in _candidates(current, parts):
            effect = test(smaller)
            if effect is None:
                return Minimal(changes=current, complete=False)
            if effect is Effect.FLIPS:
                current, parts = smaller, finer
                break
        else:
            if parts == len(current):
                break
            parts = min(len(current), 2 * parts)
    return Minimal(changes=current, complete=True)


def _candidates(current: tuple[T, ...], parts: int) -> Iterator[tuple[tuple[T, ...], int]]:
    """Each part alone, then all without one part, with the number of parts to go on with."""
    groups = _split(current, parts)
    for group in groups:
        yield group, 2
    if parts > 2:  # of two parts, each is what the other leaves
        for n in range(parts):
            left = tuple(change for group in (*groups[:n], *groups[n + 1 :]) for change in group)
            yield left, max(parts - 1, 2)


def _split(current: tuple[T, ...], parts: int) -> list[tuple[T, ...]]:
    """Cut into parts of nearly equal length, in order; there are no more parts than changes."""
    edges = [len(current) * n // parts for n in range(parts + 1)]
    return [current[first:last] for first, last in pairwise(edges)]
