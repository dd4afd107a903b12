"""Replay nights with few probes: search the whole stretch first, then tell night by night what would have been seen.

    nightlies   o . . . . o . . . o o x x . . . . x      o good, x bad, both really run; . not run
    nights      good ....good.....good bad bad ... bad   a night between two equal neighbours takes over their answer

Which nights were run and which were taken over stands in every record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from harness.adapters.storage import journal
from harness.cli.commands import bisection
from harness.domain.cases.case import Case
from harness.domain.findings import assemble
from harness.domain.nightly.nights import CaseResult
from harness.domain.releases.release import Release, Timeline
from harness.domain.search.history import ReleaseState
from harness.domain.verdicts.verdict import Outcome
from harness.jobs import channels, single
from harness.jobs.night_runs import SlotRunner, searching
from harness.services import Services

GAP = 7
"""Longest stretch of nights that may be taken over: an island of bad nights shorter than a week can hide in it."""


class ReplayRunner:
    """Answers from the boards of finished searches; what they do not hold is run.

    Args:
        bench: Runs what has to be run: the control, confirmations, nights outside the searches.
        boards: By case, the versions of its search in order and what is known of each.
    """

    def __init__(self, bench: SlotRunner, boards: Mapping[str, tuple[Sequence[str], Sequence[ReleaseState]]]) -> None:
        self._bench = bench
        self._boards = boards

    def look(self, case: Case, release: Release, repeat: int) -> CaseResult:
        """The answer for one night."""
        versions, rows = self._boards.get(case.name, ((), ()))
        if release.version in versions:
            place = versions.index(release.version)
            if (known := known_look(rows, place, repeat)) is not None:
                return known
        return self._bench.look(case, release, repeat)


def known_look(rows: Sequence[ReleaseState], place: int, repeat: int) -> CaseResult | None:
    """What a board says of one release: its own run, or that of two equal neighbours; None: it has to be run."""
    row = rows[place]
    if row.blocked is not None:
        return CaseResult(blocked=str(row.blocked))
    if repeat < len(row.runs):
        return CaseResult(verdicts=row.runs[repeat])
    if row.runs or repeat:
        return None
    before = next((rows[i] for i in range(place - 1, -1, -1) if rows[i].runs), None)
    after = next((rows[i] for i in range(place + 1, len(rows)) if rows[i].runs), None)
    if before is None or after is None or _outcomes(before) != _outcomes(after):
        return None
    return CaseResult(verdicts=before.runs[0], inferred=True)


def search_all(
    services: Services, cases: Sequence[Case], timeline: Timeline, folder: Path, given: Mapping[str, Any], gap: int
) -> dict[str, tuple[Sequence[str], Sequence[ReleaseState]]]:
    """Search the nightlies of the replay once per case; a search that was interrupted goes on."""
    boards: dict[str, tuple[Sequence[str], Sequence[ReleaseState]]] = {}
    for case in cases:
        own = channels.as_package(case, timeline.releases[0].package)
        place = folder / f"search-{case.name}"
        asked = searching(
            own,
            given,
            first=timeline.versions[0],
            last=timeline.versions[-1],
            symptoms=(),
            output=place,
            resumed=place if (place / journal.NAME).exists() else None,
            max_gap=gap,
        )
        click.echo(f"  {case.name}: searching {len(timeline.releases)} nightlies", err=True)
        bisection.answer(services, own, asked)
        header, entries = journal.read(place)
        rows = assemble.history(own, header.timeline, entries, single.variant_of(own))
        boards[case.name] = (header.timeline.versions, rows)
    return boards


def _outcomes(row: ReleaseState) -> dict[str, frozenset[Outcome]]:
    return {
        symptom.value: frozenset(run[symptom].outcome for run in row.runs if symptom in run)
        for run in row.runs
        for symptom in run
    }
