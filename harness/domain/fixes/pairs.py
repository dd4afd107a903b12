"""Grades of a fix from pairs of runs: one without and one with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.domain.cases.case import Case
from harness.domain.cases.symptoms import Symptom
from harness.domain.fixes.grades import Grade, Graded
from harness.domain.fixes.grading import LUCK, grade, luck, worst
from harness.domain.trials.observation import Observation, Stage
from harness.domain.verdicts.judgement import judge
from harness.domain.verdicts.verdict import Outcome, Verdicts

MOST_NAMED = 5
"""So many files of a patch that were left out are named; more are counted."""


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


def paired(
    references: Mapping[int, Observation],
    without: Mapping[int, Observation],
    patched: Mapping[int, Observation],
    patched_references: Mapping[int, Observation] | None = None,
) -> list[Pair]:
    """Pair the runs of the same repeat; `patched_references` are those of another environment, where there is one."""
    own = patched_references or {}
    return [
        Pair(
            reference=references.get(repeat),
            without=one,
            patched=patched[repeat],
            patched_reference=own.get(repeat),
        )
        for repeat, one in without.items()
        if repeat in patched
    ]


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
    if fix is not None and fix.left_out:
        reason += f" (not in the package, so left out of the patch: {_named(fix.left_out)})"
    return Graded(
        version=version,
        grade=found,
        reason=reason,
        reference=telling.reference.numbers if telling.reference else {},
        without=telling.without.numbers,
        patched=telling.patched.numbers,
        by_symptom={s.value: (v.outcome.value, _outcome(after, s)) for s, v in before.items()},
    )


def _named(files: Sequence[str]) -> str:
    more = len(files) - MOST_NAMED
    return ", ".join(files[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _stopped(patched: Observation) -> bool:
    """Whether the trial says that the fix was not applied, or ended in it."""
    return patched.ending.stage is Stage.FIX or (patched.fix is not None and patched.fix.outcome != "applied")


def _outcome(verdicts: Verdicts, symptom: Symptom) -> str:
    return verdicts[symptom].outcome.value if symptom in verdicts else Outcome.SKIP.value
