"""Search one timeline: run what the search asks for, several releases at once, until it has nothing more to ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.domain.cases import parameters
from harness.domain.cases.case import Case
from harness.domain.errors import UsageError
from harness.domain.findings import assemble
from harness.domain.findings.finding import Finding
from harness.domain.releases.distributions import FRAMEWORK, bringing
from harness.domain.releases.nightlies import is_nightly
from harness.domain.releases.release import Channel, Timeline
from harness.domain.search.history import ReleaseState, SearchHistory
from harness.domain.search.policy import Policy
from harness.domain.search.strategy import NextTrial, Why, next_trials
from harness.domain.trials.entry import Entry
from harness.domain.trials.variant import Variant
from harness.domain.verdicts.absence import missing_everywhere
from harness.domain.verdicts.surroundings import not_here, runs_here
from harness.jobs import rerun
from harness.jobs.events import Event, EventKind, Listener
from harness.jobs.executor import Attempt, Runner, Work, drive, resumable
from harness.jobs.parting import Parting, part
from harness.jobs.preparation import (
    Plan,
    Stopwatch,
    companions_for,
    find_release,
    only_warned,
    open_run,
    page_of,
    timeline_of,
    warn,
    with_reference,
)
from harness.jobs.protocols import Journal, RunCourse, RunJournal, Services
from harness.jobs.requests import BisectRequest

KEPT = "kept"
"""Folder of a run for what may be gone from the index tomorrow."""


@dataclass(frozen=True, kw_only=True)
class SearchRequest:
    """What one search works on.

    Attributes:
        case: The repro.
        timeline: Where it is tried.
        policy: How hard to search.
        variant: The trial that is judged; its reference runs beside it.
        course: (version, repeat) of every trial that an earlier search for the same answer made. With several jobs
            the order in which trials end decides what is asked next; going the same way again asks for nothing new.
    """

    case: Case
    timeline: Timeline
    policy: Policy
    variant: Variant
    course: RunCourse = ()


def search(services: Services, case: Case, request: BisectRequest, listener: Listener) -> tuple[Finding, Path]:
    """Search one timeline to its end and write the reports; returns the finding and the run's folder."""
    plan = prepare(services, case, request, listener)
    header = plan.header(services, rerun.of_bisect(services.cases.callable_as(case), request, plan.question))
    with open_run(services, header, request) as journal, resumable(journal, header.reproduce):
        recalled = () if request.fresh else services.runs.recall(header)
        wanted = SearchRequest(
            case=case, timeline=plan.timeline, policy=plan.policy, variant=plan.question.variant, course=recalled
        )
        runner = Runner(
            pool=services.pool(request.jobs),
            room=request.jobs,
            environments=services.environments(plan.companions, listener),
            trials=services.trials(fresh=request.fresh, memory_bytes=request.memory_bytes, jobs=request.jobs),
            listener=listener,
        )
        with runner.pool:
            if case.reference:
                run_reference(services, wanted, runner, journal)
            run_search(wanted, runner, journal)
            part(
                Parting(services=services, runner=runner, case=case, companions=plan.companions, header=header), journal
            )
        finding = assemble.compose(header, journal.entries())
        services.reports.finding(finding, journal.folder)
        warn(listener, journal.restored())
        with only_warned(listener, "the answer is complete, but the next search cannot be as fast"):
            services.runs.remember(header, course_of(journal.entries()))
        with only_warned(listener, "the answer is complete, but not everything could be kept"):
            _keep_artifacts(services, case, finding, journal, request, listener)
    return finding, journal.folder


