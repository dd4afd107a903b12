"""Two axes: where the border between good and bad runs through a grid, without running every cell.

A column holds the releases of the package under test beside one version of the other package. The first column is
bisected; each next one starts at the border of the column before it, and follows where that has moved:

    good good good good        the four corners are run, and both sides of each border;
    good good  --  BAD         what lies between two equal cells of a column is taken over from them, not run
     --  BAD  BAD   --
    BAD   --   --  BAD
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from harness.domain.search.gaps import middles
from harness.domain.verdicts.verdict import Outcome

Column = Sequence["Outcome | None"]
"""What is known of the rows of one column; None: not run."""


def next_rows(
    column: Column, neighbour: Column = (), *, ends: bool = False, max_gap: int | None = None
) -> tuple[int, ...]:
    """The rows of a column to run next.

    Args:
        column: What is known of it.
        neighbour: The column before it, searched to its end; empty: there is none.
        ends: Run both ends, also where the border of the neighbour says where to look.
        max_gap: Longest stretch of rows that may stay unrun between two equal ones; None: any.

    Returns:
        Rows that are not run yet and do not wait for one another; none when the column is searched to its end.
    """
    near = borders(neighbour)
    starts = [place for low, high in near for place in (_first(column, low, -1), _first(column, high, 1))]
    if ends or not near:
        starts += [_first(column, 0, 1), _first(column, len(column) - 1, -1)]
    moved = [row for border in near if (row := _followed(column, neighbour, border)) is not None]
    for wanted in (starts, [*_halves(column), *moved]):
        if unknown := _unknown(column, wanted):
            return unknown
    if max_gap is None:
        return ()
    return tuple(middles((row for row, cell in enumerate(column) if cell is None), max_gap))


def borders(column: Column) -> list[tuple[int, int]]:
    """Pairs of tested rows that follow each other and differ; between them lies nothing that could be tested."""
    return [(low, high) for low, high in pairwise(_tested(column)) if column[low] is not column[high]]


def sides(column: Column) -> list[Outcome | None]:
    """The column with what was not run taken over from its neighbours in the column, where these agree.

    A cell that could not be tested, and one that nothing is known about, is None.
    """
    tested = _tested(column)
    found: list[Outcome | None] = []
    for row, cell in enumerate(column):
        below = next((column[place] for place in reversed(tested) if place <= row), None)
        above = next((column[place] for place in tested if place >= row), None)
        agreed = (below or above) if below is above or None in (below, above) else None
        found.append(None if cell is Outcome.SKIP else agreed)
    return found


def _tested(column: Column) -> list[int]:
    return [row for row, cell in enumerate(column) if cell in (Outcome.GOOD, Outcome.BAD)]


def _unknown(column: Column, rows: Iterable[int | None]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(row for row in rows if row is not None and column[row] is None))


def _first(column: Column, start: int, step: int) -> int | None:
    """The first row from `start` on that could be tested as far as is known; None: there is none."""
    rows = range(start, len(column) if step > 0 else -1, step)
    return next((row for row in rows if column[row] is not Outcome.SKIP), None)


def _halves(column: Column) -> list[int]:
    """The middle of what is not run between two tested rows that differ, for each such pair."""
    return [middle for low, high in borders(column) for middle in _middle(column, range(low + 1, high))]


def _middle(column: Column, rows: range) -> list[int]:
    open_rows = [row for row in rows if column[row] is None]
    return open_rows[len(open_rows) // 2 :][:1]


def _followed(column: Column, neighbour: Column, border: tuple[int, int]) -> int | None:
    """Where to look for a border that the neighbour has and this column has not: strides double, away from it."""
    low, high = (_first(column, border[0], -1), _first(column, border[1], 1))
    shown = {column[row] for row in (low, high) if row is not None}
    if len(shown) != 1 or None in shown:
        return None  # the border is where it was, or its two sides are not both known yet
    upwards = neighbour[border[0]] in shown
    start, step = (border[1], 1) if upwards else (border[0], -1)
    return _stride(column, start, step, lambda row: column[row] in shown)


def _stride(column: Column, start: int, step: int, same: Callable[[int], bool]) -> int | None:
    """The next row of doubling strides from `start`; None once a row that differs, or the end, is reached."""
    rows = range(start, len(column) if step > 0 else -1, step)
    tested = [at for at, row in enumerate(rows) if column[row] in (Outcome.GOOD, Outcome.BAD)]
    if any(not same(rows[at]) for at in tested):
        return None
    reach = 2 * max(tested, default=0) + 1
    beyond = range(max(tested, default=0) + 1, len(rows))
    open_rows = [at for at in beyond if column[rows[at]] is None]
    return next((rows[at] for at in open_rows if at >= reach), rows[open_rows[-1]] if open_rows else None)
