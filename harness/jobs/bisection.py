"""The main job: run what the search asks for, several at once, until it has nothing more to ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.domain.cases.case import Case, Level
from harness.domain.findings import assemble
from harness.domain.releases.release import Timeline
from harness.domain.search.history import ReleaseState
from harness.domain.search.policy import Policy
from harness.domain.search.strategy import NextTrial, Why, next_trials
from harness.domain.trials.entry import Entry
from harness.domain.trials.variant import Variant
from harness.jobs import executor
from harness.jobs.protocols import Environments, Event, Journal, Listener, Trials


@dataclass(frozen=True, kw_only=True)
class SearchRequest:
    """What one bisection works on.

    Attributes:
        case: The repro.
        timeline: Where it is tried.
        policy: How hard to search.
        variant: The trial that is judged; its reference runs beside it.
        jobs: How many releases are tried at once.
        course: (version, repeat) of every run that an earlier search for the same answer made. With several jobs
            the order in which runs end decides what is asked next; going the same way again asks for nothing new.
    """

    case: Case
    timeline: Timeline
    policy: Policy
    variant: Variant
    jobs: int = 1
    course: tuple[tuple[str, int], ...] = ()


def variants(case: Case, variant: Variant) -> tuple[Variant, ...]:
    """What is run for one verdict: a script speaks for itself, a model needs its reference."""
    if case.level is Level.SCRIPT or variant == assemble.reference_for(variant):
        return (variant,)
    return (assemble.reference_for(variant), variant)


def bisect(
    inquiry: SearchRequest, environments: Environments, trials: Trials, journal: Journal, listener: Listener
) -> list[ReleaseState]:
    """Search until every edge is found and confirmed or the budget is spent; the journal holds the rest.

    Raises:
        InfrastructureError: something failed that says nothing about a release, or a script aborted the search;
            what is finished is recorded.
    """

    def look() -> list[ReleaseState]:
        return assemble.history(inquiry.case, inquiry.timeline, journal.entries(), inquiry.variant)

    known = _known_course(inquiry)

    def choose(going: Sequence[NextTrial], room: int) -> list[NextTrial]:
        rows = look()
        chosen = _same_way(known, rows, {probe.index for probe in going}, room)
        if chosen or known or any(probe.why is Why.AGAIN for probe in going):
            return chosen
        return next_trials(rows, inquiry.policy, wanted=room, pending=[probe.index for probe in going])

    def work(probe: NextTrial) -> list[Entry]:
        entries = executor.attempt(
            inquiry.case,
            inquiry.timeline.releases[probe.index],
            variants(inquiry.case, inquiry.variant),
            environments,
            trials,
            listener,
            repeat=probe.repeat,
            why=probe.why.value,
        )
        assemble.row(
            inquiry.case, entries, inquiry.variant
        )  # a script that aborts is not recorded: resuming tries it again
        return entries

    executor.drive(choose, work, journal, lambda probe: _announce(inquiry, probe, look(), listener), inquiry.jobs)
    return look()


def _known_course(inquiry: SearchRequest) -> list[NextTrial]:
    """The runs of an earlier search, the first of each release first."""
    places = {release.version: index for index, release in enumerate(inquiry.timeline.releases)}
    return [
        NextTrial(index=places[version], repeat=repeat, why=Why.AGAIN)
        for version, repeat in sorted(inquiry.course, key=lambda run: run[1])
        if version in places
    ]


def _same_way(known: list[NextTrial], rows: Sequence[ReleaseState], going: set[int], room: int) -> list[NextTrial]:
    """Take from `known` what can be run now; each is tried once, and what the journal holds is dropped."""
    chosen: list[NextTrial] = []
    for probe in list(known):
        row = rows[probe.index]
        if row.blocked is not None or len(row.runs) > probe.repeat:
            known.remove(probe)
        elif len(chosen) < room and len(row.runs) == probe.repeat and probe.index not in going:
            known.remove(probe)
            going.add(probe.index)
            chosen.append(probe)
    if not chosen and not going:
        known.clear()  # a run that ended without a verdict: the search takes over
    return chosen


def course_of(entries: Sequence[Entry]) -> tuple[tuple[str, int], ...]:
    """The runs that a finished search made, for the next one that asks the same."""
    return tuple(sorted({(e.release, e.finished.trial.repeat) for e in entries if e.finished is not None}))


def _announce(inquiry: SearchRequest, probe: NextTrial, rows: Sequence[ReleaseState], listener: Listener) -> None:
    release = inquiry.timeline.releases[probe.index]
    known = rows[probe.index]
    told = {s: v for run in known.runs for s, v in run.items()}
    verdicts = assemble.answering(told, inquiry.policy.symptoms)
    outcome = assemble.overall(known, verdicts)
    symptoms = ", ".join(s.value for s in assemble.shown(verdicts))
    listener.notify(
        Event(
            kind=outcome.value if outcome else "done",
            release=release.version,
            detail=symptoms or assemble.why(known, verdicts),
            left=sum(not row.tried for row in rows),
        )
    )
