"""The answer of a grid: its cells, the border in each column, and what was not run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import ExitCode
from harness.domain.search.grid import borders, sides
from harness.domain.verdicts.verdict import Outcome


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One release of the package under test beside one version of the other package.

    Attributes:
        outcome: What running it gave; None: it was not run.
        side: Good or bad, run or taken over from equal cells of the column around it; None: neither can be said.
        symptoms: Those that showed.
        reason: Why it is bad, or cannot be tested.
    """

    outcome: Outcome | None = None
    side: Outcome | None = None
    symptoms: tuple[Symptom, ...] = ()
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Border:
    """Where the verdict changes within one column.

    Attributes:
        also: Version of the other package.
        last_before: Last release of the one side.
        first_after: First release of the other.
        becomes: What the other side is.
        untested: Releases between that cannot be tested.
    """

    also: str
    last_before: str
    first_after: str
    becomes: Outcome
    untested: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class GridFinding:
    """What a search of a grid found.

    Attributes:
        case: Name of the case.
        package: Distribution under test.
        also: Distribution of the other axis.
        releases: Versions under test, in order.
        versions: Versions of the other package, in order.
        columns: For each of these the cells, one per release.
        borders: Where the verdict changes, column by column.
        run: How many cells were run.
        left_out: How many of the others are said to be good or bad because the cells around them are.
        python: Version of the interpreter of each column; "" where nothing can be installed.
        reproduce: The command that asks the same again.
    """

    schema_version: int = 1
    case: str
    package: str
    also: str
    releases: tuple[str, ...]
    versions: tuple[str, ...]
    columns: tuple[tuple[Cell, ...], ...]
    borders: tuple[Border, ...]
    run: int
    left_out: int
    python: tuple[str, ...] = ()
    reproduce: str = ""

    @property
    def exit_code(self) -> ExitCode:
        """As of a search: answered, no symptom anywhere, one everywhere, or nothing that could be tested."""
        shown = {cell.outcome for column in self.columns for cell in column}
        match Outcome.GOOD in shown, Outcome.BAD in shown:
            case True, True:
                return ExitCode.ANSWERED
            case True, False:
                return ExitCode.NO_RELEASE
            case False, True:
                return ExitCode.EVERY_RELEASE
            case _:
                return ExitCode.INCONCLUSIVE

    @property
    def sentence(self) -> str:
        """What was found, and how much of the grid that rests on."""
        total = len(self.releases) * len(self.versions)
        found = {
            ExitCode.ANSWERED: "good and bad cells",
            ExitCode.NO_RELEASE: "no symptom in any cell that was run",
            ExitCode.EVERY_RELEASE: "bad in every cell that was run and could be tested",
        }.get(self.exit_code, "no cell could be tested")
        rest = (
            f"; {self.left_out} were not run and are taken to be as the nearest ones of their column"
            if self.left_out
            else ""
        )
        return f"{found}: {self.run} of {total} cells were run{rest}."


def cells_of(known: Sequence[Cell]) -> tuple[Cell, ...]:
    """The cells of a column with what can be taken over for those that were not run."""
    taken = sides([cell.outcome for cell in known])
    return tuple(
        Cell(outcome=cell.outcome, side=side, symptoms=cell.symptoms, reason=cell.reason)
        for cell, side in zip(known, taken, strict=True)
    )


def borders_of(also: str, releases: Sequence[str], known: Sequence[Cell]) -> tuple[Border, ...]:
    """The borders of a column."""
    outcomes = [cell.outcome for cell in known]
    return tuple(
        Border(
            also=also,
            last_before=releases[low],
            first_after=releases[high],
            becomes=Outcome.BAD if outcomes[high] is Outcome.BAD else Outcome.GOOD,
            untested=tuple(releases[low + 1 : high]),
        )
        for low, high in borders(outcomes)
    )
