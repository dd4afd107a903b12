"""Measure what reports recommend and claim: every remedy and every claim of a case, on each release asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.domain.cases import parameters
from harness.domain.cases.case import Case, Claim, Level, Workaround
from harness.domain.findings import assemble
from harness.domain.findings.run import RunHeader
from harness.domain.fixes import claims, workarounds
from harness.domain.fixes.claims import ClaimEvidence, ClaimFinding
from harness.domain.fixes.grades import Grade, Graded
from harness.domain.fixes.workarounds import Attempt, Measured, WorkaroundReport, WorkaroundRow
from harness.domain.releases.release import Release
from harness.domain.trials.entry import Entry
from harness.domain.trials.observation import Observation
from harness.domain.trials.variant import Variant
from harness.domain.verdicts.judgement import judge
from harness.jobs import executor, verification
from harness.jobs.protocols import Environments, Event, Journal, Listener, Trials

CHUNK = 8  # trials that share one import; what is finished is recorded after each chunk


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """What one measurement works on.

    Attributes:
        case: Says remedies and claims.
        releases: Those asked for: every remedy, and every claim that names no release.
        claimed: Further releases that claims name.
        counts: Numbers of replicas on which remedies are tried.
        jobs: How many pieces are tried at once.
    """

    case: Case
    releases: tuple[Release, ...]
    claimed: tuple[Release, ...] = ()
    counts: tuple[int, ...] = (1, 2)
    jobs: int = 1

    def variants(self, release: Release) -> tuple[Variant, ...]:
        """Every trial that is needed on one release, references included, each once."""
        found: list[Variant] = []
        if release in self.releases:
            for remedy in self.case.remedies:
                for count in self.counts:
                    found += workarounds.attempt(self.case, remedy, count).variants
        for claim in self.case.claims:
            if release.version in self.versions_of(claim):
                found += [variant for variant in pair(self.case, claim) if variant is not None]
        return tuple(dict.fromkeys(found))

    def versions_of(self, claim: Claim) -> tuple[str, ...]:
        """Where a claim is measured."""
        if claim.untestable:
            return ()
        return (claim.release,) if claim.release else tuple(release.version for release in self.releases)


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
        return assemble.reference_for(own), own
    return (workarounds.sound(case, options) if claims.looks_at_values(claim) else None), own


def measure(
    survey: Measurement, environments: Environments, trials: Trials, journal: Journal, listener: Listener
) -> None:
    """Run every trial that the journal does not hold yet; what is found stands in the journal."""
    waiting = _pieces(survey, journal.entries())

    def choose(going: Sequence[_Piece], room: int) -> list[_Piece]:
        del going
        refused = {entry.release for entry in journal.entries() if entry.untestable is not None}
        waiting[:] = [piece for piece in waiting if piece.release.version not in refused]
        return [waiting.pop(0) for _ in range(min(room, len(waiting)))]

    def work(piece: _Piece) -> list[Entry]:
        return executor.attempt(survey.case, piece.release, piece.variants, environments, trials, listener)

    def done(piece: _Piece) -> None:
        left = len({waits.release.version for waits in waiting})
        told = f"{len(piece.variants)} trials"
        listener.notify(Event(kind="done", release=piece.release.version, detail=told, left=left))

    executor.drive(choose, work, journal, done, survey.jobs)


def _pieces(survey: Measurement, entries: Sequence[Entry]) -> list[_Piece]:
    held = {(entry.release, entry.finished.trial.variant) for entry in entries if entry.finished is not None}
    pieces = []
    for release in (*survey.releases, *survey.claimed):
        left = [variant for variant in survey.variants(release) if (release.version, variant) not in held]
        chunks = [tuple(left[start : start + CHUNK]) for start in range(0, len(left), CHUNK)]
        pieces += [_Piece(release=release, variants=chunk) for chunk in chunks]
    return pieces


def compose(header: RunHeader, survey: Measurement, entries: Sequence[Entry]) -> WorkaroundReport:
    """Grade every remedy and answer every claim from the journal."""
    by_release = assemble.group(entries)
    return WorkaroundReport(
        title=survey.case.title,
        question=header.question,
        environment=header.setting,
        counts=survey.counts,
        versions=tuple(release.version for release in survey.releases),
        rows=tuple(_row(survey, remedy, by_release) for remedy in survey.case.remedies),
        claims=tuple(_answer(survey, claim, by_release) for claim in survey.case.claims),
        timing=assemble.timing(header, entries),
        locks=assemble.locks(entries),
        reproduce=header.reproduce,
    )


def _row(survey: Measurement, remedy: Workaround, by_release: dict[str, list[Entry]]) -> WorkaroundRow:
    cells = []
    for release in survey.releases:
        for count in survey.counts:
            planned = workarounds.attempt(survey.case, remedy, count)
            graded = _graded(survey.case, release.version, planned, by_release.get(release.version, []))
            cured, right = workarounds.effects(graded)
            cells.append(Measured(version=release.version, replicas=count, cured=cured, right=right, graded=graded))
    return WorkaroundRow(remedy=remedy, cells=tuple(cells))


def _graded(case: Case, version: str, planned: Attempt, entries: Sequence[Entry]) -> Graded:
    without, patched = _seen(entries, planned.without), _seen(entries, planned.patched)
    if without is None or patched is None:
        return Graded(version=version, grade=Grade.INCONCLUSIVE, reason=_why_not(entries))
    reference, own = _seen(entries, planned.reference), _seen(entries, planned.patched_reference)
    graded = verification.bracket(case, version, reference, without, patched, (), patched_reference=own)
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
        reason = _why_not(entries or ()) if version in known else f"{case.package} has no release {version}"
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


def _why_not(entries: Sequence[Entry]) -> str:
    return next((entry.untestable for entry in entries if entry.untestable), "not run")
