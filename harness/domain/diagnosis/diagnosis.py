"""Where a training first goes wrong: data, compute, optimisation or metric state. One factor at a time.

    in this order                                             boundary
    --------------------------------------------------------  --------------
    the trial was ended before it was over                    cannot be told
    nothing became non-finite, loss scaling is half used      optimisation
    nothing became non-finite                                 none
    the data is not finite, or does not fit the compute type  data
    it raised on a replica that had no samples                data
    it raised                                                 compute
    only the state of metrics is not finite                   metric state
    the bad step cannot be replayed                           cannot be told
    gradients keep the scale of the loss                      optimisation
    loss or weights had run away, one feature is far larger   data
    loss or weights had run away before the bad step          optimisation
    a layer's output is not finite                            compute
    the loss is not finite                                    compute
    a gradient is not finite, unscaled                        compute
    a gradient is not finite, with loss scaling only          optimisation
    forward, loss and gradients are finite, a weight is not   optimisation

A control in float32 tells whether the type decides: what stays finite there is a matter of range. A control on one
replica tells whether it takes several.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from harness.domain.cases.symptoms import Symptom
from harness.domain.diagnosis.evidence import (
    bad_samples,
    bad_step,
    evidence,
    first_place,
    is_finite,
    lopsided,
    reach,
    runaway,
    share_place,
    stays_finite,
    went_wrong,
)
from harness.domain.trials.diagnosis_facts import ArrayFacts, DiagnosisFacts, ShareFacts
from harness.domain.trials.observation import EndingKind, Observation
from harness.domain.verdicts.verdict import Outcome, Verdict

CHANGES = {
    "Log": "add an epsilon inside the logarithm",
    "RealDiv": "add an epsilon to the denominator",
    "DivNoNan": "add an epsilon to the denominator",
    "Sqrt": "put a floor under the root",
    "SqrtGrad": "put a floor under the root: its slope at 0 is infinite",
    "Rsqrt": "put a floor under the root",
    "Softmax": "mask with a large finite number instead of -inf: a row of nothing but -inf has no softmax",
}
DIVERGES = "divide the learning rate by ten"


class Boundary(str, Enum):
    """The first place that is wrong."""

    DATA = "data"
    COMPUTE = "compute"
    OPTIMISATION = "optimisation"
    METRIC_STATE = "metric state"
    NONE = "none"
    OPEN = "cannot be told"


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


@dataclass(frozen=True, kw_only=True)
class Controls:
    """What a watched trial is held against; each but the watched one may be missing.

    Attributes:
        plain: The same trial unwatched.
        baseline: The same in float32; None when the model computes in float32 anyway.
        alone: The same on one replica; None when the watched trial is on one.
        verdicts: What the harness says of the trial, held against `alone`.
    """

    plain: Observation | None = None
    baseline: Observation | None = None
    alone: Observation | None = None
    verdicts: Mapping[Symptom, Verdict] | None = None


def diagnose(watched: Observation, controls: Controls) -> Diagnosis:
    """Name the boundary of a trial that was watched, from its `diagnosis` and the controls."""
    facts = watched.diagnosis or DiagnosisFacts()
    boundary, sentence, change = _boundary(facts, watched, controls)
    return Diagnosis(
        boundary=boundary,
        sentence=sentence,
        evidence=tuple(evidence(facts, controls.baseline, controls.alone)),
        next_change=change,
        disturbance=disturbance(watched, controls.plain) if controls.plain else "",
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


def _boundary(facts: DiagnosisFacts, watched: Observation, controls: Controls) -> tuple[Boundary, str, str]:
    ending = watched.ending
    if ending.kind not in (EndingKind.FINISHED, EndingKind.RAISED):
        observed = (
            f"the trial was ended while it was at {ending.stage.value}: {ending.kind.value} {ending.message or ''}"
        )
        return Boundary.OPEN, observed.rstrip(), "give it more time or memory, or fewer steps"
    if facts.step is None and ending.kind is EndingKind.FINISHED:
        return _finite(facts, watched, controls)
    share = next((one for one in facts.shares if went_wrong(one)), None)
    wrong_data = next((array for array in facts.arrays if not array.finite), None)
    if wrong_data is not None:
        return Boundary.DATA, f"{bad_samples(wrong_data)}; {_first(facts, share)}", "drop or repair these samples"
    too_large = next((array for array in facts.arrays if _overflows(array, facts)), None)
    if too_large is not None:
        observed = f"{reach(too_large)} and does not fit {facts.compute_dtype} (largest {facts.compute_max:.6g})"
        return Boundary.DATA, f"{observed}; {_first(facts, share)}", _normalise(too_large)
    if facts.step is None:
        return _raised(facts, watched, share)
    return _in_training(facts, share, controls)


def _overflows(array: ArrayFacts, facts: DiagnosisFacts) -> bool:
    """Whether a floating input is cast to a type that cannot hold it; targets and token numbers are not cast."""
    return array.name.startswith("x") and "float" in array.dtype and array.largest > facts.compute_max


def _first(facts: DiagnosisFacts, share: ShareFacts | None) -> str:
    return f"first seen in step {bad_step(facts)}: {first_place(facts, share)}"


def _normalise(array: ArrayFacts) -> str:
    what = "the feature named above" if lopsided(array) else array.name
    return f"normalise {what}, with a floor under the standard deviation"


def _finite(facts: DiagnosisFacts, watched: Observation, controls: Controls) -> tuple[Boundary, str, str]:
    """What to say where no step left anything non-finite."""
    observed = f"nothing became non-finite in {facts.steps} steps"
    if watched.nonfinite_numbers:
        name = watched.nonfinite_numbers[0]
        return (
            Boundary.OPEN,
            f"{observed} of training, yet {name} is {watched.numbers[name]}",
            "evaluate batch by batch",
        )
    if facts.scaling:
        return _half_scaled(facts, observed)
    wrong = [
        f"{symptom.value}: {verdict.reason}"
        for symptom, verdict in (controls.verdicts or {}).items()
        if verdict.outcome is Outcome.BAD
    ]
    if wrong:
        observed += f"; but it is not what one replica trains: {'; '.join(wrong)}"
        return Boundary.NONE, observed, "ask since when: harness bisect CASE SETTINGS"
    return Boundary.NONE, observed, "train more steps, on more replicas, or on another release"


def _half_scaled(facts: DiagnosisFacts, observed: str) -> tuple[Boundary, str, str]:
    """A step that uses one half of its loss-scale optimizer."""
    if facts.scaling == "not scaled":
        wrong = "the step never calls optimizer.scale_loss, yet its gradients are divided by the scale"
        return Boundary.OPTIMISATION, f"{observed}; but {wrong}", "differentiate optimizer.scale_loss(loss)"
    wrong = "the step hands scaled gradients to the inner optimizer, so they are never divided by the scale"
    scale = f" ({facts.loss_scale:.6g})" if facts.loss_scale else ""
    return Boundary.OPTIMISATION, f"{observed}; {wrong}{scale}", "call apply of the loss-scale optimizer itself"


def _raised(facts: DiagnosisFacts, watched: Observation, share: ShareFacts | None) -> tuple[Boundary, str, str]:
    empty = next((one for one in facts.shares if one.rows == 0), None)
    ending = watched.ending
    message = f"{ending.exception}: {(ending.message or 'no message').splitlines()[0]}"
    if empty is not None:
        return (
            Boundary.DATA,
            f"step {facts.raised_in_step} leaves replica {empty.replica} without samples, and it raises {message}",
            "drop the last incomplete batch",
        )
    place = f"step {facts.raised_in_step}" if facts.raised_in_step else f"while at {ending.stage.value}"
    if share is not None:
        place += f", replica {share.replica}{f', {share.line}' if share.line else ''}"
    change = "mend the line named above" if share is not None and share.line else "mend what the message names"
    return Boundary.COMPUTE, f"{place}: raises {message}", change


def _in_training(facts: DiagnosisFacts, share: ShareFacts | None, controls: Controls) -> tuple[Boundary, str, str]:
    only_metrics = {variable.role for variable in facts.bad} <= {"metric", "log"} and facts.weights_finite
    if share is None and only_metrics and (facts.shares or facts.optimizer != "LossScaleOptimizer"):
        return _metric_state(facts)
    growth = runaway(facts)
    diverges = f"before step {facts.step} {growth}: the training diverges; {_first(facts, share)}"
    if facts.scaling:
        return _half_scaled(facts, f"step {facts.step}: {first_place(facts, share)}")
    if growth:
        uneven = next((array for array in facts.arrays if array.name.startswith("x") and lopsided(array)), None)
        if uneven is not None:
            return Boundary.DATA, f"{reach(uneven)}; {diverges}", _normalise(uneven)
        return Boundary.OPTIMISATION, diverges, DIVERGES
    if share is not None:
        return _in_share(facts, share, controls.baseline)
    if facts.not_replayed:
        observed = f"step {facts.step}: {first_place(facts, None)} is not finite; the step cannot be replayed"
        return Boundary.OPEN, f"{observed}: {facts.not_replayed}", "make the step one that can be replayed"
    return (
        Boundary.OPTIMISATION,
        f"step {facts.step}: forward pass, loss and gradients are finite, yet {_weight(facts)} is not after the update",
        "take plain SGD without clipping: is it the optimizer?",
    )


def _weight(facts: DiagnosisFacts) -> str:
    weight = next((v for v in facts.bad if v.role in ("model", "optimizer")), None)
    return f"{weight.path} on replica {weight.replica}" if weight else "the state"


def _in_share(facts: DiagnosisFacts, share: ShareFacts, baseline: Observation | None) -> tuple[Boundary, str, str]:
    place = f"step {facts.step}, replica {share.replica}: {share_place(share)}"
    if share.layer is None and share.gradient is None and share.scaled_gradient is not None and is_finite(share.loss):
        return _overflow(facts, share, place)
    if stays_finite(baseline):
        what = f"layer {share.layer}" if share.layer else "the last layer (the loss is computed in float32 already)"
        return (
            Boundary.COMPUTE,
            f"{place}; in float32 the same training stays finite, so the range of {facts.compute_dtype} decides",
            f'give {what} dtype="float32" and leave the rest as it is',
        )
    change = CHANGES.get(share.operation or share.nan_operation or "", "look at the inputs of this operation")
    return Boundary.COMPUTE, place, change


def _overflow(facts: DiagnosisFacts, share: ShareFacts, place: str) -> tuple[Boundary, str, str]:
    """A gradient overflows with loss scaling only."""
    scale = f" The scale is {facts.loss_scale:.6g}." if facts.loss_scale else ""
    if facts.optimizer == "LossScaleOptimizer" and share.replica > 0:
        observed = "LossScaleOptimizer asks the first replica only, whose gradients are finite, and applies the step"
        return (
            Boundary.OPTIMISATION,
            f"{place}; {observed}.{scale}",
            "start it lower: LossScaleOptimizer(initial_scale=2**8)",
        )
    return Boundary.OPTIMISATION, f"{place}.{scale}", "lower the loss scale"


def _metric_state(facts: DiagnosisFacts) -> tuple[Boundary, str, str]:
    metric = next((v for v in facts.bad if v.role == "metric"), facts.bad[0])
    how = f" (aggregation {metric.aggregation}, synchronization {metric.synchronization})" if metric.aggregation else ""
    place = f"step {facts.step}, replica {metric.replica}: {metric.path}{how}"
    observed = f"{place} is not finite while weights, forward pass, loss and gradients are"
    if metric.aggregation == "SUM" and metric.synchronization == "ON_WRITE":
        why = "the mark of the aggregation regression, each write sums the whole state over the replicas"
        change = "see whether the fix is right: harness verify-fix CASE --fix metrics-on-read RANGE"
        return Boundary.METRIC_STATE, f"{observed}: {why}", change
    return Boundary.METRIC_STATE, observed, f"take {metric.path.split('/')[0]} out of the metrics: is the rest finite?"