def prepare(services: Services, case: Case, request: BisectRequest, listener: Listener) -> Plan:
    """Fix the question: timeline, companions, policy. Fails before anything is written."""
    watch = Stopwatch()
    timeline = _timeline(services, case, request, listener)
    index_seconds = watch.seconds
    companions = companions_for(services, [case], timeline, request, listener)
    if case.import_name == FRAMEWORK:
        keras = [pin for pin in companions.pinned if pin.startswith("keras==")]
        detail = f"harness: {case.package} with {', '.join(keras) or 'no Keras'}"
        listener.notify(Event(kind=EventKind.MESSAGE, detail=detail))
    policy = Policy(
        symptoms=request.symptoms,
        repeats=case.repeats,
        max_trials=request.max_trials,
        confidence=request.confidence,
        max_gap=request.widest_gap,
    )
    return Plan(
        case=case,
        timeline=timeline,
        companions=companions,
        policy=policy,
        settings=parameters.parse(case, request.settings),
        index_seconds=index_seconds,
    )


def _timeline(services: Services, case: Case, request: BisectRequest, listener: Listener) -> Timeline:
    if request.channels[0] is Channel.COMMIT and request.clone is not None:
        if request.first is None:
            raise UsageError("where should the search begin?", where="--from", hint="give a commit or a day")
        last = "HEAD" if request.last == "latest" else request.last
        return services.clone(request.clone, case.package).timeline(request.first, last)
    return timeline_of(page_of(services, case.package, listener), case, request)


def _keep_artifacts(
    services: Services,
    case: Case,
    finding: Finding,
    journal: RunJournal,
    request: BisectRequest,
    listener: Listener,
) -> None:
    """Keep what may be gone tomorrow: wheels of nightly transitions, and the lines that a found commit changed."""
    if is_nightly(case.package):
        for problem in services.reports.artifacts(finding, journal.folder):
            listener.notify(Event(kind=EventKind.WARNING, detail=problem))
    for transition in finding.transitions:
        if request.clone is not None and any(cause.found for cause in transition.causes):
            clone = services.clone(request.clone, case.package)
            patch = clone.save_patch(transition.first_after, journal.folder / KEPT)
            detail = f"{transition.symptom.value}: changed lines: {patch}"
            listener.notify(Event(kind=EventKind.MESSAGE, detail=detail))


def run_reference(services: Services, request: SearchRequest, runner: Runner, journal: Journal) -> None:
    """Run the release whose value is the right one, before all others; nothing where the journal has it.

    Raises:
        UsageError: there is no such release, it cannot be tested, or it has no value.
    """
    case, listener = request.case, runner.listener
    known = [entry for entry in journal.entries() if entry.release == case.reference]
    if not known:
        release = find_release(services, case.package, case.reference, listener, where="--reference")
        variants = with_reference(case, request.variant)
        known = runner.run(Attempt(case=case, release=release, variants=variants, why="reference"))
        for entry in known if release.version == case.reference else ():
            journal.record(entry)
    if assemble.baseline_of(case, known, (), request.variant) is None:
        why = assemble.blocked(known) if any(entry.untestable for entry in known) else "it showed no value"
        hint = "name another release whose value is right, or say what it should be: --equals"
        raise UsageError(f"nothing can be compared with {case.reference}: {why}", where="--reference", hint=hint)


