"""Observations: facts only."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from tests.examples import observation

NAMES = st.sampled_from(["loss", "mae", "accuracy", "val_loss"])
NUMBERS = st.dictionaries(NAMES, st.floats())


def test_numbers_are_those_of_fit_and_below_them_those_of_evaluate():
    seen = observation({"loss": 1.0, "mae": 2.0}, evaluated={"loss": 3.0})
    assert list(seen.numbers.items()) == [("loss", 1.0), ("mae", 2.0), ("evaluate.loss", 3.0)]


@given(final=NUMBERS, evaluated=NUMBERS)
def test_no_number_hides_another(final, evaluated):
    """A metric of ``evaluate`` never stands in for the one of ``fit`` with the same name."""
    assert len(observation(final, evaluated=evaluated).numbers) == len(final) + len(evaluated)


@given(final=NUMBERS, evaluated=NUMBERS)
def test_nonfinite_numbers_are_nan_and_both_infinities(final, evaluated):
    """Each number is either finite or named, and none is both."""
    seen = observation(final, evaluated=evaluated)
    named = set(seen.nonfinite_numbers)
    assert named == {n for n, value in seen.numbers.items() if math.isnan(value) or math.isinf(value)}
