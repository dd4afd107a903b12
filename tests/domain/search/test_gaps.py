"""Where to look into what nobody has tried."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.domain.search.gaps import Stretches, middles, next_outermost


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


class TestNextOutermost:
    @staticmethod
    def search(order: list[int], working: set[int]) -> tuple[int | None, int]:
        """The first place that was found to work, and after how many tries."""
        known: dict[int, bool] = {}
        while (place := next_outermost(order, known)) is not None:
            assert place not in known
            known[place] = place in working
        return next((place for place in order if known.get(place)), None), len(known)

    @given(st.integers(1, 300), st.integers(0, 299), st.booleans())
    def test_the_border_of_a_broken_end_is_found_in_few_tries(self, count: int, broken: int, backwards: bool) -> None:
        """Whatever lies behind the border works: it is found with two logarithms of tries, if a stride reaches it."""
        order = list(range(count))[:: -1 if backwards else 1]
        found, tries = self.search(order, set(order[broken:]))
        assert tries <= 2 * count.bit_length()
        reached = (1 << count.bit_length() - 1) - 1
        assert found == (order[broken] if broken <= reached else None)

    @given(st.sets(st.integers(0, 60)), st.integers(0, 61))
    def test_the_place_before_the_one_that_is_found_is_broken(self, working: set[int], count: int) -> None:
        """Broken places that are scattered may hide an earlier one, but never the neighbour."""
        found, _ = self.search(list(range(count)), working)
        assert found is None or (found in working and found - 1 not in working)

    def test_nothing_is_tried_where_there_is_nothing(self) -> None:
        assert next_outermost([], {}) is None


def test_a_place_is_taken_out_once():
    stretches = Stretches.of([1, 2, 3])
    stretches.remove(2)
    assert (len(stretches), 2 in stretches) == (2, False)
    with pytest.raises(KeyError):
        stretches.remove(2)
