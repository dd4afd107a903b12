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
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from harness.core.diagnosis_facts import ArrayFacts, BadVariable, DiagnosisFacts, ShareFacts
from harness.core.observations import EndingKind, Observation

RUNAWAY = 1e3
"""Growth of the largest weight or of the loss, against the first step, that counts as divergence. Trainings of
the cases here that converge stay below 10; those with a rate far too large pass 1e3 within ten steps."""


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
        evidence=tuple(_evidence(facts, baseline)),
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
        return Boundary.DATA, _not_finite(wrong_data), "drop or repair these samples, then run again"
    too_large = next((array for array in facts.arrays if array.largest > facts.compute_max), None)
    if too_large is not None:
        return (
            Boundary.DATA,
            f"{_range(too_large)} does not fit {facts.compute_dtype} (largest {facts.compute_max:.6g})",
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
    share = next((s for s in facts.shares if _wrong(s)), None)
    roles = {variable.role for variable in facts.bad}
    if share is None and roles <= {"metric", "log"} and facts.weights_finite:
        return _metric_state(facts)
    growth = _growth(facts)
    if growth and not _cured_by_float32(baseline):
        return (
            Boundary.OPTIMISATION,
            f"before step {facts.step} {growth}: the training diverges; first non-finite: {_place(facts, share)}",
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
    place = f"step {facts.step}, replica {share.replica}: {_share_place(share)}"
    if share.layer is None and share.gradient is None and share.scaled_gradient is not None and _finite(share.loss):
        return (
            Boundary.OPTIMISATION,
            f"{place}: finite without loss scaling, not finite with it",
            "lower the loss scale, or let LossScaleOptimizer find it",
        )
    if _cured_by_float32(baseline):
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


def _evidence(facts: DiagnosisFacts, baseline: Observation | None) -> Iterator[str]:
    for array in facts.arrays:
        yield f"data: {_range(array)}, {'finite' if array.finite else _not_finite(array)}"
    if baseline is None:
        yield "float32 baseline: the model computes in float32 anyway"
    else:
        yield f"float32 baseline: {'stays finite' if _cured_by_float32(baseline) else 'fails too'}"
    for share in facts.shares:
        given = f"{share.rows} samples, input {list(share.input_shape)}"
        yield f"replay of replica {share.replica} ({given}): {_share_place(share)}"
    for variable in facts.bad:
        yield f"after step {facts.step} not finite: {variable.role} {variable.path} on replica {variable.replica}"
    yield f"weights at the end: {'finite' if facts.weights_finite else 'not finite'}"
    if growth := _growth(facts):
        yield f"before the bad step {growth}"


def _wrong(share: ShareFacts) -> bool:
    return bool(share.layer or share.gradient or share.scaled_gradient or share.error or not _finite(share.loss))


def _finite(loss: float | None) -> bool:
    return loss is None or math.isfinite(loss)


def _share_place(share: ShareFacts) -> str:
    source = f" in operation {share.operation}" if share.operation else ""
    source += f" ({share.line})" if share.line else ""
    if share.error:
        return f"raises {share.error}"
    if share.layer:
        return f"forward pass, output of {share.layer_kind} {share.layer} ({share.layer_dtype}){source}"
    if not _finite(share.loss):
        return f"loss is {share.loss}{source}"
    if share.gradient:
        return f"gradient of {share.gradient}{source}"
    if share.scaled_gradient:
        return f"scaled gradient of {share.scaled_gradient}"
    return "forward pass, loss and gradients are finite"


def _place(facts: DiagnosisFacts, share: ShareFacts | None) -> str:
    if share is not None:
        return f"replica {share.replica}, {_share_place(share)}"
    bad: BadVariable | None = next(iter(facts.bad), None)
    return f"{bad.role} {bad.path} on replica {bad.replica}" if bad else "unknown"


def _growth(facts: DiagnosisFacts) -> str:
    """How far weights or loss ran away before the bad step, or ""."""
    pairs = (
        ("the largest weight", facts.initial_weight, facts.weight_before),
        ("the loss", facts.first_loss, facts.last_loss),
    )
    for name, was, now in pairs:
        if was and now and abs(now) > RUNAWAY * max(abs(was), 1e-6):
            return f"{name} grew from {was:.3g} to {now:.3g}"
    return ""


def _cured_by_float32(baseline: Observation | None) -> bool:
    finite = baseline is not None and baseline.ending.kind is EndingKind.FINISHED and not baseline.nonfinite_numbers
    return finite and baseline is not None and (baseline.weights is None or baseline.weights.finite)


def _not_finite(array: ArrayFacts) -> str:
    return f"{array.name} has {array.bad_rows} samples that are not finite, the first is number {array.first_bad_row}"


def _range(array: ArrayFacts) -> str:
    text = f"{array.name} ({array.dtype}, shape {list(array.shape)}) reaches {array.largest:.4g}"
    if array.feature_largest:
        *_, second, largest = sorted(array.feature_largest)
        if largest > RUNAWAY * max(second, 1e-30):
            worst = array.feature_largest.index(largest)
            text += f" in feature {worst}, {largest / max(second, 1e-30):.0e} times the next"
    return text
