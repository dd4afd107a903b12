"""Do the numbers of a trial equal those of its one-replica reference?"""

from __future__ import annotations

import math

from harness.domain.cases.case import Case
from harness.domain.cases.symptoms import Symptom
from harness.domain.trials.observation import EndingKind, Observation, WeightFacts
from harness.domain.trials.termination import failure
from harness.domain.verdicts.tolerance import close, weight_differences
from harness.domain.verdicts.verdict import GOOD, Verdict, bad, skip


def wrong_metric(case: Case, observation: Observation, reference: Observation | None) -> Verdict:
    """Judge every final number that the reference has."""
    tolerance = case.tolerance.metric
    missing = _no_comparison(observation, reference)
    if tolerance is None or missing or reference is None:
        return skip(missing or "not compared")
    own, theirs = observation.numbers, reference.numbers
    comparable = [name for name in theirs if math.isfinite(theirs[name])]
    if not comparable:
        return skip("the reference on one replica has no finite metric to compare with")
    wrong = [n for n in comparable if n not in own or not close(own[n], theirs[n], tolerance)]
    if wrong:
        shown = ", ".join(f"{n} is {_number(own.get(n))}, reference {theirs[n]:.6g}" for n in wrong[:3])
        return bad(f"{shown} (tolerance {tolerance:g})", Symptom.WRONG_METRIC.value)
    if alone := [name for name in own if name not in comparable]:
        return skip(f"the reference on one replica has no finite {alone[0]} to compare with")
    return GOOD


def _number(value: float | None) -> str:
    return "missing" if value is None else f"{value:.6g}"


def wrong_weights(case: Case, observation: Observation, reference: Observation | None) -> Verdict:
    """Judge the copies on the replicas, then every variable."""
    tolerance = case.tolerance.weights
    missing = _no_comparison(observation, reference)
    if tolerance is None or missing or reference is None:
        return skip(missing or "not compared")
    own, other = observation.weights, reference.weights
    if own is None or other is None or not other.finite:
        return skip("no finite weights of the reference on one replica to compare with")
    if apart := _replicas_apart(own, tolerance):
        return bad(apart, f"{Symptom.WRONG_WEIGHTS.value} | replicas differ")
    if own.norms.keys() != other.norms.keys():
        return skip("the two trials do not have the same variables")
    differing = weight_differences(own, other, tolerance)
    if not differing:
        return GOOD if _trained(other, tolerance) else skip("training moved no weight by more than the tolerance")
    name, mine, theirs = differing[0]
    more = f" and {len(differing) - 1} more" if len(differing) > 1 else ""
    why = f"{name} is {mine:.6g}, reference {theirs:.6g}{more} (tolerance {tolerance:g})"
    return bad(why, Symptom.WRONG_WEIGHTS.value)


def _replicas_apart(own: WeightFacts, tolerance: float) -> str:
    """Say which variable differs between replicas beyond the tolerance, relative to its own size; "" if none does."""
    for name, spread in own.spreads.items():
        if spread > tolerance * own.norms.get(name, 0.0) + 1e-7:
            return f"copies of {name} differ between replicas by {spread:.6g}"
    if not own.spreads and own.replica_spread > tolerance * _scale(own):
        return f"copies of one variable differ between replicas by {own.replica_spread:.6g}"
    return ""


def _trained(reference: WeightFacts, tolerance: float) -> bool:
    """Whether a wrong gradient could be seen at all: equal weights that never moved say nothing."""
    moved, norms = reference.moved, reference.norms
    return not moved or any(change > tolerance * norms.get(name, 0.0) + 1e-7 for name, change in moved.items())


def _scale(weights: WeightFacts) -> float:
    return max(weights.norms.values(), default=1.0) or 1.0


def _no_comparison(observation: Observation, reference: Observation | None) -> str:
    """Why a trial cannot be held against a reference; "" when it can."""
    if reference is None:
        return "there is no reference on one replica"
    if reference is observation:
        return "the trial on one replica is the reference itself"
    if reference.ending.kind is not EndingKind.FINISHED:
        return f"the reference on one replica did not finish: {failure(reference.ending)}"
    if _differ(_start(observation), _start(reference)):
        return "the two trials did not start from the same weights"
    if _differ(observation.data_digest, reference.data_digest):
        return "the two trials did not train on the same data"
    return ""


def _start(observation: Observation) -> str:
    return observation.weights.initial_digest if observation.weights is not None else ""


def _differ(one: str, other: str) -> bool:
    """Whether two hashes are known to differ; a model that is built in ``fit`` has no hash of its start everywhere."""
    return bool(one and other) and one != other
