"""The border through a grid: found as in the full matrix, with few of its cells."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.domain.search.grid import borders, next_rows, sides
from harness.domain.verdicts.verdict import Outcome

Cells = list[Outcome | None]
WORDS: dict[str, Outcome | None] = {"g": Outcome.GOOD, "b": Outcome.BAD, "s": Outcome.SKIP, "-": None}


def cells(text: str) -> Cells:
    return [WORDS[letter] for letter in text]


def searched(matrix: Sequence[Sequence[Outcome | None]], max_gap: int | None = None) -> list[Cells]:
    """The columns as a search leaves them that may look cells up in the full matrix; every cell is run once."""
    found: list[Cells] = []
    before: Cells = []
    for place, truth in enumerate(matrix):
        column: Cells = [None] * len(truth)
        ends = place in (0, len(matrix) - 1)
        while rows := next_rows(column, before, ends=ends, max_gap=max_gap):
            for row in rows:
                assert column[row] is None
                column[row] = truth[row]
        found.append(column)
        before = column if any(cell in (Outcome.GOOD, Outcome.BAD) for cell in column) else before
    return found


def run(columns: Sequence[Cells]) -> int:
    return sum(cell is not None for column in columns for cell in column)


@st.composite
def monotone(draw: st.DrawFn, least: tuple[int, int] = (1, 1), skips: bool = False) -> list[Cells]:
    """Columns of one length whose border moves one way only, or is not there; with cells that cannot be tested."""
    rows = draw(st.integers(least[0], 30))
    count = draw(st.integers(least[1], 10))
    places = sorted(draw(st.lists(st.integers(0, rows), min_size=count, max_size=count)), reverse=draw(st.booleans()))
    columns: list[Cells] = [[*([Outcome.GOOD] * place), *([Outcome.BAD] * (rows - place))] for place in places]
    spoilt = draw(st.sets(st.integers(0, rows * count - 1), max_size=rows * count)) if skips else set()
    for cell in spoilt:
        columns[cell // rows][cell % rows] = Outcome.SKIP
    return columns


class TestWholeSearch:
    @given(monotone())
    def test_what_is_taken_over_is_what_the_full_matrix_says(self, matrix):
        """A border that moves one way through the grid is found in each column, whatever was not run."""
        assert [sides(column) for column in searched(matrix)] == matrix

    @given(monotone(least=(16, 6)))
    def test_a_third_of_the_cells_is_enough_on_grids_that_are_worth_it(self, matrix):
        assert run(searched(matrix)) <= len(matrix) * len(matrix[0]) / 3

    @given(monotone(skips=True))
    def test_untestable_cells_bend_nothing(self, matrix):
        """Each cell that is said to be good or bad is so, and each border lies where the full matrix has it."""
        for truth, column in zip(matrix, searched(matrix), strict=True):
            for real, side in zip(truth, sides(column), strict=True):
                assert side in (None, real) or real is Outcome.SKIP
            assert borders(column) == borders(truth)

    @given(st.lists(st.text("gbs", min_size=7, max_size=7), min_size=1, max_size=5))
    def test_without_gaps_any_matrix_is_run_whole(self, matrix):
        """Islands are found only by running what lies between equal cells; with a gap of 0 that is every cell."""
        wanted = [cells(text) for text in matrix]
        assert searched(wanted, max_gap=0) == wanted

    @given(st.lists(st.text("gbs", min_size=9, max_size=9), min_size=1, max_size=5), st.integers(0, 4))
    def test_no_gap_is_longer_than_asked_and_the_search_ends(self, matrix, max_gap):
        for column in searched([cells(text) for text in matrix], max_gap=max_gap):
            assert not any(column[start : start + max_gap + 1] == [None] * (max_gap + 1) for start in range(9))

    @given(st.lists(st.text("gbs", min_size=8, max_size=8), min_size=1, max_size=5))
    def test_each_border_that_is_told_has_nothing_unrun_between_its_sides(self, matrix):
        for column in searched([cells(text) for text in matrix]):
            assert all(None not in column[low:high] for low, high in borders(column))


@pytest.mark.parametrize(
    ("column", "neighbour", "rows"),
    [
        ("-------", "", (0, 6)),  # the first column: its ends
        ("g-----b", "", (3,)),
        ("gsss--b", "", (5,)),  # away from what cannot be tested
        ("g-----g", "", ()),  # equal ends: not run between
        ("s-----s", "", (1, 5)),
        ("sssssss", "", ()),
        ("-------", "g-ggb-b", (3, 4)),  # both sides of the neighbour's border
        ("---gb--", "g-ggb-b", ()),
        ("---sb--", "g-ggb-b", (2,)),
        ("---gg--", "g-ggb-b", (5,)),  # it moved up
        ("---ggg-", "g-ggb-b", (6,)),
        ("---gggb", "g-ggb-b", ()),
        ("---gggg", "g-ggb-b", ()),  # out of the column
        ("---gggs", "g-ggb-b", ()),
        ("---bb--", "g-ggb-b", (2,)),  # it moved down
        ("-gbbb--", "g-ggb-b", ()),
        ("---bb--", "ssbbggs", (5,)),  # a recovery that moved up
        ("---gs--", "g-ggb-b", (5,)),
        ("sssss--", "g-ggb-b", (5,)),
        ("-------", "ggggggg", (0, 6)),  # a neighbour without a border says nothing
    ],
)
def test_where_to_look_next(column, neighbour, rows):
    assert next_rows(cells(column), cells(neighbour)) == rows


@pytest.mark.parametrize(
    ("column", "taken_over"),
    [
        ("g--g-bb", "gggg-bb"),
        ("-g-s-b-", "gg-----"[:2] + "---bb"),
        ("--s----", "-------"),
        ("--s--g-", "gg-gggg"),
    ],
)
def test_what_was_not_run_is_taken_over_only_where_both_sides_agree(column, taken_over):
    assert sides(cells(column)) == cells(taken_over)
