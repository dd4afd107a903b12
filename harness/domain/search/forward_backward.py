"""Forward-backward along a chain of releases that are good or bad: the arithmetic of `harness.domain.search.posterior`.

As in Rabiner, "A tutorial on hidden Markov models", Proc. IEEE 77 (1989), section III, with his scaling:
exact, and linear in the number of steps. State 0 is good; the others are bad, each with its own failure rate.

Neighbours with equal runs come as one group with a count. A pass that goes through a group settles: once a step gives
the very numbers of the step before, all further ones do, and they are written down once. On a timeline of 100,000
releases a few hundred steps are left, and every figure is what the steps one by one give, to the last bit.

The chain with one bad state is written out in scalars: it is run for every rate after every trial, and lists
of two made it five times slower.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

Series = Sequence[float]


class Stretch(NamedTuple):
    """Neighbouring places with the same figures."""

    size: int
    bad: float
    begins: float
    ends: float


@dataclass(frozen=True, kw_only=True)
class Smoothed:
    """Probabilities given all runs, in stretches; `begins` and `ends` of the last place say nothing."""

    stretches: Sequence[Stretch]

    @property
    def bad(self) -> list[float]:
        """Bad at each place."""
        return [s.bad for s in self.stretches for _ in range(s.size)]

    @property
    def begins(self) -> list[float]:
        """Good at each place but the last, and bad at the next."""
        return [s.begins for s in self.stretches for _ in range(s.size)][:-1]

    @property
    def ends(self) -> list[float]:
        """Bad at each place but the last, and good at the next."""
        return [s.ends for s in self.stretches for _ in range(s.size)][:-1]


class SharedRate:
    """One bad state: all bad ranges fail at the same rate.

    Args:
        good: Likelihood of the runs at each place of a group if it is good.
        bad: The same if it is bad.
        changes: Chance of a change before each place of a group, for all groups but the first.
        starts_bad: Chance that the first place is bad.
        counts: Places in each group; empty: one each. The first group has one place.
    """

    def __init__(
        self, good: Series, bad: Series, changes: Series, starts_bad: float, counts: Sequence[int] = ()
    ) -> None:
        g, b = 1 - starts_bad, starts_bad
        self._blocks: list[tuple[float, float, float, float, float, float, int]] = []
        evidence = 0.0
        for like_g, like_b, change, count in _groups(good, bad, changes, counts):
            left = count
            while left:
                was_g, was_b = g, b
                g, b = ((1 - change) * g + change * b) * like_g, ((1 - change) * b + change * g) * like_b
                scale = g + b
                g, b = g / scale, b / scale
                step = math.log(scale)
                same = left if g == was_g and b == was_b else 1
                for _ in range(same):  # a product would differ in its last bits
                    evidence += step
                self._blocks.append((g, b, scale, change, like_g, like_b, same))
                left -= same
        self.evidence = evidence

    def smooth(self) -> Smoothed:
        """The backward pass."""
        found = [Stretch(1, self._blocks[-1][1], 0.0, 0.0)]
        back_g = back_b = 1.0
        for n in range(len(self._blocks) - 1, -1, -1):
            _, _, scale, change, like_g, like_b, _ = self._blocks[n]
            for g, b, count in _before(self._blocks, n):
                left = count
                while left:
                    was_g, was_b = back_g, back_b
                    ahead_g = like_g * back_g / scale
                    ahead_b = like_b * back_b / scale
                    back_g = (1 - change) * ahead_g + change * ahead_b
                    back_b = (1 - change) * ahead_b + change * ahead_g
                    same = left if back_g == was_g and back_b == was_b else 1
                    found.append(Stretch(same, b * back_b, g * change * ahead_b, b * change * ahead_g))
                    left -= same
        return Smoothed(stretches=found[::-1])


def _groups(
    good: Series, bad: Series, changes: Series, counts: Sequence[int]
) -> Iterator[tuple[float, float, float, int]]:
    return zip(good, bad, (0.0, *changes), counts or (1,) * len(good), strict=True)


def _before(
    blocks: Sequence[tuple[float, float, float, float, float, float, int]], n: int
) -> Iterator[tuple[float, float, int]]:
    """Good, bad and number of the places whose next one lies in a block: its own but one, and the one before it."""
    g, b, *_, count = blocks[n]
    yield g, b, count - 1
    if n:
        yield blocks[n - 1][0], blocks[n - 1][1], 1


class OwnRates:
    """Several bad states: each bad range fails at a rate of its own, drawn with `weights`.

    Args:
        likelihoods: For each place of a group the likelihood of its runs: good first, then at each rate.
        weights: Prior weight of each rate.
        changes: Chance of a change before each place of a group, for all groups but the first.
        starts_bad: Chance that the first place is bad.
        rate_only: Share of changes inside a bad range that change the rate alone.
        counts: Places in each group; empty: one each. The first group has one place.
    """

    def __init__(
        self,
        likelihoods: Sequence[Series],
        weights: Series,
        changes: Series,
        starts_bad: float,
        rate_only: float,
        counts: Sequence[int] = (),
    ) -> None:
        self._weights, self._rate_only = weights, rate_only
        state = [1 - starts_bad, *[starts_bad * w for w in weights]]
        self._blocks: list[tuple[list[float], float, float, Series, int]] = []
        logs = []
        sizes = counts or (1,) * len(likelihoods)
        for likelihood, change, count in zip(likelihoods, (0.0, *changes), sizes, strict=True):
            left = count
            while left:
                was, (good, bad) = state, (state[0], sum(state[1:]))
                entering = change * (good + rate_only * bad)
                rates = [(1 - change) * b + entering * w for b, w in zip(state[1:], weights, strict=True)]
                state = [(1 - change) * good + change * (1 - rate_only) * bad, *rates]
                state = [s * c for s, c in zip(state, likelihood, strict=True)]
                scale = sum(state)
                state = [s / scale for s in state]
                same = left if state == was else 1
                logs += [math.log(scale)] * same
                self._blocks.append((state, scale, change, likelihood, same))
                left -= same
        self.evidence = sum(logs)

    def smooth(self) -> Smoothed:
        """The backward pass."""
        found = [Stretch(1, sum(self._blocks[-1][0][1:]), 0.0, 0.0)]
        back = [1.0] * len(self._blocks[-1][0])
        for n in range(len(self._blocks) - 1, -1, -1):
            state, scale, change, likelihood, count = self._blocks[n]
            places = [(state, count - 1), (self._blocks[n - 1][0], 1)] if n else [(state, count - 1)]
            for own, size in places:
                left = size
                while left:
                    was = back
                    ahead = [c * b / scale for c, b in zip(likelihood, back, strict=True)]
                    entering = sum([w * a for w, a in zip(self._weights, ahead[1:], strict=True)])
                    leaving = change * (1 - self._rate_only) * ahead[0]
                    kept = change * self._rate_only * entering
                    back = [(1 - change) * ahead[0] + change * entering]
                    back += [(1 - change) * a + leaving + kept for a in ahead[1:]]
                    same = left if back == was else 1
                    bad = sum([s * b for s, b in zip(own[1:], back[1:], strict=True)])
                    found.append(Stretch(same, bad, own[0] * change * entering, sum(own[1:]) * leaving))
                    left -= same
        return Smoothed(stretches=found[::-1])
