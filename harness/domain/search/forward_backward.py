"""Forward-backward along a chain of releases that are good or bad: the arithmetic of `harness.domain.search.posterior`.

As in Rabiner, "A tutorial on hidden Markov models", Proc. IEEE 77 (1989), section III, with his scaling:
exact, and linear in the number of steps. State 0 is good; the others are bad, each with its own failure rate.

Neighbours with equal runs come as one group with a count. A pass that goes through a group settles: once a step gives
the very numbers of the step before, all further ones do, and they are written down once. Of a timeline of 100,000
releases some hundred steps are left. Up to `SETTLING` equal neighbours give what the steps one by one give, to the
last bit; beyond that the backward pass counts as settled when its steps differ in their last bits only, where they
wander for ever.

The chain with one bad state is written out in scalars: it is run for every rate after every trial, and lists
of two made it five times slower.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

Series = Sequence[float]


KEPT = 16
"""What a pass makes of a group of this size is kept for the next trial: most groups stay as they are."""

SETTLING = 64
"""So many steps are taken with the same numbers before last bits are passed over."""

_LAST_BITS = 4e-16

Figures = tuple[int, float, float, float]
"""How many neighbouring places share these figures: bad, begins, ends. A bare tuple: thousands are made."""


@dataclass(frozen=True, kw_only=True)
class Smoothed:
    """Probabilities given all runs, in stretches; `begins` and `ends` of the last place say nothing."""

    stretches: Sequence[Figures]

    @property
    def bad(self) -> list[float]:
        """Bad at each place."""
        return [s[1] for s in self.stretches for _ in range(s[0])]

    @property
    def begins(self) -> list[float]:
        """Good at each place but the last, and bad at the next."""
        return [s[2] for s in self.stretches for _ in range(s[0])][:-1]

    @property
    def ends(self) -> list[float]:
        """Bad at each place but the last, and good at the next."""
        return [s[3] for s in self.stretches for _ in range(s[0])][:-1]


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
        self._blocks: list[_Shared] = []
        evidence = 0.0
        for like_g, like_b, change, count in zip(good, bad, (0.0, *changes), counts or (1,) * len(good), strict=True):
            if count > 1:
                forward = _forward_shared if count >= KEPT else _forward_shared.__wrapped__
                group = forward(g, b, like_g, like_b, change, count)
                for *_, scale, _, _, _, same in group:
                    for step in _repeated(math.log(scale), same):
                        evidence += step
                self._blocks += group
                g, b, *_ = group[-1]
            else:
                g, b = ((1 - change) * g + change * b) * like_g, ((1 - change) * b + change * g) * like_b
                scale = g + b
                g, b = g / scale, b / scale
                evidence += math.log(scale)
                self._blocks.append((g, b, scale, change, like_g, like_b, 1))
        self.evidence = evidence

    def smooth(self) -> Smoothed:
        """The backward pass."""
        found: list[Figures] = [(1, self._blocks[-1][1], 0.0, 0.0)]
        back_g = back_b = 1.0
        for n in range(len(self._blocks) - 1, -1, -1):
            g, b, scale, change, like_g, like_b, size = self._blocks[n]
            left = size - 1
            while left:
                was_g, was_b = back_g, back_b
                ahead_g, ahead_b = like_g * back_g / scale, like_b * back_b / scale
                back_g = (1 - change) * ahead_g + change * ahead_b
                back_b = (1 - change) * ahead_b + change * ahead_g
                near = _LAST_BITS if size - left > SETTLING else 0.0
                settled = abs(back_g - was_g) <= near * was_g and abs(back_b - was_b) <= near * was_b
                same = left if settled else 1
                found.append((same, b * back_b, g * change * ahead_b, b * change * ahead_g))
                left -= same
            if n:
                g, b, *_ = self._blocks[n - 1]
                ahead_g, ahead_b = like_g * back_g / scale, like_b * back_b / scale
                back_g = (1 - change) * ahead_g + change * ahead_b
                back_b = (1 - change) * ahead_b + change * ahead_g
                found.append((1, b * back_b, g * change * ahead_b, b * change * ahead_g))
        return Smoothed(stretches=found[::-1])


def _repeated(step: float, count: int) -> list[float]:
    """What is to be added for as many equal steps: a product differs in its last bits, so short ones are added up."""
    return [step] * count if count <= SETTLING else [step * count]


_Shared = tuple[float, float, float, float, float, float, int]
"""Good, bad, scale, change, likelihood if good, likelihood if bad, number of places."""


@lru_cache(maxsize=256)
def _forward_shared(g: float, b: float, like_g: float, like_b: float, change: float, count: int) -> tuple[_Shared, ...]:
    """Go through a group; from one trial to the next most groups stay as they are."""
    blocks: list[_Shared] = []
    while count:
        was_g, was_b = g, b
        g, b = ((1 - change) * g + change * b) * like_g, ((1 - change) * b + change * g) * like_b
        scale = g + b
        g, b = g / scale, b / scale
        same = count if g == was_g and b == was_b else 1
        blocks.append((g, b, scale, change, like_g, like_b, same))
        count -= same
    return tuple(blocks)


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
        sizes = counts or (1,) * len(likelihoods)
        state: _State = (1 - starts_bad, *[starts_bad * w for w in weights])
        self._groups: list[_Group] = []
        logs: list[float] = []
        for likelihood, change, count in zip(likelihoods, (0.0, *changes), sizes, strict=True):
            step = _Step(tuple(likelihood), tuple(weights), change, rate_only)
            forward = _forward_own if count >= KEPT else _forward_own.__wrapped__
            blocks = forward(state, step, count)
            for _, scale, same in blocks:
                logs += _repeated(math.log(scale), same)
            self._groups.append((state, step, count, blocks))
            state = blocks[-1][0]
        self.evidence = sum(logs)

    def smooth(self) -> Smoothed:
        """The backward pass."""
        last = self._groups[-1][-1][-1][0]
        found: list[Figures] = [(1, sum(last[1:]), 0.0, 0.0)]
        back: _State = (1.0,) * len(last)
        for n in range(len(self._groups) - 1, -1, -1):
            state, step, count, _ = self._groups[n]
            if count > 1:
                backward = _backward_own if count >= KEPT else _backward_own.__wrapped__
                figures, back = backward(state, step, count, back)
                found += figures
            if n:  # from the first place of this group to the last one of the group before it, whose state came in
                scale = self._groups[n][-1][0][1]
                back, entering, leaving = _back(back, step, scale)
                found.append((1, _bad(state, back), state[0] * step.change * entering, sum(state[1:]) * leaving))
        return Smoothed(stretches=found[::-1])


_State = tuple[float, ...]


class _Step(NamedTuple):
    """What a step along the chain depends on."""

    likelihood: _State
    weights: _State
    change: float
    rate_only: float


_Blocks = tuple[tuple[_State, float, int], ...]
"""State, scale, number of places."""

_Group = tuple[_State, _Step, int, _Blocks]
"""The state before it, the step, its size, and what the forward pass made of it."""


@lru_cache(maxsize=64)
def _forward_own(state: _State, step: _Step, count: int) -> _Blocks:
    """Go through a group."""
    likelihood, weights, change, rate_only = step
    blocks = []
    while count:
        was, good, bad = state, state[0], sum(state[1:])
        entering = change * (good + rate_only * bad)
        rates = [(1 - change) * b + entering * w for b, w in zip(state[1:], weights, strict=True)]
        unscaled = [(1 - change) * good + change * (1 - rate_only) * bad, *rates]
        unscaled = [s * c for s, c in zip(unscaled, likelihood, strict=True)]
        scale = sum(unscaled)
        state = tuple([s / scale for s in unscaled])
        same = count if state == was else 1
        blocks.append((state, scale, same))
        count -= same
    return tuple(blocks)


@lru_cache(maxsize=64)
def _backward_own(state: _State, step: _Step, count: int, back: _State) -> tuple[list[Figures], _State]:
    """Go back through a group, from its last place to its first."""
    found: list[Figures] = []
    blocks = _forward_own(state, step, count)
    for n in range(len(blocks) - 1, -1, -1):
        own, scale, size = blocks[n]
        places = [(own, size - 1), (blocks[n - 1][0], 1)] if n else [(own, size - 1)]
        for at, many in places:
            left = many
            while left:
                was = back
                back, entering, leaving = _back(back, step, scale)
                near = _LAST_BITS if many - left >= SETTLING else 0.0
                same = left if back == was or (near and _near(back, was, near)) else 1
                found.append((same, _bad(at, back), at[0] * step.change * entering, sum(at[1:]) * leaving))
                left -= same
    return found, back


def _back(back: _State, step: _Step, scale: float) -> tuple[_State, float, float]:
    """One step back, with how likely the runs from there on are behind a beginning and behind an end."""
    likelihood, weights, change, rate_only = step
    ahead = [c * b / scale for c, b in zip(likelihood, back, strict=True)]
    entering = sum([w * a for w, a in zip(weights, ahead[1:], strict=True)])
    leaving = change * (1 - rate_only) * ahead[0]
    kept = change * rate_only * entering
    rates = [(1 - change) * a + leaving + kept for a in ahead[1:]]
    return ((1 - change) * ahead[0] + change * entering, *rates), entering, leaving


def _near(state: _State, other: _State, least: float) -> bool:
    return all(abs(a - b) <= least * b for a, b in zip(state, other, strict=True))


def _bad(state: _State, back: _State) -> float:
    return sum([s * b for s, b in zip(state[1:], back[1:], strict=True)])
