"""What a watched training showed, in words."""

from __future__ import annotations

import math
from collections.abc import Iterator

from harness.domain.trials.diagnosis_facts import ArrayFacts, BadVariable, DiagnosisFacts, ShareFacts
from harness.domain.trials.observation import EndingKind, Observation

RUNAWAY = 1e3
"""Growth of the largest weight or of the loss, against the first step, that counts as divergence. Trainings of
the cases here that converge stay below 10; those with a rate far too large pass 1e3 within ten steps."""


def evidence(facts: DiagnosisFacts, baseline: Observation | None, alone: Observation | None) -> Iterator[str]:
    """What was looked at, in order, one line each."""
    for array in facts.arrays:
        yield f"data: {reach(array)}, {'finite' if array.finite else bad_samples(array)}"
    if baseline is not None:
        yield f"in float32: {outcome(baseline)}"
    elif facts.compute_dtype == "float32":
        yield "in float32: the model computes in float32 anyway"
    if alone is not None:
        yield f"on one replica: {outcome(alone)}"
    for share in facts.shares:
        given = f"{share.rows} samples, input {list(share.input_shape)}"
        yield f"replay of step {bad_step(facts)}, replica {share.replica} ({given}): {share_place(share)}"
    if facts.not_replayed:
        yield f"replay of step {bad_step(facts)}: not possible, {facts.not_replayed}"
    for variable in facts.bad:
        yield f"after step {facts.step} not finite: {variable.role} {variable.path} on replica {variable.replica}"
    if facts.step is not None:
        yield f"weights at the end: {'finite' if facts.weights_finite else 'not finite'}"
    if facts.step is not None and (growth := runaway(facts)):
        yield f"before step {facts.step} {growth}"


def bad_step(facts: DiagnosisFacts) -> int | None:
    """The step that is repeated."""
    return facts.step or facts.raised_in_step


def outcome(observation: Observation) -> str:
    """How a control ended, in words."""
    if observation.ending.kind is not EndingKind.FINISHED:
        return f"{observation.ending.kind.value}, {(observation.ending.message or 'no message').splitlines()[0][:120]}"
    if observation.nonfinite_numbers:
        return f"not finite either, {observation.nonfinite_numbers[0]} is nan or inf"
    return "stays finite" if stays_finite(observation) else "weights are not finite either"


def went_wrong(share: ShareFacts) -> bool:
    """Whether anything in the repeated step of a share was not finite, or raised."""
    return bool(share.layer or share.gradient or share.scaled_gradient or share.error or not is_finite(share.loss))


def is_finite(loss: float | None) -> bool:
    """Whether a loss is finite; one that was never reached is not wrong."""
    return loss is None or math.isfinite(loss)


def share_place(share: ShareFacts) -> str:
    """The first wrong place in the repeated step of a share."""
    if share.rows == 0:
        return "no samples"
    if share.error:
        return f"raises {share.error}{f' ({share.line})' if share.line else ''}"
    if share.layer:
        return f"forward pass, output of {share.layer_kind} {share.layer} ({share.layer_dtype}){_source(share)}"
    if not is_finite(share.loss):
        return f"loss is {share.loss}{_source(share)}"
    if share.gradient:
        return f"gradient of {share.gradient}{_source(share)}"
    if share.scaled_gradient:
        return f"gradient of {share.scaled_gradient} with loss scaling, and without it is finite"
    return "forward pass, loss and gradients are finite"


def _source(share: ShareFacts) -> str:
    """The operations that make it so, with the lines of the case that ask for them."""
    found = [("in", share.operation, share.line)] if share.operation else []
    if share.nan_operation:
        found.append(("then NaN in" if found else "NaN in", share.nan_operation, share.nan_line))
    return "".join(f", {how} {name}{f' ({line})' if line else ''}" for how, name, line in found)


def first_place(facts: DiagnosisFacts, share: ShareFacts | None) -> str:
    """The first wrong place of the bad step."""
    if share is not None:
        return f"replica {share.replica}, {share_place(share)}"
    bad: BadVariable | None = next(iter(facts.bad), None)
    return f"{bad.role} {bad.path} on replica {bad.replica}" if bad else "unknown"


def runaway(facts: DiagnosisFacts) -> str:
    """How far weights or loss ran away before the bad step, or ""."""
    replayed = [share.loss for share in facts.shares if share.loss is not None and math.isfinite(share.loss)]
    pairs = (
        ("the largest weight", facts.initial_weight, facts.weight_before),
        ("the loss", facts.first_loss, facts.last_loss),
        ("the loss", facts.first_loss, max(replayed, default=None)),
    )
    for name, was, now in pairs:
        if was and now and abs(now) > RUNAWAY * max(abs(was), 1e-6):
            return f"{name} grew from {was:.3g} to {now:.3g}"
    return ""


def lopsided(array: ArrayFacts) -> bool:
    """Whether one feature is a thousand times larger than all others."""
    *others, largest = sorted(array.feature_largest or (0.0,))
    return bool(others) and largest > RUNAWAY * max(others[-1], 1e-30)


def stays_finite(control: Observation | None) -> bool:
    """Whether a control finished, and stayed finite."""
    finite = control is not None and control.ending.kind is EndingKind.FINISHED and not control.nonfinite_numbers
    return finite and control is not None and (control.weights is None or control.weights.finite)


def bad_samples(array: ArrayFacts) -> str:
    """Which samples of an array are not finite."""
    count = f"{array.bad_rows} sample{'s' if array.bad_rows > 1 else ''}"
    return f"{array.name} is not finite in {count}, first in number {array.first_bad_row} (from 0)"


def reach(array: ArrayFacts) -> str:
    """How large an array is, and its values."""
    text = f"{array.name} ({array.dtype}, shape {list(array.shape)}) reaches {array.largest:.4g}"
    if lopsided(array):
        *_, second, largest = sorted(array.feature_largest)
        worst = array.feature_largest.index(largest)
        text += f" in feature {worst}, {largest / max(second, 1e-30):.0e} times the next"
    return text
