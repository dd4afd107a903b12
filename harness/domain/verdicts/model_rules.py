"""Are the numbers of a trial finite, and do they equal those of its one-replica reference?"""

from __future__ import annotations

import math
from collections.abc import Sequence

from harness.domain.cases.case import Case
from harness.domain.cases.symptoms import Symptom
from harness.domain.trials.observation import EndingKind, NonFinite, Observation, WeightFacts
from harness.domain.verdicts.reasons import Number, Reason, ReasonKind
from harness.domain.verdicts.signatures import signature
from harness.domain.verdicts.termination import failure
from harness.domain.verdicts.tolerance import ROUNDING, close, weight_differences
from harness.domain.verdicts.verdict import GOOD, Verdict, bad, skip

NOT_COMPARED = Reason(kind=ReasonKind.NOT_COMPARED)


def nonfinite_metric(observation: Observation, reference: Observation | None) -> Verdict:
    """Judge the metrics of every step and the final ones."""
    names = observation.nonfinite_numbers
    first = observation.first_nonfinite_metric
    if not names and first is None:
        return GOOD if observation.numbers else skip(Reason(kind=ReasonKind.NO_METRIC))
    other = reference.nonfinite_numbers if reference is not None and reference is not observation else ()
    reason = Reason(
        kind=ReasonKind.NONFINITE_METRIC,
        numbers=tuple(Number(name=name, value=observation.numbers[name]) for name in names),
        first=first,
        name=next(iter(other), ""),
    )
    return bad(reason, _nonfinite_signature(Symptom.NONFINITE_METRIC, first, names))


def nonfinite_weights(observation: Observation) -> Verdict:
    """Judge the weights after training."""
    if observation.weights is None:
        return skip(Reason(kind=ReasonKind.NO_WEIGHTS))
    if observation.weights.count == 0:
        return skip(Reason(kind=ReasonKind.WEIGHTLESS))
    if observation.weights.finite:
        return GOOD
    first = observation.first_nonfinite_weight
    reason = Reason(kind=ReasonKind.NONFINITE_WEIGHTS, first=first)
    return bad(reason, _nonfinite_signature(Symptom.NONFINITE_WEIGHTS, first))


def wrong_metric(case: Case, observation: Observation, reference: Observation | None) -> Verdict:
    """Judge every final number that the reference has."""
    missing = _no_comparison(observation, reference)
    if (tolerance := case.tolerance.metric) is None or reference is None or missing:
        return skip(missing or NOT_COMPARED)
    own, theirs = observation.numbers, reference.numbers
    comparable = [name for name in theirs if math.isfinite(theirs[name])]
    if not comparable:
        return skip(Reason(kind=ReasonKind.REFERENCE_NOT_FINITE))
    wrong = [name for name in comparable if name not in own or not close(own[name], theirs[name], tolerance)]
    if wrong:
        numbers = tuple(Number(name=name, value=own.get(name), reference=theirs[name]) for name in wrong)
        reason = Reason(kind=ReasonKind.METRIC_DIFFERS, numbers=numbers, tolerance=tolerance)
        return bad(reason, Symptom.WRONG_METRIC.value)
    if alone := [name for name in own if name not in comparable]:
        return skip(Reason(kind=ReasonKind.REFERENCE_NOT_FINITE, name=alone[0]))
    return GOOD


def wrong_weights(case: Case, observation: Observation, reference: Observation | None) -> Verdict:
    """Judge the copies on the replicas, then every variable."""
    missing = _no_comparison(observation, reference)
    if (tolerance := case.tolerance.weights) is None or reference is None or missing:
        return skip(missing or NOT_COMPARED)
    own, other = observation.weights, reference.weights
    if own is None or other is None or not other.finite:
        return skip(Reason(kind=ReasonKind.WEIGHTS_NOT_FINITE))
    if apart := _replicas_apart(own, tolerance):
        return bad(apart, f"{Symptom.WRONG_WEIGHTS.value} | replicas differ")
    if own.norms.keys() != other.norms.keys():
        return skip(Reason(kind=ReasonKind.OTHER_VARIABLES))
    differing = weight_differences(own, other, tolerance)
    if not differing:
        return GOOD if _trained(other, tolerance) else skip(Reason(kind=ReasonKind.NOTHING_TRAINED))
    numbers = tuple(Number(name=name, value=mine, reference=theirs) for name, mine, theirs in differing)
    reason = Reason(kind=ReasonKind.WEIGHTS_DIFFER, numbers=numbers, tolerance=tolerance)
    return bad(reason, Symptom.WRONG_WEIGHTS.value)


def _nonfinite_signature(symptom: Symptom, first: NonFinite | None, names: Sequence[str] = ()) -> str:
    """The step is left out: it moves with the number of replicas and the noise of the data."""
    return signature(symptom.value, first_name=first.name if first else next(iter(names), ""))


def _replicas_apart(own: WeightFacts, tolerance: float) -> Reason | None:
    """The variable that differs between replicas beyond the tolerance, relative to its own size; None if none does."""
    for name, spread in own.spreads.items():
        if spread > tolerance * own.norms.get(name, 0.0) + ROUNDING:
            return Reason(kind=ReasonKind.REPLICAS_DIFFER, name=name, spread=spread)
    if not own.spreads and own.replica_spread > tolerance * _scale(own):
        return Reason(kind=ReasonKind.REPLICAS_DIFFER, spread=own.replica_spread)
    return None


def _trained(reference: WeightFacts, tolerance: float) -> bool:
    """Whether a wrong gradient could be seen at all: equal weights that never moved say nothing."""
    moved, norms = reference.moved, reference.norms
    return not moved or any(change > tolerance * norms.get(name, 0.0) + ROUNDING for name, change in moved.items())


def _scale(weights: WeightFacts) -> float:
    return max(weights.norms.values(), default=1.0) or 1.0


def _no_comparison(observation: Observation, reference: Observation | None) -> Reason | None:
    """Why a trial cannot be compared with a reference; None when it can."""
    if reference is None:
        return Reason(kind=ReasonKind.NO_REFERENCE)
    if reference is observation:
        return Reason(kind=ReasonKind.IS_REFERENCE)
    if reference.ending.kind is not EndingKind.FINISHED:
        return Reason(kind=ReasonKind.REFERENCE_FAILED, cause=failure(reference.ending))
    if _differ(_start(observation), _start(reference)):
        return Reason(kind=ReasonKind.OTHER_START)
    if _differ(observation.data_digest, reference.data_digest):
        return Reason(kind=ReasonKind.OTHER_DATA)
    return None


def _start(observation: Observation) -> str:
    return observation.weights.initial_digest if observation.weights is not None else ""


def _differ(one: str, other: str) -> bool:
    """Whether two hashes are known to differ; a model that is built in ``fit`` has no hash of its start everywhere."""
    return bool(one and other) and one != other
