"""Two observations of one trial, beside each other."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from harness.domain.trials.observation import EndingKind, Stage
from harness.domain.trials.reproduction import pairs
from tests.examples import ending, observation, script

NUMBERS = st.dictionaries(st.sampled_from(["loss", "mae", "accuracy"]), st.floats(allow_infinity=False), max_size=3)


@given(NUMBERS)
def test_the_same_trial_gives_the_same_pairs(final: dict[str, float]) -> None:
    """NaN is the same number here as before, though it is not equal to itself."""
    assert all(before == after for _, before, after in pairs(observation(final), observation(dict(final))))


@given(NUMBERS, NUMBERS)
def test_every_number_of_either_has_a_pair_and_each_has_one(was: dict[str, float], now: dict[str, float]) -> None:
    """What only one of them has is a difference, not something to leave out."""
    first, second = observation(was), observation(now)
    names = [name for name, _, _ in pairs(first, second)]
    assert names[0] == "ended"
    assert sorted(names[1:]) == sorted({*first.numbers, *second.numbers})
    for name, before, after in pairs(first, second)[1:]:
        assert (before == "-") is (name not in first.numbers)
        assert (after == "-") is (name not in second.numbers)


def test_numbers_are_told_to_six_digits() -> None:
    made = pairs(observation({"loss": 0.12345678}), observation({"loss": 0.12345699}))
    assert ("loss", "0.123457", "0.123457") in made
    assert ("loss", "0.123457", "0.12346") in pairs(observation({"loss": 0.1234567}), observation({"loss": 0.12346}))


def test_nan_is_written_as_everywhere() -> None:
    made = pairs(observation({"loss": math.nan}), observation({"loss": 0.5}))
    assert ("loss", "NaN", "0.5") in made


def test_both_endings_come_first() -> None:
    raised = observation({}, weights=None, ending=ending(EndingKind.RAISED, Stage.TRAIN))
    assert pairs(observation(), raised)[0] == ("ended", "finished", "raised")
    assert pairs(script(0), script(0)) == [("ended", "exited", "exited")]
