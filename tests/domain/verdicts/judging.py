"""The judge asked in short: what comes out for a symptom, and why."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from harness.domain.cases.case import Case, Level
from harness.domain.cases.symptoms import READ, Symptom
from harness.domain.trials.observation import EndingKind, Observation, Stage
from harness.domain.verdicts.judgement import judge
from harness.domain.verdicts.reasons import recorded
from harness.domain.verdicts.verdict import Outcome, Verdict
from tests.examples import case, ending, observation

GOOD, BAD, SKIP = Outcome.GOOD, Outcome.BAD, Outcome.SKIP
MODEL = case()
SCRIPT = case(level=Level.SCRIPT)
REFERENCE = observation()
UNASKED = [s for s in Symptom if s not in (*READ, Symptom.IMPORT_ERROR)]
"""The symptoms that a model case shows without saying how."""
SYMPTOMS = st.none() | st.sampled_from(Symptom)


def outcomes(about: Case, seen: Observation, reference: Observation | None = REFERENCE) -> dict[Symptom, Outcome]:
    return {symptom: verdict.outcome for symptom, verdict in judge(about, seen, reference).items()}


def reason(symptom: Symptom, about: Case, seen: Observation, reference: Observation | None = REFERENCE) -> str:
    return str(judge(about, seen, reference)[symptom].reason)


def said(verdict: Verdict) -> Verdict:
    """The same verdict with nothing but the sentence of its reason."""
    return replace(verdict, reason=recorded(str(verdict.reason)))


def ended(kind: EndingKind, stage: Stage = Stage.TRAIN, **facts: object) -> Observation:
    return observation({}, weights=None, ending=ending(kind, stage, **facts))


def hidden_but(symptom: Symptom) -> dict[Symptom, Outcome]:
    """One symptom shows; none of the others can be seen behind it."""
    return {other: BAD if other is symptom else SKIP for other in UNASKED}
