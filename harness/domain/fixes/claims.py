"""What reports say, held against what was measured.

    the claim predicts   observed                                  answer
    -------------------  ----------------------------------------  -----------------
    (why not testable)   any                                       not testable here
    any                  not run, or the release is untestable     not testable here
    good                 a symptom                                 refuted
    good                 no symptom, one at least was looked for   supported
    good                 nothing could be told                     not testable here
    finite               the same, but values are not looked at    the same
    a symptom            that symptom                              supported
    a symptom            not that symptom                          refuted
    a symptom            it is hidden, or not looked for           not testable here

A claim that names no release is measured on every release asked for: one refutation refutes it, else one support
supports it. On one replica values are compared only when the claim is about values, and then with the same case
without its fault: there is no other reference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from harness.domain.cases.case import Case, Claim
from harness.domain.cases.symptoms import Symptom
from harness.domain.trials.variant import Variant
from harness.domain.verdicts.verdict import Outcome, Verdicts

GOOD = "good"
FINITE = "finite"
COMPARING = (Symptom.WRONG_METRIC.value, Symptom.WRONG_WEIGHTS.value)


class ClaimResult(str, Enum):
    """What the measurement says of a claim."""

    SUPPORTED = "supported"
    REFUTED = "refuted"
    NOT_TESTABLE = "not testable here"


@dataclass(frozen=True, kw_only=True)
class ClaimEvidence:
    """One trial that speaks for or against a claim.

    Attributes:
        version: Release.
        trial: What was run, in words.
        answer: What it says of the claim.
        reason: Why, with numbers.
        numbers: Final numbers of the trial.
        reference: Those of what it was held against.
    """

    version: str
    trial: str
    answer: ClaimResult
    reason: str
    numbers: Mapping[str, float] = field(default_factory=dict)
    reference: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ClaimFinding:
    """A claim with its answer."""

    claim: Claim
    answer: ClaimResult
    reason: str
    evidence: tuple[ClaimEvidence, ...] = ()


def weigh(claim: Claim, verdicts: Verdicts) -> tuple[ClaimResult, str]:
    """Hold a claim against the verdicts of one trial; returns the answer and why."""
    if claim.predicts == GOOD:
        return _weigh_health(verdicts, "no symptom shows")
    if claim.predicts == FINITE:
        looked_at = {s: verdict for s, verdict in verdicts.items() if s.value not in COMPARING}
        return _weigh_health(looked_at, "nothing raises and all is finite")
    symptom = Symptom(claim.predicts)
    verdict = verdicts.get(symptom)
    if verdict is None:
        return ClaimResult.NOT_TESTABLE, f"the case does not look for {symptom.value}"
    if verdict.outcome is Outcome.BAD:
        return ClaimResult.SUPPORTED, f"{symptom.value}: {verdict.reason}"
    if verdict.outcome is Outcome.GOOD:
        return ClaimResult.REFUTED, f"{symptom.value} does not show{_instead(verdicts)}"
    return ClaimResult.NOT_TESTABLE, str(verdict.reason)


def _weigh_health(verdicts: Verdicts, healthy: str) -> tuple[ClaimResult, str]:
    bad = [
        f"{symptom.value}: {verdict.reason}" for symptom, verdict in verdicts.items() if verdict.outcome is Outcome.BAD
    ]
    if bad:
        return ClaimResult.REFUTED, "; ".join(bad)
    skipped = {symptom.value: str(v.reason) for symptom, v in verdicts.items() if v.outcome is Outcome.SKIP}
    if len(skipped) == len(verdicts):
        return ClaimResult.NOT_TESTABLE, next(iter(skipped.values()), "nothing was looked for")
    left = f"; not looked at: {', '.join(skipped)}" if skipped else ""
    return ClaimResult.SUPPORTED, f"{healthy}{left}"


def _instead(verdicts: Verdicts) -> str:
    bad = [
        f"{symptom.value}: {verdict.reason}" for symptom, verdict in verdicts.items() if verdict.outcome is Outcome.BAD
    ]
    return f", but {'; '.join(bad)}" if bad else ""


def conclude(claim: Claim, evidence: Sequence[ClaimEvidence]) -> ClaimFinding:
    """Fold the evidence of one claim."""
    if claim.untestable:
        return ClaimFinding(claim=claim, answer=ClaimResult.NOT_TESTABLE, reason=claim.untestable)
    for answer in (ClaimResult.REFUTED, ClaimResult.SUPPORTED, ClaimResult.NOT_TESTABLE):
        telling = [one for one in evidence if one.answer is answer]
        if telling:
            reason = f"{telling[0].version}, {telling[0].trial}: {telling[0].reason}"
            return ClaimFinding(claim=claim, answer=answer, reason=reason, evidence=tuple(evidence))
    return ClaimFinding(claim=claim, answer=ClaimResult.NOT_TESTABLE, reason="not run")


def words(variant: Variant) -> str:
    """What was run: here one replica is no reference, but what the claim speaks of."""
    count = f"{variant.replicas} replica{'s' if variant.replicas > 1 else ''}"
    return ", ".join([count, *(f"{name}={value}" for name, value in variant.options)])


def looks_at_values(claim: Claim) -> bool:
    """Whether the claim is about values, so that it needs a reference even on one replica."""
    return claim.predicts in COMPARING


def replicas_of(case: Case, claim: Claim) -> int:
    """How many replicas the claim speaks of."""
    return claim.replicas or case.replicas
