"""What the nights so far say of each symptom of each case, and what tonight adds to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from harness.domain.cases.symptoms import Symptom
from harness.domain.nightly.nights import (
    ALERTING,
    BELIEVED,
    UNDECIDED,
    CaseNight,
    CaseResult,
    NightExit,
    NightRecord,
    Status,
    StatusEvidence,
    decide,
    healthy,
)
from harness.domain.verdicts.verdict import Outcome, Verdicts

Standings = Mapping[tuple[str, Symptom], "CaseStatus"]
"""By case and symptom."""


@dataclass(frozen=True, kw_only=True)
class CaseStatus:
    """What the nights so far say of one symptom of one case.

    Attributes:
        last: The last outcome that was believed.
        expected: Whether that was bad and excused by an expectation.
        version: The nightly that showed it.
        night: When.
        ever_bad: Whether any believed night was bad.
        control: The established outcome of each control release.
        odd: Another one, seen on the last night alone: it becomes the established one when it is seen twice.
    """

    last: Outcome | None = None
    expected: bool = False
    version: str = ""
    night: str = ""
    ever_bad: bool = False
    control: Mapping[str, Outcome] = field(default_factory=dict)
    odd: Mapping[str, Outcome] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class JudgedSymptom:
    """One symptom of one case in one night, with the status and its reason."""

    case: str
    symptom: Symptom
    status: Status
    outcome: Outcome | None
    reason: str
    expected: str = ""
    control_healthy: bool = True
    inferred: bool = False


def evidence_for(record: NightRecord, seen: CaseNight, symptom: Symptom, status_before: CaseStatus) -> StatusEvidence:
    """Gather what the status of one symptom depends on."""
    control = _outcomes(seen.control, symptom)
    fault = bool(record.fault) or any(result.fault for result in seen.nightly)
    sound = not any(result.fault or result.blocked for result in seen.control)
    known = status_before.control.get(record.control)
    agreed = control[0] if sound and len(set(control)) == 1 and control[0] is not Outcome.SKIP else None
    first = status_before.last is None
    return StatusEvidence(
        fault=fault,
        runs=_outcomes(seen.nightly, symptom),
        expected_bad=symptom in seen.expected,
        before=agreed if first else status_before.last,
        before_expected=symptom in seen.control_expected if first else status_before.expected,
        ever_bad=status_before.ever_bad,
        control_healthy=sound and healthy(control, known, expected_bad=symptom in seen.control_expected),
        same_build=not first and status_before.version == record.nightly,
        confirmations=record.confirmations,
    )


def judge_case(record: NightRecord, seen: CaseNight, statuses: Standings) -> list[JudgedSymptom]:
    """Give every symptom of a case its status; where nothing was seen, one status stands for what hides all else."""
    shown = {symptom for result in (*seen.nightly, *seen.control) for symptom in result.verdicts}
    known = {symptom for case, symptom in statuses if case == seen.case}
    symptoms = shown | known | set(seen.expected) or {Symptom.EXCEPTION}
    return [_judged(record, seen, symptom, statuses) for symptom in Symptom if symptom in symptoms]


def advance(
    statuses: Standings, record: NightRecord, judged: Iterable[JudgedSymptom]
) -> dict[tuple[str, Symptom], CaseStatus]:
    """The standings after a night: what was not believed leaves them as they were."""
    after = dict(statuses)
    by_case = {seen.case: seen for seen in record.cases}
    for one in judged:
        before = after.get((one.case, one.symptom), CaseStatus())
        after[one.case, one.symptom] = _advanced(before, record, one, by_case[one.case])
    return after


def exit_code(record: NightRecord, judged: Sequence[JudgedSymptom]) -> NightExit:
    """A regression before a recovery, a recovery before doubt."""
    words = {one.status for one in judged}
    if words & ALERTING:
        return NightExit.NEW_REGRESSION
    if Status.FIXED in words:
        return NightExit.RECOVERY
    cases = {one.case for one in judged}
    blind = [case for case in cases if all(j.status is Status.INSUFFICIENT for j in judged if j.case == case)]
    doubtful = record.fault or record.stale or blind or not judged or words & UNDECIDED
    return NightExit.INCONCLUSIVE if doubtful else NightExit.AS_EXPECTED


def _outcomes(results: Sequence[CaseResult], symptom: Symptom) -> tuple[Outcome, ...]:
    verdicts: list[Verdicts] = [result.verdicts for result in results if not result.fault]
    return tuple(v[symptom].outcome if symptom in v else Outcome.SKIP for v in verdicts)


def _judged(record: NightRecord, seen: CaseNight, symptom: Symptom, statuses: Standings) -> JudgedSymptom:
    evidence = evidence_for(record, seen, symptom, statuses.get((seen.case, symptom), CaseStatus()))
    status = decide(evidence)
    decided = [outcome for outcome in evidence.runs if outcome is not Outcome.SKIP]
    return JudgedSymptom(
        case=seen.case,
        symptom=symptom,
        status=status,
        outcome=decided[0] if len(set(decided)) == 1 else None,
        reason=_reason(record, seen, symptom, status, evidence),
        expected=seen.expected.get(symptom, ""),
        control_healthy=evidence.control_healthy,
        inferred=any(result.inferred for result in seen.nightly),
    )


def _reason(record: NightRecord, seen: CaseNight, symptom: Symptom, status: Status, evidence: StatusEvidence) -> str:
    """Why: the fault, the doubt, or what the trial itself said."""
    faults = [result.fault for result in (*seen.nightly, *seen.control) if result.fault]
    reasons = [str(result.verdicts[symptom].reason) for result in seen.nightly if symptom in result.verdicts]
    said = next((reason for reason in reasons if reason), "")
    blocked = next((result.blocked for result in seen.nightly if result.blocked), "")
    match status:
        case Status.INFRASTRUCTURE:
            return record.fault or faults[0]
        case Status.INSUFFICIENT:
            return blocked or said or "nothing was decided"
        case Status.FLAKY:
            bad = sum(outcome is Outcome.BAD for outcome in evidence.runs)
            return f"bad in {bad} of {len(evidence.runs)} runs of {record.nightly}: {said}"
        case Status.SUSPICIOUS if not evidence.control_healthy:
            return f"the control {record.control} is not healthy in this slot, so nothing is believed: {said}"
        case Status.SUSPICIOUS if evidence.same_build:
            return f"the very same build said otherwise on an earlier night: {said}"
        case Status.SUSPICIOUS:
            return f"not confirmed: {len(evidence.runs)} of {evidence.confirmations} runs: {said}"
        case _:
            return said


def _advanced(before: CaseStatus, record: NightRecord, one: JudgedSymptom, seen: CaseNight) -> CaseStatus:
    control, odd = _established(before, record.control, seen, one.symptom)
    believed = one.status in BELIEVED and one.outcome is not None
    if not believed:
        return replace(before, control=control, odd=odd)
    bad = one.outcome is Outcome.BAD
    return CaseStatus(
        last=one.outcome,
        expected=bad and bool(one.expected),
        version=record.nightly,
        night=record.night,
        ever_bad=before.ever_bad or bad,
        control=control,
        odd=odd,
    )


def _established(
    before: CaseStatus, version: str, seen: CaseNight, symptom: Symptom
) -> tuple[Mapping[str, Outcome], Mapping[str, Outcome]]:
    """What a control release is known to say: the first answer, until another one came on two nights in a row.

    A night on a sick machine does not teach anything; a new set of companions, which stays, does.
    """
    control = _outcomes(seen.control, symptom)
    if not control or len(set(control)) > 1 or any(result.blocked or result.fault for result in seen.control):
        return before.control, before.odd
    known, said = before.control.get(version), control[0]
    if known is None or said is known or before.odd.get(version) is said:
        return {**before.control, version: said}, {v: o for v, o in before.odd.items() if v != version}
    return before.control, {**before.odd, version: said}
