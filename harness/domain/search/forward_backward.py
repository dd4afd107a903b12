"""Forward-backward along a chain of releases that are good or bad: the arithmetic of `harness.domain.search.posterior`.

As in Rabiner, "A tutorial on hidden Markov models", Proc. IEEE 77 (1989), section III, with his scaling:
exact, and linear in the number of steps. State 0 is good; the others are bad, each with its own failure rate.

The chain with one bad state is written out in scalars: it is run for every rate after every trial, and lists
of two made it five times slower (2,000 releases must stay below a second).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

Series = Sequence[float]


@dataclass(frozen=True, kw_only=True)
class Smoothed:
    """Probabilities given all runs.

    Attributes:
        bad: Bad at each place.
        begins: Good at each place but the last, and bad at the next.
        ends: Bad at each place but the last, and good at the next.
    """

    bad: list[float]
    begins: list[float]
    ends: list[float]


class SharedRate:
    """One bad state: all bad ranges fail at the same rate.

    Args:
        good: Likelihood of the runs at each place if it is good.
        bad: The same if it is bad.
        changes: Chance of a change before each place but the first.
        starts_bad: Chance that the first place is bad.
    """

    def __init__(self, good: Series, bad: Series, changes: Series, starts_bad: float) -> None:
        self._good, self._bad, self._changes = good, bad, changes
        g, b = 1 - starts_bad, starts_bad
        self._forward: list[tuple[float, float, float]] = []
        evidence = 0.0
        for like_g, like_b, change in zip(good, bad, (0.0, *changes), strict=True):
            g, b = ((1 - change) * g + change * b) * like_g, ((1 - change) * b + change * g) * like_b
            scale = g + b
            g, b = g / scale, b / scale
            self._forward.append((g, b, scale))
            evidence += math.log(scale)
        self.evidence = evidence

    def smooth(self) -> Smoothed:
        """The backward pass."""
        bad, begins, ends = [self._forward[-1][1]], [], []
        back_g = back_b = 1.0
        for i in range(len(self._forward) - 2, -1, -1):
            g, b, _ = self._forward[i]
            scale, change = self._forward[i + 1][2], self._changes[i]
            ahead_g = self._good[i + 1] * back_g / scale
            ahead_b = self._bad[i + 1] * back_b / scale
            back_g = (1 - change) * ahead_g + change * ahead_b
            back_b = (1 - change) * ahead_b + change * ahead_g
            begins.append(g * change * ahead_b)
            ends.append(b * change * ahead_g)
            bad.append(b * back_b)
        return Smoothed(bad=bad[::-1], begins=begins[::-1], ends=ends[::-1])


class OwnRates:
    """Several bad states: each bad range fails at a rate of its own, drawn with `weights`.

    Args:
        likelihoods: For each place the likelihood of its runs: good first, then at each rate.
        weights: Prior weight of each rate.
        changes: Chance of a change before each place but the first.
        starts_bad: Chance that the first place is bad.
        rate_only: Share of changes inside a bad range that change the rate alone.
    """

    def __init__(
        self,
        likelihoods: Sequence[Series],
        weights: Series,
        changes: Series,
        starts_bad: float,
        rate_only: float,
    ) -> None:
        self._likelihoods, self._weights, self._changes, self._rate_only = (
            likelihoods,
            weights,
            changes,
            rate_only,
        )
        state = [1 - starts_bad, *[starts_bad * w for w in weights]]
        self._states: list[list[float]] = []
        self._scales: list[float] = []
        for likelihood, change in zip(likelihoods, (0.0, *changes), strict=True):
            good, bad = state[0], sum(state[1:])
            entering = change * (good + rate_only * bad)
            rates = [(1 - change) * b + entering * w for b, w in zip(state[1:], weights, strict=True)]
            state = [(1 - change) * good + change * (1 - rate_only) * bad, *rates]
            state = [s * c for s, c in zip(state, likelihood, strict=True)]
            scale = sum(state)
            state = [s / scale for s in state]
            self._states.append(state)
            self._scales.append(scale)
        self.evidence = sum(map(math.log, self._scales))

    def smooth(self) -> Smoothed:
        """The backward pass."""
        bad, begins, ends = [sum(self._states[-1][1:])], [], []
        back = [1.0] * len(self._states[-1])
        for i in range(len(self._states) - 2, -1, -1):
            change, state, scale = self._changes[i], self._states[i], self._scales[i + 1]
            ahead = [c * b / scale for c, b in zip(self._likelihoods[i + 1], back, strict=True)]
            entering = sum([w * a for w, a in zip(self._weights, ahead[1:], strict=True)])
            leaving = change * (1 - self._rate_only) * ahead[0]
            kept = change * self._rate_only * entering
            back = [(1 - change) * ahead[0] + change * entering]
            back += [(1 - change) * a + leaving + kept for a in ahead[1:]]
            begins.append(state[0] * change * entering)
            ends.append(sum(state[1:]) * leaving)
            bad.append(sum([s * b for s, b in zip(state[1:], back[1:], strict=True)]))
        return Smoothed(bad=bad[::-1], begins=begins[::-1], ends=ends[::-1])
