"""Verify a fix: for each release the reference, the trial without and the trial with it, in one environment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness import crew, ledger
from harness.core.cases import Case, Symptom
from harness.core.grades import Grade, Graded, grade
from harness.core.observations import Observation, Variant
from harness.core.releases import Release
from harness.core.verdicts import Outcome, Verdicts, judge
from harness.seams import Entry, Environments, Event, Journal, Listener, Trials


@dataclass(frozen=True, kw_only=True)
class Verification:
    """What one verification works on.

    Attributes:
        case: The repro.
        releases: Those asked for.
        variant: The trial without a fix.
        fixes: Names of the fixes; each is tried alone.
        targets: Symptoms to be cured; empty: whatever a release shows.
        jobs: How many releases are tried at once.
    """

    case: Case
    releases: tuple[Release, ...]
    variant: Variant
    fixes: tuple[str, ...]
    targets: tuple[Symptom, ...] = ()
    jobs: int = 1

    @property
    def variants(self) -> tuple[Variant, ...]:
        """Reference, without, and with each fix."""
        patched = [replace(self.variant, fix=name) for name in self.fixes]
        return (ledger.reference_for(self.variant), self.variant, *patched)


def verify(
    asked: Verification, environments: Environments, trials: Trials, journal: Journal, listener: Listener
) -> None:
    """Try every release that the journal does not hold yet; what is found stands in the journal."""

    def choose(going: Sequence[Release], room: int) -> list[Release]:
        held = {entry.release for entry in journal.entries()} | {release.version for release in going}
        return [release for release in asked.releases if release.version not in held][:room]

    def work(release: Release) -> list[Entry]:
        return crew.attempt(asked.case, release, asked.variants, environments, trials, listener)

    def done(release: Release) -> None:
        entries = ledger.group(journal.entries())
        graded = [grade_release(asked, release, entries.get(release.version, []), name) for name in asked.fixes]
        words = ", ".join(f"{name}: {one.grade.value}" for name, one in zip(asked.fixes, graded, strict=True))
        left = sum(r.version not in entries for r in asked.releases)
        listener.notify(Event(kind="done", release=release.version, detail=words, left=left))

    crew.drive(choose, work, journal, done, asked.jobs)


def grade_release(asked: Verification, release: Release, entries: Sequence[Entry], fix: str) -> Graded:
    """Grade one fix on one release from what the journal holds of it."""
    blocked = next((entry.untestable for entry in entries if entry.untestable), None)
    reference = ledger.observed(entries, ledger.reference_for(asked.variant))
    without = ledger.observed(entries, asked.variant)
    patched = ledger.observed(entries, replace(asked.variant, fix=fix))
    if without is None or patched is None:
        return Graded(version=release.version, grade=Grade.INCONCLUSIVE, reason=blocked or "not run")
    return bracket(asked.case, release.version, reference, without, patched, asked.targets)


def bracket(
    case: Case,
    version: str,
    reference: Observation | None,
    without: Observation,
    patched: Observation,
    targets: Sequence[Symptom],
    patched_reference: Observation | None = None,
) -> Graded:
    """Grade a pair of trials.

    Args:
        case: Says what is compared.
        version: As reported.
        reference: One replica, unpatched.
        without: Several replicas, unpatched.
        patched: Several replicas with the fix.
        targets: Symptoms to be cured.
        patched_reference: Reference of `patched` when it ran in another environment (a fixed release).
    """
    before = judge(case, without, reference)
    after = judge(case, patched, patched_reference or reference)
    found, reason = grade(before, after, patched.fix, patched, targets)
    if found is Grade.MASKS and patched.fix is not None and patched.fix.detail:
        reason += f" (what the fix did: {patched.fix.detail})"
    return Graded(
        version=version,
        grade=found,
        reason=reason,
        reference=reference.numbers if reference else {},
        without=without.numbers,
        patched=patched.numbers,
        by_symptom={s.value: (v.outcome.value, _outcome(after, s)) for s, v in before.items()},
    )


def shows(case: Case, entries: Sequence[Entry], variant: Variant, targets: Sequence[Symptom]) -> bool:
    """Whether a release shows one of the targets (any symptom when none are named) without a fix."""
    own = ledger.observed(entries, variant)
    if own is None:
        return False
    verdicts = judge(case, own, ledger.observed(entries, ledger.reference_for(variant)))
    return any(v.outcome is Outcome.BAD for s, v in verdicts.items() if not targets or s in targets)


def _outcome(verdicts: Verdicts, symptom: Symptom) -> str:
    return verdicts[symptom].outcome.value if symptom in verdicts else Outcome.SKIP.value