def run_search(request: SearchRequest, runner: Runner, journal: Journal) -> list[ReleaseState]:
    """Search until every transition is found and confirmed or the budget is spent; the journal holds the rest.

    Raises:
        InfrastructureError: something failed that says nothing about a release, or a script aborted the search;
            what is finished is recorded.
    """
    folded = assemble.Folded(request.case, request.timeline, request.variant)

    def known() -> SearchHistory:
        folded.take(journal.entries()[folded.taken :])
        return folded.states

    recalled = _recalled(request)

    def choose(running: Sequence[NextTrial], room: int) -> list[NextTrial]:
        if missing_everywhere(request.case, journal.entries(), request.variant):
            return []  # more trials would fail for the same want
        history = known()
        chosen = _same_way(recalled, history, {trial.index for trial in running}, room)
        if chosen or recalled or any(trial.why is Why.AGAIN for trial in running):
            return chosen
        return next_trials(history, request.policy, wanted=room, pending=[trial.index for trial in running])

    def attempt(trial: NextTrial) -> Attempt:
        return Attempt(
            case=request.case,
            release=request.timeline.releases[trial.index],
            variants=with_reference(request.case, request.variant),
            repeats=(folded.next_repeat(trial.index),),
            why=trial.why.value,
        )

    def check(entries: Sequence[Entry]) -> object:
        """A script that aborts, or that does not run here at all, is not recorded: resuming tries it again."""
        check_runs_here(request, journal.entries(), entries)
        return assemble.row(request.case, entries, request.variant)

    runner.listener.notify(Event(kind=EventKind.BEGIN, left=len(request.timeline.releases)))
    work = Work(
        choose=choose,
        attempt=attempt,
        check=check,
        done=lambda trial: runner.listener.notify(_outcome(request, trial, known())),
    )
    try:
        drive(work, runner, journal)
    finally:
        runner.listener.notify(Event(kind=EventKind.END))
    return list(known())


def check_runs_here(request: SearchRequest, known: Sequence[Entry], new: Sequence[Entry]) -> None:
    """Raise where the case fails in every release tried in one way that says nothing about a release.

    A module that is known to come with one distribution is no reason to stop: it is added, and the case tried again.
    A new trial that says something of its release is enough: the journal is not read again for it.
    """
    if any(entry.finished and runs_here(request.case, entry.finished.observation) for entry in new):
        return
    entries = [*known, *new]
    if bringing(missing_everywhere(request.case, entries, request.variant)):
        return
    shown = {
        release: [e.finished.observation for e in group if e.finished is not None]
        for release, group in assemble.group(entries).items()
    }
    tried = {release: observations for release, observations in shown.items() if observations}
    if (error := not_here(request.case, tried, len(request.timeline.releases))) is not None:
        raise error


def _recalled(request: SearchRequest) -> list[NextTrial]:
    """The trials of an earlier search, the first of each release first."""
    places = {release.version: index for index, release in enumerate(request.timeline.releases)}
    return [
        NextTrial(index=places[version], repeat=repeat, why=Why.AGAIN)
        for version, repeat in sorted(request.course, key=lambda run: run[1])
        if version in places
    ]


def _same_way(
    recalled: list[NextTrial], history: Sequence[ReleaseState], running: set[int], room: int
) -> list[NextTrial]:
    """Take from `recalled` what can be run now; each is tried once, and what the journal holds is dropped."""
    chosen: list[NextTrial] = []
    for trial in list(recalled):
        state = history[trial.index]
        if state.blocked is not None or len(state.runs) > trial.repeat:
            recalled.remove(trial)
        elif len(chosen) < room and len(state.runs) == trial.repeat and trial.index not in running:
            recalled.remove(trial)
            running.add(trial.index)
            chosen.append(trial)
    if not chosen and not running:
        recalled.clear()  # a trial that ended without a verdict: the search takes over
    return chosen


def course_of(entries: Sequence[Entry]) -> RunCourse:
    """The trials that a finished search made, for the next one that asks the same."""
    return tuple(sorted({(e.release, e.finished.trial.repeat) for e in entries if e.finished is not None}))


def _outcome(request: SearchRequest, trial: NextTrial, history: SearchHistory) -> Event:
    """What a finished trial says, for the user."""
    known = history[trial.index]
    latest = {symptom: verdict for run in known.runs for symptom, verdict in run.items()}
    verdicts = assemble.answering(latest, request.policy.symptoms)
    outcome = assemble.overall(known, verdicts)
    symptoms = ", ".join(symptom.value for symptom in assemble.shown(verdicts))
    return Event(
        kind=EventKind(outcome.value) if outcome else EventKind.DONE,
        release=request.timeline.releases[trial.index].version,
        detail=symptoms or assemble.why(known, verdicts),
        left=len(history.untried),
    )
