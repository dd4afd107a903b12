"""The answer of a grid says what was found, and what it does not rest on."""

from __future__ import annotations

import pytest

from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import ExitCode
from harness.domain.search.matrix import Border, Cell, GridFinding, borders_of, cells_of
from harness.domain.verdicts.verdict import Outcome

GOOD, BAD, SKIP = (Cell(outcome=outcome) for outcome in (Outcome.GOOD, Outcome.BAD, Outcome.SKIP))
RELEASES = ("1", "2", "3", "4")


def finding(*cells: Cell, left_out: int = 0) -> GridFinding:
    return GridFinding(
        case="toy",
        package="toykeras",
        also="toynumpy",
        releases=tuple(str(n) for n in range(len(cells))),
        versions=("1.0",),
        columns=(cells,),
        borders=(),
        run=sum(cell.outcome is not None for cell in cells),
        left_out=left_out,
    )


@pytest.mark.parametrize(
    ("cells", "code", "sentence"),
    [
        ((GOOD, BAD), ExitCode.ANSWERED, "good and bad cells: 2 of 2 cells were run."),
        ((GOOD, SKIP), ExitCode.NO_RELEASE, "no symptom in any cell that was run: 2 of 2 cells were run."),
        ((BAD, BAD), ExitCode.EVERY_RELEASE, "bad in every cell that was run and could be tested: 2 of 2 cells were run."),
        ((SKIP, Cell()), ExitCode.INCONCLUSIVE, "no cell could be tested: 1 of 2 cells were run."),
    ],
)  # fmt: skip
def test_the_answer_is_that_of_a_search_over_all_cells(cells, code, sentence):
    assert (finding(*cells).exit_code, finding(*cells).sentence) == (code, sentence)


def test_what_was_not_run_is_counted_and_said():
    told = finding(GOOD, Cell(), GOOD, left_out=1).sentence
    assert told.endswith(
        "2 of 3 cells were run; 1 were not run and are taken to be as the nearest ones of their column."
    )


def test_a_border_names_both_sides_and_what_cannot_be_tested_between():
    assert borders_of("1.0", RELEASES, [GOOD, SKIP, BAD, GOOD]) == (
        Border(also="1.0", last_before="1", first_after="3", becomes=Outcome.BAD, untested=("2",)),
        Border(also="1.0", last_before="3", first_after="4", becomes=Outcome.GOOD),
    )


def test_a_cell_that_was_not_run_takes_its_side_over_and_stays_not_run():
    shown = Cell(outcome=Outcome.BAD, symptoms=(Symptom.EXCEPTION,), reason="planted")
    taken = cells_of([shown, Cell(), shown, SKIP])
    assert [cell.side for cell in taken] == [Outcome.BAD, Outcome.BAD, Outcome.BAD, None]
    assert taken[1].outcome is None
    assert (taken[0].symptoms, taken[0].reason) == ((Symptom.EXCEPTION,), "planted")
