"""Search a grid of two packages column by column; each column is the run of a bisection beside one version."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

from harness.domain.cases import parameters
from harness.domain.cases.case import Case
from harness.domain.cases.sought import looking_for
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import InfrastructureError, Interrupted, UsageError
from harness.domain.findings import assemble
from harness.domain.search.grid import Column, next_rows
from harness.domain.search.history import ReleaseState
from harness.domain.search.matrix import Cell, GridFinding, borders_of, cells_of
from harness.domain.trials.entry import Entry
from harness.domain.verdicts.read_rules import needs_baseline
from harness.domain.verdicts.verdict import Outcome
from harness.jobs import rerun
from harness.jobs.events import Event, EventKind, Listener
from harness.jobs.executor import Attempt, Runner, Work, drive
from harness.jobs.preparation import (
    REPORTS,
    check_place,
    open_run,
    page_of,
    read_case,
    say_assumed,
    timeline_of,
    warn,
    with_changes,
    with_reference,
)
from harness.jobs.protocols import Journal, RunJournal, Services
from harness.jobs.requests import GridRequest, RangeRequest
from harness.jobs.timeline_search import SearchRequest, check_runs_here, prepare


@dataclass(frozen=True, kw_only=True)
class _Searched:
    """A column that was searched to its end.

    Attributes:
        cells: One per release.
        python: Version of its interpreter; "" where nothing can be installed.
    """

    cells: tuple[Cell, ...]
    python: str = ""

    @property
    def outcomes(self) -> Column:
        """What each cell gave."""
        return [cell.outcome for cell in self.cells]


@dataclass(frozen=True, kw_only=True)
class _Grid:
    """What stays the same from column to column."""

    services: Services
    request: GridRequest
    case: Case
    listener: Listener
    folder: Path
    releases: tuple[str, ...]


def search_grid(services: Services, request: GridRequest, listener: Listener) -> tuple[GridFinding, Path]:
    """Find where the border between good and bad runs through a grid.

    Returns:
        The finding, and the folder that holds a run per column.

    Raises:
        UsageError: the question cannot be asked in this way.
        InfrastructureError: machine, index or disk failed; what is finished is kept.
        Interrupted: the user stopped it; what is finished is kept.
    """
    case = _case(services, request)
    say_assumed(listener, case)
    check_place(services, request)
    timeline = timeline_of(page_of(services, case.package, listener), case, request)
    versions = _versions(services, request, listener)
    folder = request.resume or request.output or _unused(services, case)
    grid = _Grid(
        services=services, request=request, case=case, listener=listener, folder=folder, releases=timeline.versions
    )
    command = rerun.of_grid(services.cases.callable_as(case), request, timeline.ends, (versions[0], versions[-1]))
    columns: list[_Searched] = []
    with _resumable(grid, command):
        for place, version in enumerate(versions):
            told = [column.outcomes for column in columns if {Outcome.GOOD, Outcome.BAD} & set(column.outcomes)]
            ends = place in (0, len(versions) - 1)
            columns.append(_searched(grid, version, told[-1] if told else (), ends=ends))
    return _finding(grid, versions, columns, command), folder


def _case(services: Services, request: GridRequest) -> Case:
    case = read_case(services, request.case, request, package=request.package)
    case = with_changes(case, replicas=request.replicas, repeats=request.repeats)
    case = looking_for(case, request.sought, request.symptoms)
    parameters.parse(case, request.settings)
    if needs_baseline(case):
        raise UsageError(
            f"the case {case.name} compares with another release, and that one is good beside one version only",
            where="CASE",
            hint="say what the value should be: --equals VALUE",
        )
    return case


def _versions(services: Services, request: GridRequest, listener: Listener) -> tuple[str, ...]:
    """The versions of the other package, in order."""
    wanted = RangeRequest(first=request.also_first, last=request.also_last)
    return timeline_of(page_of(services, request.also, listener), None, wanted).versions


def _unused(services: Services, case: Case) -> Path:
    stamp = datetime.now(timezone.utc).strftime("%Y%m%d-%H%M%S")
    return services.runs.unused(REPORTS / f"grid-{case.name}-{stamp}")


@contextmanager
def _resumable(grid: _Grid, command: str) -> Iterator[None]:
    """Say how to go on with the whole grid; raises as `harness.jobs.executor.resumable`."""
    resume = f"{command} --resume {shlex.quote(str(grid.folder))}"
    try:
        yield
    except (KeyboardInterrupt, Interrupted):
        runs = grid.services.runs
        finished = sum(len(runs.read(folder)[1]) for folder in runs.below(grid.folder))
        raise Interrupted(finished=finished, resume=resume) from None
    except InfrastructureError as error:
        error.hint = f"{(error.hint or 'mend it').partition('; then resume')[0]}; then resume with: {resume}"
        raise


def _searched(grid: _Grid, version: str, neighbour: Column, *, ends: bool) -> _Searched:
    """Search one column; one beside which nothing can be installed is skip from end to end."""
    services, request = grid.services, grid.request.column(version, grid.folder)
    case, listener = grid.case, grid.listener
    listener.notify(Event(kind=EventKind.MESSAGE, detail=f"harness: beside {grid.request.also} {version}"))
    try:
        plan = prepare(services, case, request, listener)
    except UsageError as refusal:
        warn(listener, f"{grid.request.also} {version}: {refusal.what}")
        return _Searched(cells=(Cell(outcome=Outcome.SKIP, reason=refusal.what),) * len(grid.releases))
    header = plan.header(services, rerun.of_bisect(services.cases.callable_as(case), request, plan.question))
    there = request.output if request.output in services.runs.below(grid.folder) else None
    with open_run(services, header, replace(request, resume=there)) as journal:
        wanted = SearchRequest(case=case, timeline=plan.timeline, policy=plan.policy, variant=plan.question.variant)
        runner = Runner(
            pool=services.pool(request.jobs),
            room=request.jobs,
            environments=services.environments(plan.companions, listener),
            trials=services.trials(fresh=request.fresh, jobs=request.jobs),
            listener=listener,
        )
        with runner.pool:
            cells = _run_column(grid, wanted, runner, journal, (neighbour, ends))
    return _Searched(cells=cells, python=plan.companions.interpreter.version)


def _run_column(
    grid: _Grid, wanted: SearchRequest, runner: Runner, journal: RunJournal, near: tuple[Column, bool]
) -> tuple[Cell, ...]:
    """Run what the search asks for in one column; returns its cells."""
    neighbour, ends = near

    def choose(running: Sequence[int], room: int) -> list[int]:
        outcomes = [cell.outcome for cell in _cells(wanted, journal)]
        rows = next_rows(outcomes, neighbour, ends=ends, max_gap=grid.request.max_gap)
        return [row for row in rows if row not in running][:room]

    def done(row: int) -> None:
        cell = _cells(wanted, journal)[row]
        detail = ", ".join(symptom.value for symptom in cell.symptoms) or cell.reason
        kind = EventKind((cell.outcome or Outcome.SKIP).value)
        runner.listener.notify(Event(kind=kind, release=grid.releases[row], detail=detail))

    def check(entries: Sequence[Entry]) -> object:
        """A script that aborts, or that does not run here at all, is not recorded: resuming tries it again."""
        check_runs_here(wanted, journal.entries(), entries)
        return assemble.row(wanted.case, entries, wanted.variant)

    work = Work(choose=choose, attempt=lambda row: _attempt(wanted, row), check=check, done=done)
    runner.listener.notify(Event(kind=EventKind.BEGIN, left=len(grid.releases)))
    try:
        drive(work, runner, journal)
    finally:
        runner.listener.notify(Event(kind=EventKind.END))
    return _cells(wanted, journal)


def _attempt(wanted: SearchRequest, row: int) -> Attempt:
    return Attempt(
        case=wanted.case,
        release=wanted.timeline.releases[row],
        variants=with_reference(wanted.case, wanted.variant),
        repeats=tuple(range(wanted.policy.repeats)),
        why="grid",
    )


def _cells(wanted: SearchRequest, journal: Journal) -> tuple[Cell, ...]:
    """What the journal of a column says of each of its releases."""
    folded = assemble.Folded(wanted.case, wanted.timeline, wanted.variant)
    folded.take(journal.entries())
    return tuple(_cell(state, wanted.policy.symptoms) for state in folded.states)


def _cell(state: ReleaseState, symptoms: Sequence[Symptom]) -> Cell:
    voted = {symptom: verdict for symptom in Symptom if (verdict := state.verdict(symptom)) is not None}
    verdicts = assemble.answering(voted, symptoms)
    return Cell(
        outcome=assemble.overall(state, verdicts),
        symptoms=assemble.shown(verdicts),
        reason=assemble.why(state, verdicts),
    )


def _finding(grid: _Grid, versions: Sequence[str], columns: Sequence[_Searched], command: str) -> GridFinding:
    taken = tuple(cells_of(column.cells) for column in columns)
    cells = [cell for column in taken for cell in column]
    told = zip(versions, columns, strict=True)
    return GridFinding(
        case=grid.case.name,
        package=grid.case.package,
        also=grid.request.also,
        releases=grid.releases,
        versions=tuple(versions),
        columns=taken,
        borders=tuple(
            border for version, column in told for border in borders_of(version, grid.releases, column.cells)
        ),
        run=sum(cell.outcome is not None for column in columns if column.python for cell in column.cells),
        left_out=sum(cell.outcome is None and cell.side is not None for cell in cells),
        python=tuple(column.python for column in columns),
        reproduce=command,
    )
