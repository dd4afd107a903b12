"""Replay nights with few probes: search the whole stretch first, then tell night by night what would have been seen.

    nightlies   o . . . . o . . . o o x x . . . . x      o good, x bad, both really run; . not run
    nights      good ....good.....good bad bad ... bad   a night between two equal neighbours takes over their answer

Which nights were run and which were taken over stands in every record.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harness.domain.cases.case import Case
from harness.domain.errors import UsageError
from harness.domain.findings import assemble
from harness.domain.nightly.nights import CaseResult
from harness.domain.releases.release import Release, Timeline
from harness.domain.search.history import ReleaseState
from harness.domain.verdicts.verdict import Outcome
from harness.jobs import timeline_search
from harness.jobs.events import Event, EventKind, Listener
from harness.jobs.nightly.case_runs import search_request
from harness.jobs.nightly.protocols import CaseRunner
from harness.jobs.preparation import as_package, variant_of
from harness.jobs.protocols import Runs, Services
from harness.jobs.requests import NightlyRequest


@dataclass(frozen=True, kw_only=True)
class SearchedNights:
    """What the search of one case knows.

    Attributes:
        versions: The nightlies in order.
        states: What is known of each.
    """

    versions: tuple[str, ...]
    states: tuple[ReleaseState, ...]


class ReplayRunner:
    """Answers from finished searches; what they do not hold is run.

    Args:
        runner: Runs what has to be run: the control, confirmations, nights outside the searches.
        searched: What the search of each case knows.
    """

    def __init__(self, runner: CaseRunner, searched: Mapping[str, SearchedNights]) -> None:
        self._runner = runner
        self._searched = searched

    def look(self, case: Case, release: Release, repeat: int) -> CaseResult:
        """The answer for one night."""
        found = self._searched.get(case.name)
        if found is not None and release.version in found.versions:
            place = found.versions.index(release.version)
            if (known := known_look(found.states, place, repeat)) is not None:
                return known
        return self._runner.look(case, release, repeat)


def known_look(states: Sequence[ReleaseState], place: int, repeat: int) -> CaseResult | None:
    """What a search knows of one release: its own run, or that of two equal neighbours; None: it has to be run."""
    state = states[place]
    if state.blocked is not None:
        return CaseResult(blocked=str(state.blocked))
    if repeat < len(state.runs):
        return CaseResult(verdicts=state.runs[repeat])
    if state.runs or repeat:
        return None
    before = next((states[i] for i in range(place - 1, -1, -1) if states[i].runs), None)
    after = next((states[i] for i in range(place + 1, len(states)) if states[i].runs), None)
    if before is None or after is None or _outcomes(before) != _outcomes(after):
        return None
    return CaseResult(verdicts=before.runs[0], inferred=True)


def search_all(
    services: Services, cases: Sequence[Case], timeline: Timeline, request: NightlyRequest, listener: Listener
) -> dict[str, SearchedNights]:
    """Search the nightlies of the replay once per case; a search that was interrupted goes on."""
    searched: dict[str, SearchedNights] = {}
    runs = services.runs
    for case in cases:
        own = as_package(services, case, timeline.releases[0].package)
        begun = _begun(runs, request.state, case.name, timeline)
        place = begun or runs.unused(request.state / f"search-{case.name}")
        wanted = search_request(own, request, timeline, place, resume=begun, max_gap=request.max_gap)
        detail = f"  {case.name}: searching {len(timeline.releases)} nightlies"
        listener.notify(Event(kind=EventKind.MESSAGE, detail=detail))
        timeline_search.search(services, own, wanted, listener)
        header, entries = runs.read(place)
        states = assemble.history(own, header.timeline, entries, variant_of(own))
        searched[case.name] = SearchedNights(versions=header.timeline.versions, states=tuple(states))
    return searched


def _begun(runs: Runs, state: Path, name: str, timeline: Timeline) -> Path | None:
    """The search of these very nights that was begun earlier; that of fewer or other ones is left as it is.

    What a search of fewer nights ran is in the cache of trials, so that one of more nights runs only what is new.
    """
    names = re.compile(rf"search-{re.escape(name)}(-[0-9]+)?")
    places = [place for place in runs.below(state) if names.fullmatch(place.name)]
    for place in places:
        with suppress(UsageError):  # damaged: it is searched anew
            if runs.read(place)[0].timeline.versions == timeline.versions:
                return place
    return None


def _outcomes(state: ReleaseState) -> dict[str, frozenset[Outcome]]:
    return {
        symptom.value: frozenset(run[symptom].outcome for run in state.runs if symptom in run)
        for run in state.runs
        for symptom in run
    }
