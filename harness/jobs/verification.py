"""Verify a fix: for each release the reference, the trial without and the trial with it, in one environment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.domain.cases.case import Case
from harness.domain.cases.symptoms import Symptom
from harness.domain.findings import assemble
from harness.domain.fixes.grades import Grade, Graded
from harness.domain.fixes.grading import LUCK, grade, luck, worst
from harness.domain.releases.release import Release
from harness.domain.trials.entry import Entry
from harness.domain.trials.observation import Observation, Stage
from harness.domain.trials.variant import Variant
from harness.domain.verdicts.judgement import judge
from harness.domain.verdicts.verdict import Outcome, Verdicts
from harness.jobs import executor
from harness.jobs.protocols import Environments, Event, Journal, Listener, Trials


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
        return (assemble.reference_for(self.variant), self.variant, *patched)


def verify(
    asked: Verification, environments: Environments, trials: Trials, journal: Journal, listener: Listener
) -> None:
    """Try every release that the journal does not hold yet; what is found stands in the journal."""
    held = assemble.group(journal.entries())
    waiting = [release for release in asked.releases if not _complete(asked, held.get(release.version, []))]

    def choose(going: Sequence[Release], room: int) -> list[Release]:
        del going
        return [waiting.pop(0) for _ in range(min(room, len(waiting)))]

    def work(release: Release) -> list[Entry]:
        entries: list[Entry] = []
        for repeat in range(asked.case.repeats):
            entries += executor.attempt(
                asked.case, release, asked.variants, environments, trials, listener, repeat=repeat
            )
            if entries[-1].untestable is not None:
                break
        return entries

    def done(release: Release) -> None:
        entries = assemble.group(journal.entries())
        graded = [grade_release(asked, release, entries.get(release.version, []), name) for name in asked.fixes]
        words = ", ".join(f"{name}: {one.grade.value}" for name, one in zip(asked.fixes, graded, strict=True))
        listener.notify(Event(kind="done", release=release.version, detail=words, left=len(waiting)))

    executor.drive(choose, work, journal, done, asked.jobs)


def _complete(asked: Verification, entries: Sequence[Entry]) -> bool:
    """Whether the journal holds every trial of a release; a run that was torn off may have left some out."""
    if any(entry.untestable is not None for entry in entries):
        return True
    held = [assemble.repeats(entries, variant) for variant in asked.variants]
    return all(set(range(asked.case.repeats)) <= set(one) for one in held)


@dataclass(frozen=True, kw_only=True)
class Pair:
    """One run without the fix and one with it.

    Attributes:
        reference: One replica, unpatched.
        without: Several replicas, unpatched.
        patched: Several replicas with the fix.
        patched_reference: Reference of `patched` when it ran in another environment (a fixed release).
    """

    reference: Observation | None
    without: Observation
    patched: Observation
    patched_reference: Observation | None = None


def grade_release(asked: Verification, release: Release, entries: Sequence[Entry], fix: str) -> Graded:
    """Grade one fix on one release from what the journal holds of it."""
    references = assemble.repeats(entries, assemble.reference_for(asked.variant))
    patched = assemble.repeats(entries, replace(asked.variant, fix=fix))
    pairs = [
        Pair(reference=references.get(repeat), without=without, patched=patched[repeat])
        for repeat, without in assemble.repeats(entries, asked.variant).items()
        if repeat in patched
    ]
    if not pairs:
        blocked = next((entry.untestable for entry in entries if entry.untestable), None)
        return Graded(version=release.version, grade=Grade.INCONCLUSIVE, reason=blocked or "not run")
    return grade_pairs(asked.case, release.version, pairs, asked.targets)


def bracket(
    case: Case,
    version: str,
    reference: Observation | None,
    without: Observation,
    patched: Observation,
    targets: Sequence[Symptom],
    patched_reference: Observation | None = None,
) -> Graded:
    """Grade a single pair of trials; see `grade_pairs`."""
    pair = Pair(reference=reference, without=without, patched=patched, patched_reference=patched_reference)
    return grade_pairs(case, version, [pair], targets)


def grade_pairs(case: Case, version: str, pairs: Sequence[Pair], targets: Sequence[Symptom]) -> Graded:
    """Grade the runs of one release: one bad run with the fix is bad, and luck is no proof.

    Args:
        case: Says what is compared.
        version: As reported.
        pairs: Its runs, one at least.
        targets: Symptoms to be cured.
    """
    runs = [judge(case, pair.without, pair.reference) for pair in pairs]
    before = worst(runs)
    after = worst([judge(case, pair.patched, pair.patched_reference or pair.reference) for pair in pairs])
    telling = next((pair for pair in pairs if _stopped(pair.patched)), pairs[0])
    found, reason = grade(case, before, after, telling.patched, targets)
    if found is Grade.PROVEN and (chance := luck(runs, len(pairs))) > LUCK:
        found = Grade.INCONCLUSIVE
        reason += f"; but the symptom is flaky and may stay away by chance ({chance:.0%}): ask for more --repeats"
    fix = telling.patched.fix
    if found is Grade.MASKS and fix is not None and fix.detail:
        reason += f" (what the fix did: {fix.detail})"
    return Graded(
        version=version,
        grade=found,
        reason=reason,
        reference=telling.reference.numbers if telling.reference else {},
        without=telling.without.numbers,
        patched=telling.patched.numbers,
        by_symptom={s.value: (v.outcome.value, _outcome(after, s)) for s, v in before.items()},
    )


def _stopped(patched: Observation) -> bool:
    """Whether the trial says that the fix was not applied, or ended in it."""
    return patched.ending.stage is Stage.FIX or (patched.fix is not None and patched.fix.outcome != "applied")


def shows(case: Case, entries: Sequence[Entry], variant: Variant, targets: Sequence[Symptom]) -> bool:
    """Whether a release shows one of the targets (any symptom when none are named) without a fix, in any run."""
    runs = assemble.row(case, entries, variant).runs
    return any(v.outcome is Outcome.BAD for run in runs for s, v in run.items() if not targets or s in targets)


def _outcome(verdicts: Verdicts, symptom: Symptom) -> str:
    return verdicts[symptom].outcome.value if symptom in verdicts else Outcome.SKIP.value
