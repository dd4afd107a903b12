"""How far one set of companions is pinned over a timeline, with a resolver that is a table."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.adapters.environments.pinning import Lock, PinnedSet, least_moved, over_all, over_most, reference_set
from harness.adapters.environments.resolver import Unsatisfiable
from tests.small_indexes import Chosen, SmallIndex, holding, needless, resolve, small_indexes


class Table:
    """Each release takes the companion's versions in its row, the newest first; an empty row resolves with none."""

    def __init__(self, *rows: str) -> None:
        self.rows = rows
        self.asked: Counter[tuple[int, tuple[str, ...]]] = Counter()

    def __call__(self, place: int, pins: tuple[str, ...]) -> tuple[str, ...]:
        self.asked[place, pins] += 1
        pinned = [pin.removeprefix("np==") for pin in pins]
        for version in self.rows[place]:
            if not pinned or version in pinned:
                return (f"np=={version}",)
        raise Unsatisfiable(f"release {place} takes {self.rows[place] or 'nothing'}")


def most(*rows: str) -> PinnedSet:
    return over_most(len(rows), Table(*rows))


def test_the_set_of_one_end_is_held_when_the_other_takes_it() -> None:
    assert over_all(3, Table("1", "21", "21")) == PinnedSet(lock=("np==1",), first=0, last=2)
    assert over_all(3, Table("21", "1", "1")) == PinnedSet(lock=("np==1",), first=0, last=2)
    with pytest.raises(Unsatisfiable):
        over_all(3, Table("1", "21", "2"))


@pytest.mark.parametrize(
    ("rows", "first", "last"),
    [
        (("", "1", "1"), 1, 2),
        (("1", "1", ""), 0, 1),
        (("", "", "1", "", "1", "", "", ""), 2, 4),
        (("", "1", ""), 1, 1),
        (("1", "1", "1", "2"), 0, 2),
        (("1", "2", "2", "2"), 1, 3),
        (("1", "2"), 1, 1),
    ],
)
def test_ends_that_do_not_resolve_are_left_behind_and_the_longer_side_of_a_seam_is_held(rows, first, last) -> None:
    pinned = most(*rows)
    assert (pinned.first, pinned.last) == (first, last)


def test_where_nothing_resolves_that_is_said() -> None:
    with pytest.raises(Unsatisfiable, match="release 2 takes nothing"):
        most("", "", "")


@given(st.lists(st.sampled_from(["", "1", "2", "21", "12"]), min_size=1, max_size=12))
def test_both_ends_of_what_is_held_take_the_set(rows: list[str]) -> None:
    """Whatever the timeline: an answer where any release resolves, and it is no guess."""
    if not any(rows):
        with pytest.raises(Unsatisfiable):
            most(*rows)
        return
    pinned = most(*rows)
    table = Table(*rows)
    assert table(pinned.first, pinned.lock) == table(pinned.last, pinned.lock) == pinned.lock


def test_a_long_broken_end_costs_a_few_looks() -> None:
    """A thousand nightlies are not resolved one by one to find the first that can be had."""
    table = Table(*[""] * 700, *["1"] * 300)
    pinned = over_most(1000, table)
    assert (pinned.first, pinned.last) == (700, 999)
    assert table.asked.total() < 100


def chosen_in(lock: Lock) -> dict[str, int]:
    return {name: int(version) for name, version in (line.split("==") for line in lock)}


def locked(chosen: Chosen) -> Lock:
    return tuple(f"{name}=={version}" for name, version in sorted(chosen.items()))


def reference_of(index: SmallIndex) -> PinnedSet:
    def one(place: int, pins: Lock) -> Lock:
        return locked(resolve(index, place, chosen_in(pins), {}))

    return reference_set(len(index.releases), one, index.named)


def moved_least(index: SmallIndex, place: int, reference: Lock) -> Lock:
    def one(pins: Lock, liked: Lock) -> Lock:
        return locked(resolve(index, place, chosen_in(pins), chosen_in(liked)))

    return least_moved(reference, index.named, one, one)


@given(small_indexes())
def test_nothing_moves_that_need_not(index: SmallIndex) -> None:
    """Of what stands elsewhere than in the reference, nothing could have stayed; what resolves at all is resolved."""
    try:
        reference = reference_of(index).lock
    except Unsatisfiable:
        return
    for place in range(len(index.releases)):
        if not any(True for _ in index.solutions(place)):
            with pytest.raises(Unsatisfiable):
                moved_least(index, place, reference)
            continue
        chosen = chosen_in(moved_least(index, place, reference))
        assert needless(index, place, chosen, chosen_in(reference)) == []


@given(small_indexes())
def test_what_is_named_stays_where_any_set_lets_it(index: SmallIndex) -> None:
    """The named companions are where the reference has them, unless no set has all of them there."""
    try:
        reference = reference_of(index).lock
    except Unsatisfiable:
        return
    held = {name: version for name, version in chosen_in(reference).items() if name in index.named}
    for place in range(len(index.releases)):
        if any(holding(one, held) for one in index.solutions(place)):
            assert holding(chosen_in(moved_least(index, place, reference)), held)


@given(small_indexes())
def test_a_reference_is_found_exactly_where_both_ends_resolve(index: SmallIndex) -> None:
    ends = (0, len(index.releases) - 1)
    if all(any(True for _ in index.solutions(place)) for place in ends):
        assert reference_of(index) == reference_of(index)
    else:
        with pytest.raises(Unsatisfiable):
            reference_of(index)


def test_named_companions_that_both_ends_take_are_held_before_the_others() -> None:
    """The newest `a` fits one end alone; an older one fits both, although `b` must move with the release."""
    index = SmallIndex(
        releases=({"a": (1, 2), "b": (1, 1)}, {"a": (1, 3), "b": (2, 3)}), companions={}, named={"a": (1, 3)}
    )
    reference = reference_of(index).lock
    assert chosen_in(reference)["a"] == 2
    assert [chosen_in(moved_least(index, place, reference))["a"] for place in (0, 1)] == [2, 2]
