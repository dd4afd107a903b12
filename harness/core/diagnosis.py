"""Where a training first goes wrong: data, compute, optimisation or metric state. One factor at a time.

    in this order                                             boundary
    --------------------------------------------------------  ------------
    the data is not finite, or does not fit the compute type  data
    only the state of metrics is not finite                   metric state
    weights or loss had run away before the bad step          optimisation
    a layer's output is not finite                            compute
    the loss is not finite                                    compute
    a gradient is not finite, unscaled                        compute
    a gradient is not finite, with loss scaling only          optimisation
    forward, loss and gradients are finite, a weight is not   optimisation

A control in float32 tells whether the type decides: what stays finite there is a matter of range.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from harness.core.diagnosis_facts import DiagnosisFacts, ShareFacts
from harness.core.evidence import (
    bad_samples,
    cured_by_float32,
    evidence,
    first_place,
    is_finite,
    reach,
    runaway,
    share_place,
    went_wrong,
)
from harness.core.observations import EndingKind, Observation


class Boundary(str, Enum):
    """The first place that is wrong."""

    DATA = "data"
    COMPUTE = "compute"
    OPTIMISATION = "optimisation"
    METRIC_STATE = "metric state"
    NONE = "none"


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """The answer of ``harness diagnose``.

    Attributes:
        boundary: The first place that is wrong.
        sentence: What is wrong there: step, replica, tensor, operation.
        evidence: What was looked at, in order, one line each.
        next_change: The single change to try next.
        disturbance: How watching changed the numbers; "" when it did not.
    """

    boundary: Boundary
    sentence: str
    evidence: tuple[str, ...]
    next_change: str
    disturbance: str = ""


def diagnose(watched: Observation, plain: Observation, baseline: Observation | None) -> Diagnosis:
    """Name the boundary.

    Args:
        watched: The trial that was watched, with its `diagnosis`.
        plain: The same trial unwatched.
        baseline: The same in float32; None when the model computes in float32 anyway.
    """
    facts = watched.diagnosis or DiagnosisFacts()
    boundary, sentence, change = _boundary(facts, watched, baseline)
    return Diagnosis(
        boundary=boundary,
        sentence=sentence,
        evidence=tuple(evidence(facts, baseline)),
        next_change=change,
        disturbance=disturbance(watched, plain),
    )


def disturbance(watched: Observation, plain: Observation) -> str:
    """Say in which numbers the watched trial differs from the plain one."""
    names = dict.fromkeys([*plain.numbers, *watched.numbers])
    differing = [n for n in names if not _same(plain.numbers.get(n), watched.numbers.get(n))]
    if plain.ending.kind is not watched.ending.kind:
        return f"unwatched the trial {plain.ending.kind.value}, watched it {watched.ending.kind.value}"
    shown = [f"{n}: {plain.numbers.get(n)} unwatched, {watched.numbers.get(n)} watched" for n in differing[:3]]
    return "; ".join(shown)


def _same(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return one == other or (math.isnan(one) and math.isnan(other))


def _boundary(facts: DiagnosisFacts, watched: Observation, baseline: Observation | None) -> tuple[Boundary, str, str]:
    wrong_data = next((array for array in facts.arrays if not array.finite), None)
    if wrong_data is not None:
        return Boundary.DATA, bad_samples(wrong_data), "drop or repair these samples, then run again"
    too_large = next((array for array in facts.arrays if array.largest > facts.compute_max), None)
    if too_large is not None:
        return (
            Boundary.DATA,
            f"{reach(too_large)} does not fit {facts.compute_dtype} (largest {facts.compute_max:.6g})",
            "normalise this feature (with a floor on the standard deviation), or keep the input in float32",
        )
    if watched.ending.kind is EndingKind.RAISED:
        return _raised(facts, watched)
    if facts.step is None:
        return Boundary.NONE, "nothing became non-finite in this training", "look at another release or more steps"
    return _in_training(facts, baseline)


def _raised(facts: DiagnosisFacts, watched: Observation) -> tuple[Boundary, str, str]:
    empty = [share for share in facts.shares if share.rows == 0]
    first = (watched.ending.message or "no message").splitlines()[0]
    message = f"{watched.ending.exception}: {first}"
    if empty:
        return (
            Boundary.DATA,
            f"the batch of step {facts.raised_in_step} leaves replica {empty[0].replica} without samples; {message}",
            "drop the last incomplete batch, or choose a batch size that divides the number of samples",
        )
    return Boundary.COMPUTE, f"{message} (while: {watched.ending.stage.value})", "mend what the message names"


def _in_training(facts: DiagnosisFacts, baseline: Observation | None) -> tuple[Boundary, str, str]:
    share = next((s for s in facts.shares if went_wrong(s)), None)
    roles = {variable.role for variable in facts.bad}
    if share is None and roles <= {"metric", "log"} and facts.weights_finite:
        return _metric_state(facts)
    growth = runaway(facts)
    if growth and not cured_by_float32(baseline):
        return (
            Boundary.OPTIMISATION,
            f"before step {facts.step} {growth}: the training diverges; first non-finite: {first_place(facts, share)}",
            "divide the learning rate by ten (or by the number of replicas), or clip the gradient's norm",
        )
    if share is None:
        weight = next((v for v in facts.bad if v.role in ("model", "optimizer")), None)
        name = f"{weight.path} on replica {weight.replica}" if weight else "the state"
        return (
            Boundary.OPTIMISATION,
            f"step {facts.step}: forward pass, loss and gradients are finite, yet {name} is not after the update",
            "try plain SGD without scaling or clipping, to see which part of the update does it",
        )
    return _in_share(facts, share, baseline)


def _in_share(facts: DiagnosisFacts, share: ShareFacts, baseline: Observation | None) -> tuple[Boundary, str, str]:
    place = f"step {facts.step}, replica {share.replica}: {share_place(share)}"
    if share.layer is None and share.gradient is None and share.scaled_gradient is not None and is_finite(share.loss):
        return (
            Boundary.OPTIMISATION,
            f"{place}: finite without loss scaling, not finite with it",
            "lower the loss scale, or let LossScaleOptimizer find it",
        )
    if cured_by_float32(baseline):
        return (
            Boundary.COMPUTE,
            f"{place}; in float32 the same training stays finite, so the range of {facts.compute_dtype} decides",
            f"compute {share.layer or 'the loss'} in float32 and leave the rest as it is",
        )
    change = {
        "Log": "add an epsilon inside the logarithm",
        "RealDiv": "add an epsilon to the denominator",
        "DivNoNan": "add an epsilon to the denominator",
        "Sqrt": "put a floor under the root",
        "SqrtGrad": "put a floor under the root: its slope at 0 is infinite",
        "Rsqrt": "put a floor under the root",
    }.get(share.operation or "", "look at the inputs of this operation")
    return Boundary.COMPUTE, place, change


def _metric_state(facts: DiagnosisFacts) -> tuple[Boundary, str, str]:
    metric = next((v for v in facts.bad if v.role == "metric"), facts.bad[0])
    summed = metric.aggregation == "SUM" and metric.synchronization == "ON_WRITE"
    how = f" (aggregation {metric.aggregation}, synchronization {metric.synchronization})" if metric.aggregation else ""
    why = (
        ": the signature of the aggregation regression, each write sums the whole state over the replicas"
        if summed
        else ""
    )
    place = f"step {facts.step}, replica {metric.replica}: {metric.path}{how}"
    return (
        Boundary.METRIC_STATE,
        f"{place} is not finite while weights, forward pass, loss and gradients are{why}",
        "verify the fix: harness verify-fix CASE --fix metrics-on-read, or take a release in which it is cured",
    )
