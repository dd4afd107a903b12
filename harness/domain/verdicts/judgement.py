"""From facts to a verdict: a pure function of the observation, its reference and the case."""

from __future__ import annotations

from dataclasses import replace

from harness.domain.cases.case import Case, Level
from harness.domain.cases.symptoms import FAILURES, READ, Symptom
from harness.domain.trials.observation import Observation
from harness.domain.verdicts.failure_text import only_matching
from harness.domain.verdicts.model_rules import nonfinite_metric, nonfinite_weights, wrong_metric, wrong_weights
from harness.domain.verdicts.read_rules import read_verdicts
from harness.domain.verdicts.reasons import Reason, ReasonKind
from harness.domain.verdicts.script_rules import judge_script
from harness.domain.verdicts.signatures import signature
from harness.domain.verdicts.termination import ended_badly, manner, not_imported, untestable
from harness.domain.verdicts.verdict import GOOD, Outcome, Verdict, bad, hidden, skip


def judge(
    case: Case, observation: Observation, reference: Observation | None, baseline: Observation | None = None
) -> dict[Symptom, Verdict]:
    """Judge one trial against the one-replica reference of the same environment.

    Args:
        case: Says the level, the tolerance and the symptom it expects.
        observation: The trial.
        reference: The same case on one replica; None for scripts.
        baseline: The same trial in the release whose value is the right one; None while there is none.

    Returns:
        A verdict for every symptom that the case can show. A symptom that another one hides is
        `skip` with a reason of the kind `HIDDEN`, never good.

    Raises:
        InfrastructureError: a script was ended by a signal that it does not expect (git's contract: abort).
    """
    judged = judge_script(case, observation) if case.level is Level.SCRIPT else _model(case, observation, reference)
    read = read_verdicts(case, observation, reference, baseline, judged)
    return only_matching(case, observation, {**judged, **read})


def _model(case: Case, observation: Observation, reference: Observation | None) -> dict[Symptom, Verdict]:
    ending = observation.ending
    symptoms = _observable(case)
    if failed := not_imported(ending, case):
        known_by = signature(Symptom.IMPORT_ERROR.value, exception=manner(ending), message=ending.message or "")
        return {
            s: bad(failed, known_by) if s is Symptom.IMPORT_ERROR else hidden(Symptom.IMPORT_ERROR, failed)
            for s in symptoms
        }
    if reason := untestable(ending, case):
        return dict.fromkeys(symptoms, skip(reason))
    if ended := ended_badly(ending, case):
        symptom, why = ended
        known_by = signature(symptom.value, exception=manner(ending), message=ending.message or "")
        return {s: bad(why, known_by) if s is symptom else hidden(symptom, why) for s in symptoms}
    verdicts = dict.fromkeys(symptoms, GOOD)
    verdicts[Symptom.NONFINITE_METRIC] = nonfinite_metric(observation, reference)
    verdicts[Symptom.NONFINITE_WEIGHTS] = nonfinite_weights(observation)
    for wrong, hider, compare in (
        (Symptom.WRONG_METRIC, Symptom.NONFINITE_METRIC, wrong_metric),
        (Symptom.WRONG_WEIGHTS, Symptom.NONFINITE_WEIGHTS, wrong_weights),
    ):
        if wrong in verdicts:
            hiding = verdicts[hider]
            seen = hiding.outcome is not Outcome.BAD
            verdicts[wrong] = compare(case, observation, reference) if seen else hidden(hider, hiding.reason)
    return _long_enough(verdicts, observation, reference)


def _long_enough(
    verdicts: dict[Symptom, Verdict], observation: Observation, reference: Observation | None
) -> dict[Symptom, Verdict]:
    """A trial that trained fewer steps than its reference has not shown that nothing goes wrong in the rest."""
    steps, wanted = _steps(observation), _steps(reference) if reference is not None else 0
    if not 0 < steps < wanted:
        return verdicts
    counts = (steps, wanted)
    found = dict(verdicts)
    for symptom, verdict in verdicts.items():
        if symptom not in FAILURES and verdict == GOOD:
            found[symptom] = skip(Reason(kind=ReasonKind.TOO_FEW_STEPS, counts=counts))
        elif symptom in (Symptom.WRONG_METRIC, Symptom.WRONG_WEIGHTS) and verdict.outcome is Outcome.BAD:
            found[symptom] = replace(verdict, reason=replace(verdict.reason, counts=counts))
    return found


def _steps(observation: Observation) -> int:
    return max((len(series) for series in observation.steps.values()), default=0)


def _observable(case: Case) -> list[Symptom]:
    left_out = set(READ)
    if case.expects is not Symptom.IMPORT_ERROR:
        left_out.add(Symptom.IMPORT_ERROR)
    if case.tolerance.metric is None:
        left_out.add(Symptom.WRONG_METRIC)
    if case.tolerance.weights is None:
        left_out.add(Symptom.WRONG_WEIGHTS)
    return [symptom for symptom in Symptom if symptom not in left_out]
