"""The exit code of a list of grades."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.domain.fixes.grades import FixExit, Grade, exit_code


@pytest.mark.parametrize(
    ("grades", "expected"),
    [
        ([Grade.PROVEN, Grade.BREAKS, Grade.MASKS], FixExit.BREAKS),
        ([Grade.PROVEN, Grade.MASKS, Grade.NO_EFFECT], FixExit.NOT_RIGHT),
        ([Grade.PROVEN, Grade.NO_EFFECT], FixExit.NO_CURE),
        ([Grade.ABSENT, Grade.PROVEN, Grade.NOT_REPRODUCED], FixExit.PROVEN),
        ([Grade.ABSENT, Grade.NOT_REPRODUCED, Grade.INCONCLUSIVE], FixExit.INCONCLUSIVE),
        ([], FixExit.INCONCLUSIVE),
    ],
)
def test_the_exit_code_is_that_of_the_worst(grades, expected):
    assert exit_code(grades) is expected


@given(st.lists(st.sampled_from(Grade)))
def test_zero_means_that_something_was_proven_and_nothing_speaks_against_it(grades):
    if exit_code(grades) == 0:
        assert Grade.PROVEN in grades
        assert not {Grade.BREAKS, Grade.MASKS, Grade.NO_EFFECT} & set(grades)
