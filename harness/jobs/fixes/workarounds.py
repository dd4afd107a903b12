"""Measure what reports recommend and claim: every workaround and every claim of a case, on each release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.domain.cases import parameters
from harness.domain.cases.case import Case, Claim, Level, Workaround
from harness.domain.errors import UsageError
from harness.domain.findings import assemble
from harness.domain.findings.run import RunHeader
from harness.domain.fixes import claims, workarounds
from harness.domain.fixes.claims import ClaimEvidence, ClaimFinding
from harness.domain.fixes.grades import Grade, Graded
from harness.domain.fixes.pairs import bracket
from harness.domain.fixes.workarounds import Measured, PlannedTrials, WorkaroundReport, WorkaroundRow
from harness.domain.releases.companions import Companions
from harness.domain.releases.release import Order, Release, Timeline, find, sort
from harness.domain.search.policy import Policy
from harness.domain.trials.entry import Entry
from harness.domain.trials.observation import Observation
from harness.domain.trials.variant import Variant
from harness.domain.verdicts.judgement import judge
from harness.jobs import rerun
from harness.jobs.events import Event, EventKind, Listener
from harness.jobs.executor import Attempt, Runner, Work, drive, resumable
from harness.jobs.preparation import Plan, Stopwatch, open_run, page_of, read_case, warn
from harness.jobs.protocols import Journal, Services
from harness.jobs.requests import WorkaroundsRequest

CHUNK = 8
"""Trials that share one import; what is finished is recorded after each chunk."""


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """What one measurement works on.

    Attributes:
        case: Says workarounds and claims.
        releases: Those asked for: every workaround, and every claim that names no release.
        claimed: Further releases that claims name.
        counts: Numbers of replicas on which workarounds are tried.
    """

    case: Case
    releases: tuple[Release, ...]
    claimed: tuple[Release, ...] = ()
    counts: tuple[int, ...] = (1, 2)

    def variants(self, release: Release) -> tuple[Variant, ...]:
        """Every trial that is needed on one release, references included, each once."""
        found: list[Variant] = []
        if release in self.releases:
            for workaround in self.case.workarounds:
                for count in self.counts:
                    found += workarounds.attempt(self.case, workaround, count).variants
        for claim in self.case.claims:
            if release.version in self.versions_of(claim):
                found += [variant for variant in pair(self.case, claim) if variant is not None]
        return tuple(dict.fromkeys(found))

    def versions_of(self, claim: Claim) -> tuple[str, ...]:
        """Where a claim is measured."""
        if claim.untestable:
            return ()
        return (claim.release,) if claim.release else tuple(release.version for release in self.releases)


def measure_workarounds(
    services: Services, request: WorkaroundsRequest, listener: Listener
) -> tuple[WorkaroundReport, Path]:
    """Measure every workaround and every claim that a case lists.

    Returns:
        The report, and the folder of the run.

    Raises:
        UsageError: the case lists nothing to measure, or settings that it does not have.
        InfrastructureError: machine, index or disk failed; what is finished is kept.
        Interrupted: the user stopped it; what is finished is kept.
    """
    case = read_case(services, request.case, request)
    counts = _counts(case, request)
    _check(case, counts)
    watch = Stopwatch()
    page = page_of(services, case.package, listener)
    named = [find(page.releases, version, where="--release") for version in request.releases or ("latest",)]
    releases = tuple(sort(dict.fromkeys(named), Order.VERSION))
    claimed = _claimed(case, page.releases, releases)
    index_seconds = watch.seconds
    survey = Measurement(case=case, releases=releases, claimed=claimed, counts=counts)
    companions = _companions(services, survey, request, listener)
    plan = Plan(
        case=case,
        timeline=Timeline(releases=(*releases, *claimed)),
        companions=companions,
        policy=Policy(),
        fixes=(f"remedies and claims on {', '.join(map(str, counts))} replicas",),  # as journals have it
        replicas=max(counts),
        ends=(releases[0].version, releases[-1].version),
        index_seconds=index_seconds,
    )
    header = plan.header(services, rerun.of_workarounds(services.cases.callable_as(case), request, releases))
    with open_run(services, header, request, "workarounds") as journal, resumable(journal, header.reproduce):
        runner = Runner(
            pool=services.pool(request.jobs),
            room=request.jobs,
            environments=services.environments(companions, listener),
            trials=services.trials(fresh=request.fresh, jobs=request.jobs),
            listener=listener,
        )
        with runner.pool:
            measure(survey, runner, journal)
        report = compose(header, survey, journal.entries())
        services.reports.workarounds(report, journal.folder)
        warn(listener, journal.restored())
    return report, journal.folder


def _counts(case: Case, request: WorkaroundsRequest) -> tuple[int, ...]:
    """Numbers of replicas to try; raises `UsageError` for a script, which decides on its replicas itself."""
    if case.level is Level.SCRIPT and request.replicas:
        raise UsageError("a script runs on the replicas that it chooses", where="--replicas", hint="leave it out")
    own = (case.replicas,) if case.level is Level.SCRIPT else (1, case.replicas)
    return tuple(dict.fromkeys(request.replicas or own))


def _check(case: Case, counts: tuple[int, ...]) -> None:
    """Refuse a case with nothing to measure, and wrong settings in it, before anything is built."""
    if not case.workarounds and not case.claims:
        raise UsageError(
            "the case lists no workarounds and no claims",
            where=case.path,
            hint="add [workarounds.NAME] or [[claims]] to the file NAME.claims.toml beside it; see docs/cases.md",
        )
    anywhere = Measurement(case=case, releases=(Release(package=case.package, version="0"),), counts=counts)
    for release in anywhere.releases:
        anywhere.variants(release)
    for claim in case.claims:
        pair(case, claim)


def _claimed(case: Case, published: Sequence[Release], named: Sequence[Release]) -> tuple[Release, ...]:
    """Releases that claims name beside those asked for, as far as they were ever published."""
    wanted = {claim.release for claim in case.claims if claim.release} - {release.version for release in named}
    return tuple(sort((release for release in published if release.version in wanted), Order.VERSION))


def _companions(services: Services, survey: Measurement, request: WorkaroundsRequest, listener: Listener) -> Companions:
    """Companions that fit every release; where none do, those of the releases asked for come first."""
    every = tuple(sort((*survey.releases, *survey.claimed), Order.VERSION))
    plan = services.companions([survey.case], Timeline(releases=every), request.pins, request.mode, request.python)
    if plan.boundary and survey.claimed:
        warn(listener, "no companions fit the releases of all claims")
        timeline = Timeline(releases=survey.releases)
        plan = services.companions([survey.case], timeline, request.pins, request.mode, request.python)
    warn(listener, plan.boundary)
    return plan


@dataclass(frozen=True, kw_only=True)
class _Piece:
    release: Release
    variants: tuple[Variant, ...]


def pair(case: Case, claim: Claim) -> tuple[Variant | None, Variant]:
    """What a claim is held against, and its trial.

    Raises:
        UsageError: the settings that the claim speaks of are none of the case's.
    """
    options = parameters.check(case, claim.options, where=f"{case.path}, claims: {claim.says!r}")
    replicas = claims.replicas_of(case, claim)
    own = workarounds.variant(case, replicas, options)
    if case.level is Level.SCRIPT:
        return None, own
    if replicas > 1:
        return own.reference, own
    return (workarounds.sound(case, options) if claims.looks_at_values(claim) else None), own


def measure(survey: Measurement, runner: Runner, journal: Journal) -> None:
    """Run every trial that the journal does not hold yet; what is found stands in the journal."""
    waiting = _pieces(survey, journal.entries())

    def choose(running: Sequence[_Piece], room: int) -> list[_Piece]:
        del running
        refused = {entry.release for entry in journal.entries() if entry.untestable is not None}
        waiting[:] = [piece for piece in waiting if piece.release.version not in refused]
        return [waiting.pop(0) for _ in range(min(room, len(waiting)))]

    def attempt(piece: _Piece) -> Attempt:
        return Attempt(case=survey.case, release=piece.release, variants=piece.variants)

    def done(piece: _Piece) -> None:
        left = len({waits.release.version for waits in waiting})
        detail = f"{len(piece.variants)} trials"
        runner.listener.notify(Event(kind=EventKind.DONE, release=piece.release.version, detail=detail, left=left))

    runner.listener.notify(Event(kind=EventKind.BEGIN, left=len(survey.releases) + len(survey.claimed)))
    try:
        drive(Work(choose=choose, attempt=attempt, done=done), runner, journal)
    finally:
        runner.listener.notify(Event(kind=EventKind.END))


def _pieces(survey: Measurement, entries: Sequence[Entry]) -> list[_Piece]:
    held = {(entry.release, entry.finished.trial.variant) for entry in entries if entry.finished is not None}
    pieces = []
    for release in (*survey.releases, *survey.claimed):
        left = [variant for variant in survey.variants(release) if (release.version, variant) not in held]
        chunks = [tuple(left[start : start + CHUNK]) for start in range(0, len(left), CHUNK)]
        pieces += [_Piece(release=release, variants=chunk) for chunk in chunks]
    return pieces


def compose(header: RunHeader, survey: Measurement, entries: Sequence[Entry]) -> WorkaroundReport:
    """Grade every workaround and answer every claim from the journal."""
    by_release = assemble.group(entries)
    return WorkaroundReport(
        title=survey.case.title,
        question=header.question,
        environment=header.setting,
        counts=survey.counts,
        versions=tuple(release.version for release in survey.releases),
        rows=tuple(_row(survey, workaround, by_release) for workaround in survey.case.workarounds),
        claims=tuple(_answer(survey, claim, by_release) for claim in survey.case.claims),
        timing=assemble.timing(header, entries),
        locks=assemble.locks(entries),
        reproduce=header.reproduce,
    )


def _row(survey: Measurement, workaround: Workaround, by_release: dict[str, list[Entry]]) -> WorkaroundRow:
    cells = []
    for release in survey.releases:
        for count in survey.counts:
            planned = workarounds.attempt(survey.case, workaround, count)
            graded = _graded(survey.case, release.version, planned, by_release.get(release.version, []))
            cured, right = workarounds.effects(graded)
            cells.append(Measured(version=release.version, replicas=count, cured=cured, right=right, graded=graded))
    return WorkaroundRow(remedy=workaround, cells=tuple(cells))


def _graded(case: Case, version: str, planned: PlannedTrials, entries: Sequence[Entry]) -> Graded:
    without, patched = _seen(entries, planned.without), _seen(entries, planned.patched)
    if without is None or patched is None:
        return Graded(version=version, grade=Grade.INCONCLUSIVE, reason=assemble.blocked(entries))
    reference, own = _seen(entries, planned.reference), _seen(entries, planned.patched_reference)
    graded = bracket(case, version, reference, without, patched, (), patched_reference=own)
    return replace(graded, reference=own.numbers) if own is not None else graded


def _answer(survey: Measurement, claim: Claim, by_release: dict[str, list[Entry]]) -> ClaimFinding:
    found = [_evidence(survey, claim, version, by_release.get(version)) for version in survey.versions_of(claim)]
    return claims.conclude(claim, found)


def _evidence(survey: Measurement, claim: Claim, version: str, entries: Sequence[Entry] | None) -> ClaimEvidence:
    case = survey.case
    against, own = pair(case, claim)
    seen, reference = _seen(entries or (), own), _seen(entries or (), against)
    if seen is None:
        known = {release.version for release in (*survey.releases, *survey.claimed)}
        reason = assemble.blocked(entries or ()) if version in known else f"{case.package} has no release {version}"
        return ClaimEvidence(
            version=version, trial=claims.words(own), answer=claims.ClaimResult.NOT_TESTABLE, reason=reason
        )
    answer, reason = claims.weigh(claim, judge(case, seen, reference))
    return ClaimEvidence(
        version=version,
        trial=claims.words(own),
        answer=answer,
        reason=reason,
        numbers=seen.numbers,
        reference=reference.numbers if reference else {},
    )


def _seen(entries: Sequence[Entry], variant: Variant | None) -> Observation | None:
    return assemble.observed(entries, variant) if variant is not None else None
