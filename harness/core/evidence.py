"""What a watched training showed, in words."""

from __future__ import annotations

import math
from collections.abc import Iterator

from harness.core.diagnosis_facts import ArrayFacts, BadVariable, DiagnosisFacts, ShareFacts
from harness.core.observations import EndingKind, Observation

RUNAWAY = 1e3
"""Growth of the largest weight or of the loss, against the first step, that counts as divergence. Trainings of
the cases here that converge stay below 10; those with a rate far too large pass 1e3 within ten steps."""


def evidence(facts: DiagnosisFacts, baseline: Observation | None) -> Iterator[str]:
    """What was looked at, in order, one line each."""
    for array in facts.arrays:
        yield f"data: {reach(array)}, {'finite' if array.finite else bad_samples(array)}"
    if baseline is None:
        yield "float32 baseline: the model computes in float32 anyway"
    else:
        yield f"float32 baseline: {'stays finite' if cured_by_float32(baseline) else 'fails too'}"
    for share in facts.shares:
        given = f"{share.rows} samples, input {list(share.input_shape)}"
        yield f"replay of replica {share.replica} ({given}): {share_place(share)}"
    for variable in facts.bad:
        yield f"after step {facts.step} not finite: {variable.role} {variable.path} on replica {variable.replica}"
    yield f"weights at the end: {'finite' if facts.weights_finite else 'not finite'}"
    if growth := runaway(facts):
        yield f"before the bad step {growth}"


def went_wrong(share: ShareFacts) -> bool:
    """Whether anything in the replay of a share was not finite, or raised."""
    return bool(share.layer or share.gradient or share.scaled_gradient or share.error or not is_finite(share.loss))


def is_finite(loss: float | None) -> bool:
    """Whether a loss is finite; one that was never reached is not wrong."""
    return loss is None or math.isfinite(loss)


def share_place(share: ShareFacts) -> str:
    """The first wrong place in the replay of a share."""
    source = f" in operation {share.operation}" if share.operation else ""
    source += f" ({share.line})" if share.line else ""
    if share.error:
        return f"raises {share.error}"
    if share.layer:
        return f"forward pass, output of {share.layer_kind} {share.layer} ({share.layer_dtype}){source}"
    if not is_finite(share.loss):
        return f"loss is {share.loss}{source}"
    if share.gradient:
        return f"gradient of {share.gradient}{source}"
    if share.scaled_gradient:
        return f"scaled gradient of {share.scaled_gradient}"
    return "forward pass, loss and gradients are finite"


def first_place(facts: DiagnosisFacts, share: ShareFacts | None) -> str:
    """The first wrong place of the bad step."""
    if share is not None:
        return f"replica {share.replica}, {share_place(share)}"
    bad: BadVariable | None = next(iter(facts.bad), None)
    return f"{bad.role} {bad.path} on replica {bad.replica}" if bad else "unknown"


def runaway(facts: DiagnosisFacts) -> str:
    """How far weights or loss ran away before the bad step, or ""."""
    pairs = (
        ("the largest weight", facts.initial_weight, facts.weight_before),
        ("the loss", facts.first_loss, facts.last_loss),
    )
    for name, was, now in pairs:
        if was and now and abs(now) > RUNAWAY * max(abs(was), 1e-6):
            return f"{name} grew from {was:.3g} to {now:.3g}"
    return ""


def cured_by_float32(baseline: Observation | None) -> bool:
    """Whether the same training in float32 finished, and stayed finite."""
    finite = baseline is not None and baseline.ending.kind is EndingKind.FINISHED and not baseline.nonfinite_numbers
    return finite and baseline is not None and (baseline.weights is None or baseline.weights.finite)


def bad_samples(array: ArrayFacts) -> str:
    """Which samples of an array are not finite."""
    return f"{array.name} has {array.bad_rows} samples that are not finite, the first is number {array.first_bad_row}"


def reach(array: ArrayFacts) -> str:
    """How large an array is, and its values."""
    text = f"{array.name} ({array.dtype}, shape {list(array.shape)}) reaches {array.largest:.4g}"
    if array.feature_largest:
        *_, second, largest = sorted(array.feature_largest)
        if largest > RUNAWAY * max(second, 1e-30):
            worst = array.feature_largest.index(largest)
            text += f" in feature {worst}, {largest / max(second, 1e-30):.0e} times the next"
    return text
