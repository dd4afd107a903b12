"""The arithmetic equals a sum over every possible path."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.domain.search.forward_backward import OwnRates, Series, SharedRate

CHANCES = st.floats(0.001, 0.999)


def by_paths(
    rows: Sequence[Series], weights: Series, changes: Series, starts_bad: float, rate_only: float
) -> tuple[float, list[list[float]]]:
    """Brute force: (evidence, bad at each place, begins, ends)."""
    size = len(rows)
    total, bad, begins, ends = 0.0, [0.0] * size, [0.0] * (size - 1), [0.0] * (size - 1)
    for path in itertools.product(range(len(weights) + 1), repeat=size):
        p = (1 - starts_bad if path[0] == 0 else starts_bad * weights[path[0] - 1]) * rows[0][path[0]]
        for i, (was, now) in enumerate(itertools.pairwise(path)):
            if was == 0:
                step = 1 - changes[i] if now == 0 else changes[i] * weights[now - 1]
            elif now == 0:
                step = changes[i] * (1 - rate_only)
            else:
                step = (1 - changes[i]) * (was == now) + changes[i] * rate_only * weights[now - 1]
            p *= step * rows[i + 1][now]
        total += p
        for i, state in enumerate(path):
            bad[i] += p * (state > 0)
        for i, (was, now) in enumerate(itertools.pairwise(path)):
            begins[i] += p * (was == 0 < now)
            ends[i] += p * (now == 0 < was)
    return math.log(total), [[x / total for x in series] for series in (bad, begins, ends)]


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_shared_rate_equals_the_sum_over_paths(data) -> None:
    """Evidence, states and transitions are those of the sum over all 2^n paths."""
    size = data.draw(st.integers(1, 6))
    rows = [(data.draw(CHANCES), data.draw(CHANCES)) for _ in range(size)]
    changes = [data.draw(CHANCES) for _ in range(size - 1)]
    good, bad = zip(*rows, strict=True)
    chain = SharedRate(good, bad, changes, 0.1)
    evidence, series = by_paths(rows, [1.0], changes, 0.1, 0.0)
    told = chain.smooth()
    assert chain.evidence == pytest.approx(evidence)
    for mine, truth in zip((told.bad, told.begins, told.ends), series, strict=True):
        assert mine == pytest.approx(truth)


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_own_rates_equal_the_sum_over_paths(data) -> None:
    """The same with several rates, ranges that draw their own, and changes of the rate alone."""
    size = data.draw(st.integers(1, 5))
    weights = [0.5, 0.3, 0.2]
    rows = [tuple(data.draw(CHANCES) for _ in range(4)) for _ in range(size)]
    changes = [data.draw(CHANCES) for _ in range(size - 1)]
    chain = OwnRates(rows, weights, changes, 0.2, 0.1)
    evidence, series = by_paths(rows, weights, changes, 0.2, 0.1)
    told = chain.smooth()
    assert chain.evidence == pytest.approx(evidence)
    for mine, truth in zip((told.bad, told.begins, told.ends), series, strict=True):
        assert mine == pytest.approx(truth)


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: SharedRate([0.5, 0.5], [0.5], [0.1], 0.1), "bad"),
        (lambda: SharedRate([0.5, 0.5], [0.5, 0.5], [], 0.1), "changes"),
        (lambda: OwnRates([(0.5, 0.5)] * 2, [1.0], [], 0.1, 0.1), "changes"),
        (lambda: OwnRates([(0.5, 0.5, 0.5)], [1.0], [], 0.1, 0.1), "a row"),
        (lambda: OwnRates([(0.5, 0.5)], [0.5, 0.5], [], 0.1, 0.1), "a rate"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_series_of_different_lengths_are_refused(call, what) -> None:
    """A likelihood too few would silently shift every release after it."""
    with pytest.raises(ValueError, match="argument"):
        call()
