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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum

from harness.core.cases import Case, Level, Tolerance
from harness.core.observations import EndingKind, Observation, Stage
from harness.core.questions import Question
from harness.core.runs import Setting
from harness.core.symptoms import ENDS, Symptom
from harness.core.verdicts import Outcome, Verdict, Verdicts

LUCK = 0.01  # a flaky symptom may stay away by chance; beyond this probability that proves nothing


class Grade(str, Enum):
    """What a fix does to one release, the best first."""

    PROVEN = "proven"
    MASKS = "masks"
    NO_EFFECT = "no effect"
    BREAKS = "breaks"
    ABSENT = "absent"
    NOT_REPRODUCED = "not reproduced"
    INCONCLUSIVE = "inconclusive"


class FixExit(IntEnum):
    """Exit codes of ``harness verify-fix``."""

    PROVEN = 0
    NO_CURE = 3
    NOT_RIGHT = 4
    INCONCLUSIVE = 5
    BREAKS = 7


@dataclass(frozen=True, kw_only=True)
class Graded:
    """One release's grade with its evidence.

    Attributes:
        version: The release.
        grade: The grade.
        reason: One sentence.
        reference: Numbers on one replica.
        without: Numbers on several replicas, unpatched.
        patched: The same with the fix.
        by_symptom: Outcome per symptom, (without, with).
    """

    version: str
    grade: Grade
    reason: str
    reference: Mapping[str, float] = field(default_factory=dict)
    without: Mapping[str, float] = field(default_factory=dict)
    patched: Mapping[str, float] = field(default_factory=dict)
    by_symptom: Mapping[str, tuple[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class FixResult:
    """One fix over all releases asked for."""

    name: str
    sentence: str
    releases: tuple[Graded, ...]


@dataclass(frozen=True, kw_only=True)
class FixReport:
    """The whole answer of ``verify-fix``; every report is a pure function of it.

    Attributes:
        schema_version: Version of this shape.
        title: Title of the case.
        question: What was asked.
        environment: What all environments share.
        targets: Symptoms to be cured.
        fixes: One result per fix.
        workarounds: What pinning a release is worth, one sentence per stretch of equal releases.
        control: The last good release, tried beside those asked for; "" when one of those is healthy.
        exit_code: Exit code of the command.
        timing: Seconds by phase, summed over parallel jobs.
        locks: By key of the environment, what its lock has beside the shared one.
        reproduce: The command that asks the same again.
    """

    schema_version: int = 1
    title: str
    question: Question
    environment: Setting
    targets: tuple[Symptom, ...]
    fixes: tuple[FixResult, ...]
    workarounds: tuple[str, ...] = ()
    control: str = ""
    exit_code: int
    timing: Mapping[str, float] = field(default_factory=dict)
    locks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    reproduce: str = ""


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
    return next((verdicts[s].reason for s in ENDS if s in verdicts and verdicts[s].outcome is Outcome.BAD), "")


def _healthy(without: Verdicts, patched: Verdicts, targets: Sequence[Symptom]) -> tuple[Grade, str]:
    good = [s for s, v in without.items() if v.outcome is Outcome.GOOD]
    new = [s for s in good if s in patched and patched[s].outcome is Outcome.BAD]
    if new:
        return Grade.BREAKS, f"without the fix it does not fail so, with it {new[0].value}: {patched[new[0]].reason}"
    if untold := _untold(without, targets):
        return Grade.INCONCLUSIVE, f"without the fix it cannot be told: {untold}"
    if untold := _untold(patched, targets):
        return Grade.INCONCLUSIVE, f"with the fix it cannot be told: {untold}"
    return Grade.NOT_REPRODUCED, "does not show the symptom without the fix, and not with it"


def _untold(verdicts: Verdicts, targets: Sequence[Symptom]) -> str:
    """Why a target (without any: every symptom) was not decided; "" when all were (one was)."""
    skipped = [_untouched(s) if s not in verdicts else verdicts[s].reason for s in targets if not _decided(verdicts, s)]
    if targets or any(_decided(verdicts, s) for s in verdicts):
        return skipped[0] if skipped else ""
    return _first_skip(verdicts) or "not tested"


def _decided(verdicts: Verdicts, symptom: Symptom) -> bool:
    return symptom in verdicts and verdicts[symptom].outcome is not Outcome.SKIP


def _untouched(symptom: Symptom) -> str:
    return f"the case does not look for {symptom.value}"


def _sick(
    case: Case, without: Verdicts, patched: Verdicts, shown: Sequence[Symptom], targets: Sequence[Symptom]
) -> tuple[Grade, str]:
    bad = [s for s, v in patched.items() if v.outcome is Outcome.BAD]
    told = "; ".join(f"{s.value}: {patched[s].reason}" for s in bad)
    gone = [s for s in shown if s in patched and patched[s].outcome is Outcome.GOOD]
    new = [s for s in bad if s not in without or without[s].outcome is not Outcome.BAD]
    hidden = [s for s in shown if not _decided(patched, s)]
    if (new and hidden) or any(_turned(s, without, patched) for s in bad if s in shown):
        return Grade.BREAKS, f"with the fix {told}"
    if not gone and len(hidden) < len(shown):
        return Grade.NO_EFFECT, f"still there: {told}"
    if not gone:
        return Grade.INCONCLUSIVE, f"with the fix it cannot be told: {_untold(patched, shown)}"
    names = ", ".join(s.value for s in gone)
    if bad:
        return Grade.MASKS, f"{names} is gone, but {told}"
    if left := _not_compared(case, patched, (*shown, *targets)):
        return Grade.INCONCLUSIVE, f"{names} is gone, but not everything could be compared: {left}"
    return Grade.PROVEN, f"{names} is gone and {_equality(case)}"


def _turned(symptom: Symptom, without: Verdicts, patched: Verdicts) -> bool:
    """Whether an early end became another one: it came earlier, or the cured one was hiding it."""
    return symptom in ENDS and without[symptom].signature != patched[symptom].signature


def _not_compared(case: Case, patched: Verdicts, asked: Sequence[Symptom]) -> str:
    if case.level is Level.MODEL and case.tolerance == Tolerance(metric=None, weights=None):
        return "the case compares neither metrics nor weights"
    return next((_untouched(s) for s in asked if s not in patched), _first_skip(patched))


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


def _first_skip(verdicts: Verdicts) -> str:
    return next((v.reason for v in verdicts.values() if v.outcome is Outcome.SKIP), "")


def exit_code(grades: Sequence[Grade]) -> FixExit:
    """The worst counts: breaking a healthy release, then not right, then no cure; proven needs a proof."""
    found = set(grades)
    if Grade.BREAKS in found:
        return FixExit.BREAKS
    if Grade.MASKS in found:
        return FixExit.NOT_RIGHT
    if Grade.NO_EFFECT in found:
        return FixExit.NO_CURE
    return FixExit.PROVEN if Grade.PROVEN in found else FixExit.INCONCLUSIVE


_ADVICE = {
    Grade.PROVEN: "cures",
    Grade.MASKS: "takes the symptom away but leaves wrong values on",
    Grade.NO_EFFECT: "does nothing for",
    Grade.BREAKS: "breaks",
    Grade.ABSENT: "finds nothing to patch in",
    Grade.NOT_REPRODUCED: "is not needed on",
    Grade.INCONCLUSIVE: "could not be judged on",
}


def sentence(name: str, graded: Sequence[Graded]) -> str:
    """Say where to use a fix and where not, in one sentence."""
    parts = []
    for one in Grade:
        places = [n for n, g in enumerate(graded) if g.grade is one]
        if places:
            parts.append(f"{_ADVICE[one]} {', '.join(_spans(graded, places))}")
    advice = "use it nowhere" if Grade.PROVEN not in {g.grade for g in graded} else "use it only where it cures"
    return f"{name} {'; '.join(parts)}: {advice}." if parts else f"{name} was not tried on any release."


def _spans(graded: Sequence[Graded], places: Sequence[int]) -> list[str]:
    """Fold neighbouring releases into "first to last"."""
    spans: list[list[int]] = []
    for place in places:
        if spans and spans[-1][-1] == place - 1:
            spans[-1].append(place)
        else:
            spans.append([place])
    names = [(graded[s[0]].version, graded[s[-1]].version) for s in spans]
    return [first if first == last else f"{first} to {last}" for first, last in names]


def causes(fixes: Sequence[FixResult]) -> list[str]:
    """Which key of the mapping each symptom hangs on: those whose change, alone, makes it go away.

    Args:
        fixes: Results of a sweep, named ``key->VALUE``.
    """
    told = []
    for place, one in enumerate(fixes[0].releases if fixes else ()):
        for symptom, (without, _) in one.by_symptom.items():
            gone = [f.name for f in fixes if _gone(f.releases[place], symptom)]
            if without == Outcome.BAD.value and gone:
                keys = ", ".join(dict.fromkeys(name.split("->")[0] for name in gone))
                told.append(f"{symptom} on {one.version} hangs on the key {keys}: gone with {', '.join(gone)}")
    return told


def _gone(one: Graded, symptom: str) -> bool:
    """Decided and not shown; a run that ends early cannot say so."""
    return one.by_symptom.get(symptom, ("", ""))[1] == Outcome.GOOD.value


def workarounds(package: str, rows: Sequence[tuple[str, Verdicts]], targets: Sequence[Symptom]) -> list[str]:
    """What pinning each release is worth: one sentence per stretch of releases that behave alike.

    Args:
        package: Distribution under test.
        rows: Version and verdicts without any fix, in order.
        targets: Symptoms that the user wants to be rid of.
    """
    stretches: list[tuple[str, list[str], str]] = []
    for version, verdicts in rows:
        told, evidence = _worth(verdicts, targets)
        if stretches and stretches[-1][0] == told:
            stretches[-1][1].append(version)
        else:
            stretches.append((told, [version], evidence))
    return [f"pin {package} {_span(versions)}: {told}{evidence}" for told, versions, evidence in stretches]


def _span(versions: Sequence[str]) -> str:
    return versions[0] if len(versions) == 1 else f"{versions[0]} to {versions[-1]}"


def _worth(verdicts: Verdicts, targets: Sequence[Symptom]) -> tuple[str, str]:
    bad = {s: v.reason for s, v in verdicts.items() if v.outcome is Outcome.BAD}
    shown = [s for s in bad if s in targets or not targets]
    if shown:
        return f"no workaround, shows {', '.join(s.value for s in shown)}", f" ({bad[shown[0]]})"
    names = ", ".join(t.value for t in targets) or "any symptom"
    if bad:
        evidence = "; ".join(f"{s.value}: {reason}" for s, reason in bad.items())
        return f"does not show {names}, but is not right: {', '.join(s.value for s in bad)}", f" ({evidence})"
    if untold := _untold(verdicts, targets):
        return "could not be tested", f" ({untold})"
    if left := _first_skip(verdicts):
        return f"does not show {names}; whether it is right could not be told", f" ({left})"
    return f"does not show {names} and nothing else that the case looks for", ""
