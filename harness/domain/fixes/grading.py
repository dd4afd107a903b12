"""Does a fix cure? Grades of one release, from the verdicts without and with the fix.

    without the fix   with the fix                                   grade
    ----------------  ---------------------------------------------  --------------
    any               nothing to patch                               absent
    any               the fix refuses                                inconclusive
    any               the fix itself ends the trial                  breaks
    shows a target    all that showed still shows                    no effect
    shows a target    another failure hides the answer               breaks
    shows a target    it cannot be told                              inconclusive
    shows a target    gone, but something is bad                     masks
    shows a target    gone, but not everything could be compared     inconclusive
    shows a target    gone, and everything equals the reference      proven
    shows none        something is bad that was not                  breaks
    shows none        a target cannot be told, here or there         inconclusive
    shows none        shows none                                     not reproduced

"Everything" means every symptom that the case can show, and every target: a value that could not be compared, or
a target that the case does not look at, never makes a fix proven. A flaky symptom must stay away often enough.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.domain.cases.case import Case, Level, Tolerance
from harness.domain.cases.symptoms import ENDS, Symptom
from harness.domain.fixes.grades import Grade
from harness.domain.trials.observation import EndingKind, Observation, Stage
from harness.domain.verdicts.verdict import Outcome, Verdict, Verdicts

LUCK = 0.01  # a flaky symptom may stay away by chance; beyond this probability that proves nothing


def grade(
    case: Case, without: Verdicts, patched: Verdicts, observation: Observation, targets: Sequence[Symptom]
) -> tuple[Grade, str]:
    """Grade one release.

    Args:
        case: Says what is compared.
        without: Verdicts of the trial without the fix.
        patched: Verdicts of the trial with it, against the unpatched one-replica reference.
        observation: The trial with the fix; what the fix said stands there, unless another release is the fix.
        targets: Symptoms that the fix should cure; empty: whatever the release shows without it.

    Returns:
        The grade and its reason.
    """
    fix, ending = observation.fix, observation.ending
    if fix is not None and fix.outcome != "applied":
        absent = fix.outcome == "absent"
        return (Grade.ABSENT if absent else Grade.INCONCLUSIVE), fix.detail or f"the fix says: {fix.outcome}"
    if ending.stage is Stage.FIX and ending.kind is not EndingKind.REFUSED and (why := _ended(patched)):
        return Grade.BREAKS, f"the fix itself ends the trial: {why}"
    shown = [s for s, v in without.items() if v.outcome is Outcome.BAD and (s in targets or not targets)]
    if shown:
        return _sick(case, without, patched, shown, targets)
    return _healthy(without, patched, targets)


def worst(runs: Sequence[Verdicts]) -> dict[Symptom, Verdict]:
    """Fold the verdicts of several runs: one bad run is bad, and one that cannot tell leaves it open."""
    order = (Outcome.GOOD, Outcome.SKIP, Outcome.BAD)
    folded: dict[Symptom, Verdict] = {}
    for run in runs:
        for symptom, verdict in run.items():
            kept = folded.setdefault(symptom, verdict)
            if order.index(verdict.outcome) > order.index(kept.outcome):
                folded[symptom] = verdict
    return folded


def luck(without: Sequence[Verdicts], runs: int) -> float:
    """Probability that the rarest of the symptoms shown without the fix stays away in `runs` runs by chance."""
    chances = [0.0]
    for symptom in {s for run in without for s in run}:
        outcomes = [run[symptom].outcome for run in without if symptom in run]
        bad, good = outcomes.count(Outcome.BAD), outcomes.count(Outcome.GOOD)
        if bad:
            chances.append((good / (bad + good)) ** runs)
    return max(chances)


def _ended(verdicts: Verdicts) -> str:
    """Why a trial ended before its time; "" when it did not, or when that tells nothing."""
    return next((str(verdicts[s].reason) for s in ENDS if s in verdicts and verdicts[s].outcome is Outcome.BAD), "")


def _healthy(without: Verdicts, patched: Verdicts, targets: Sequence[Symptom]) -> tuple[Grade, str]:
    good = [s for s, v in without.items() if v.outcome is Outcome.GOOD]
    new = [s for s in good if s in patched and patched[s].outcome is Outcome.BAD]
    if new:
        return Grade.BREAKS, f"without the fix it does not fail so, with it {new[0].value}: {patched[new[0]].reason}"
    if untold := why_untold(without, targets):
        return Grade.INCONCLUSIVE, f"without the fix it cannot be told: {untold}"
    if untold := why_untold(patched, targets):
        return Grade.INCONCLUSIVE, f"with the fix it cannot be told: {untold}"
    return Grade.NOT_REPRODUCED, "does not show the symptom without the fix, and not with it"


def why_untold(verdicts: Verdicts, targets: Sequence[Symptom]) -> str:
    """Why a target (without any: every symptom) was not decided; "" when all were (one was)."""
    skipped = [
        _untouched(s) if s not in verdicts else str(verdicts[s].reason) for s in targets if not _decided(verdicts, s)
    ]
    if targets or any(_decided(verdicts, s) for s in verdicts):
        return skipped[0] if skipped else ""
    return why_skipped(verdicts) or "not tested"


def _decided(verdicts: Verdicts, symptom: Symptom) -> bool:
    return symptom in verdicts and verdicts[symptom].outcome is not Outcome.SKIP


def _untouched(symptom: Symptom) -> str:
    return f"the case does not look for {symptom.value}"


def _sick(
    case: Case, without: Verdicts, patched: Verdicts, shown: Sequence[Symptom], targets: Sequence[Symptom]
) -> tuple[Grade, str]:
    bad = [s for s, v in patched.items() if v.outcome is Outcome.BAD]
    remaining = "; ".join(f"{s.value}: {patched[s].reason}" for s in bad)
    gone = [s for s in shown if s in patched and patched[s].outcome is Outcome.GOOD]
    new = [s for s in bad if s not in without or without[s].outcome is not Outcome.BAD]
    hidden = [s for s in shown if not _decided(patched, s)]
    if (new and hidden) or any(_turned(s, without, patched) for s in bad if s in shown):
        return Grade.BREAKS, f"with the fix {remaining}"
    if not gone and len(hidden) < len(shown):
        return Grade.NO_EFFECT, f"still there: {remaining}"
    if not gone:
        return Grade.INCONCLUSIVE, f"with the fix it cannot be told: {why_untold(patched, shown)}"
    names = ", ".join(s.value for s in gone)
    if bad:
        return Grade.MASKS, f"{names} is gone, but {remaining}"
    if left := _not_compared(case, patched, (*shown, *targets)):
        return Grade.INCONCLUSIVE, f"{names} is gone, but not everything could be compared: {left}"
    return Grade.PROVEN, f"{names} is gone and {_equality(case)}"


def _turned(symptom: Symptom, without: Verdicts, patched: Verdicts) -> bool:
    """Whether an early end became another one: it came earlier, or the cured one was hiding it."""
    return symptom in ENDS and without[symptom].signature != patched[symptom].signature


def _not_compared(case: Case, patched: Verdicts, symptoms: Sequence[Symptom]) -> str:
    if case.level is Level.MODEL and case.tolerance == Tolerance(metric=None, weights=None):
        return "the case compares neither metrics nor weights"
    return next((_untouched(s) for s in symptoms if s not in patched), why_skipped(patched))


def _equality(case: Case) -> str:
    """What was held against the reference, in words."""
    if case.level is Level.SCRIPT:
        return "the script finds nothing else wrong"
    held = case.tolerance
    if held.metric is None:
        return "every weight equals the reference on one replica (metrics are not compared)"
    if held.weights is None:
        return f"every metric equals the reference on one replica within {held.metric:g} (weights are not compared)"
    return "every value equals the reference on one replica"


def why_skipped(verdicts: Verdicts) -> str:
    """The first reason for a symptom that was not decided; "" when all were."""
    return next((str(v.reason) for v in verdicts.values() if v.outcome is Outcome.SKIP), "")
