"""Delta debugging against a brute-force oracle: every subset of a few changes has a random outcome."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from harness.domain.search.delta import Effect, Minimal, minimize

MOST = 6
OTHERS = st.sampled_from([Effect.FLIPS, Effect.KEEPS, Effect.KEEPS, Effect.UNRESOLVED, Effect.UNRESOLVED])


def subsets(changes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    for size in range(len(changes) + 1):
        yield from combinations(changes, size)


@st.composite
def outcomes(draw: st.DrawFn) -> dict[tuple[int, ...], Effect]:
    """What each subset does: all together flip the verdict, none of them keeps it, the rest is anything."""
    changes = tuple(range(draw(st.integers(1, MOST))))
    table = {some: draw(OTHERS) for some in subsets(changes)}
    return {**table, (): Effect.KEEPS, changes: Effect.FLIPS}


def whole(table: dict[tuple[int, ...], Effect]) -> tuple[int, ...]:
    return max(table, key=len)


def one_minimal(table: dict[tuple[int, ...], Effect]) -> set[tuple[int, ...]]:
    """By brute force: the sets that flip the verdict, and of which no single change can be left out."""
    return {
        some
        for some, effect in table.items()
        if effect is Effect.FLIPS
        and all(table[tuple(c for c in some if c != left)] is not Effect.FLIPS for left in some)
    }


class TestMinimize:
    """What is left flips the verdict, and without any one of its changes it does not: ddmin's 1-minimality."""

    @given(outcomes())
    def test_it_finds_one_of_the_minimal_sets_whatever_is_unresolved(self, table: dict[tuple[int, ...], Effect]):
        found = minimize(whole(table), lambda some: table[tuple(some)])
        assert found.complete
        assert found.changes in one_minimal(table)

    @given(st.sets(st.integers(0, 9), min_size=1), st.integers(0, 4))
    def test_where_some_changes_are_needed_together_it_finds_these(self, needed: set[int], more: int):
        changes = range(10 + more)
        found = minimize(changes, lambda some: Effect.FLIPS if needed <= set(some) else Effect.KEEPS)
        assert found == Minimal(changes=tuple(sorted(needed)), complete=True)

    @given(outcomes(), st.integers(0, 12))
    def test_a_spent_budget_leaves_a_set_that_flips_and_says_so(
        self, table: dict[tuple[int, ...], Effect], budget: int
    ):
        asked: list[tuple[int, ...]] = []

        def test(some: Sequence[int]) -> Effect | None:
            if len(asked) == budget:
                return None
            asked.append(tuple(some))
            return table[tuple(some)]

        found = minimize(whole(table), test)
        assert table[found.changes] is Effect.FLIPS
        assert len(asked) <= budget
        if found.complete:
            assert found.changes in one_minimal(table)

    def test_a_single_cause_among_many_is_found_by_halves(self):
        asked: list[tuple[int, ...]] = []

        def test(some: Sequence[int]) -> Effect:
            asked.append(tuple(some))
            return Effect.FLIPS if 700 in some else Effect.KEEPS

        assert minimize(range(1024), test).changes == (700,)
        assert len(asked) <= 20

    def test_one_change_and_none_are_minimal_and_nothing_is_asked(self):
        assert minimize(["one"], lambda _: None) == Minimal(changes=("one",), complete=True)
        assert minimize([], lambda _: None) == Minimal(changes=(), complete=True)
