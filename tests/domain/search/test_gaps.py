"""Where to look into what nobody has tried."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.domain.search.gaps import middles


@pytest.mark.parametrize(
    ("places", "limit", "order"),
    [
        ([], 0, []),
        ([4], 0, [4]),
        ([4], 1, []),
        ([0, 1, 2, 3, 4, 5, 6], 0, [3, 1, 5, 0, 2, 4, 6]),
        ([0, 1, 2, 3, 4, 5, 6], 2, [3, 1, 5]),
        ([0, 1, 2, 3, 4, 5, 6], 3, [3]),
        ([0, 1, 2, 3], 0, [2, 1, 0, 3]),
        ([0, 1, 3, 4, 5, 9], 0, [4, 1, 0, 3, 5, 9]),
        ([0, 1, 3, 4], 1, [1, 4]),
    ],
)
def test_the_middle_of_the_longest_stretch_comes_first_and_of_equals_the_earliest(places, limit, order):
    assert list(middles(places, limit)) == order


@given(st.sets(st.integers(0, 60)), st.integers(0, 6))
def test_no_stretch_longer_than_the_limit_is_left_and_each_place_comes_once(places, limit):
    told = list(middles(sorted(places), limit))
    assert len(set(told)) == len(told)
    left = places - set(told)
    assert not any(all(place + n in left for n in range(limit + 1)) for place in left)
