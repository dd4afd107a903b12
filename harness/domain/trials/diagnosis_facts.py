"""What watching a training and repeating its first bad step showed: facts only, no judgement."""

from __future__ import annotations

from dataclasses import dataclass

WATCHING = 2
"""Raised when the meaning of a fact here changes: watched trials of another number are run again."""


@dataclass(frozen=True, kw_only=True)
class ArrayFacts:
    """One array that `fit` was given.

    Attributes:
        name: ``x``, ``y``, ``sample_weight`` or a part of one.
        dtype: Its type.
        shape: Its shape, samples first.
        finite: Whether all values are.
        bad_rows: Samples with a value that is not.
        first_bad_row: The first of them, from 0.
        largest: Largest finite magnitude.
        feature_largest: The same per column of a table.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    finite: bool
    bad_rows: int = 0
    first_bad_row: int | None = None
    largest: float = 0.0
    feature_largest: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class BadVariable:
    """A variable (or a logged metric, role ``log``) that is not finite after the first bad step."""

    role: str
    path: str
    replica: int
    replicas: int
    aggregation: str | None = None
    synchronization: str | None = None


@dataclass(frozen=True, kw_only=True)
class ShareFacts:
    """The bad step repeated, piece by piece, on one replica's share of the batch.

    Attributes:
        replica: Number of the replica, from 0.
        rows: Samples in its share.
        input_shape: Shape of its input.
        layer: First layer, innermost first, whose output is not finite; with its class and type.
        loss: Loss of the share.
        gradient: First variable whose gradient is not finite.
        scaled_gradient: The same of the gradient with loss scaling.
        operation: First TensorFlow operation that makes a non-finite tensor of finite ones.
        line: Line of the case that asks for it, or from which the repeated step raised.
        nan_operation: First operation that makes NaN of what is not NaN, where it is another one.
        nan_line: Line of the case that asks for that one.
        error: What the repeated step raised.
    """

    replica: int
    rows: int
    input_shape: tuple[int, ...] = ()
    layer: str | None = None
    layer_kind: str | None = None
    layer_dtype: str | None = None
    loss: float | None = None
    gradient: str | None = None
    scaled_gradient: str | None = None
    operation: str | None = None
    line: str | None = None
    nan_operation: str | None = None
    nan_line: str | None = None
    error: str | None = None


@dataclass(frozen=True, kw_only=True)
class DiagnosisFacts:
    """What watching a training and repeating its first bad step showed; no judgement.

    Attributes:
        arrays: The data.
        compute_dtype: Type with the smallest range that any layer computes in.
        compute_max: Largest number that it holds.
        optimizer: Class of the optimizer.
        steps: Steps that were trained.
        step: First step, from 1, after which something was not finite.
        raised_in_step: Step in which the training raised.
        bad: What was not finite then, one variable per role.
        weights_finite: Whether all weights are finite at the end.
        initial_weight: Largest weight before the first step.
        weight_before: Largest weight before the bad step.
        first_loss: Loss logged after the first step.
        last_loss: Loss logged after the last good step.
        scaling: How the step misuses its loss-scale optimizer: "not scaled" or "not unscaled".
        loss_scale: Scale of the loss in the bad step, where the optimizer moves it.
        shares: The bad step repeated, per replica.
        not_replayed: Why the step could not be repeated.
    """

    arrays: tuple[ArrayFacts, ...] = ()
    compute_dtype: str = "float32"
    compute_max: float = 3.4e38
    optimizer: str = ""
    steps: int = 0
    step: int | None = None
    raised_in_step: int | None = None
    bad: tuple[BadVariable, ...] = ()
    weights_finite: bool = True
    initial_weight: float | None = None
    weight_before: float | None = None
    first_loss: float | None = None
    last_loss: float | None = None
    scaling: str = ""
    loss_scale: float | None = None
    shares: tuple[ShareFacts, ...] = ()
    not_replayed: str = ""
