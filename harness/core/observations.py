"""What happened in one trial: facts only, no judgement.

The probe writes these facts from inside the target environment; this module is their contract.
Raise `CONTRACT` whenever the meaning of a field changes: cached trials and journals of another
contract are not mixed with new ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

CONTRACT = 2


class EndingKind(str, Enum):
    """How the process of a trial ended."""

    FINISHED = "finished"
    RAISED = "raised"
    EXITED = "exited"
    SIGNALLED = "signalled"
    TIMED_OUT = "timed-out"
    REFUSED = "refused"


class Stage(str, Enum):
    """How far a trial came."""

    IMPORT = "import"
    DEVICES = "devices"
    LOAD = "load"
    FIX = "fix"
    DATA = "data"
    BUILD = "build"
    TRAIN = "train"
    EVALUATE = "evaluate"
    SCRIPT = "script"


@dataclass(frozen=True, kw_only=True)
class Ending:
    """How the trial ended and where.

    Attributes:
        kind: The way it ended.
        stage: The last stage it reached.
        exit_code: For `exited`.
        signal: Signal number, for `signalled`.
        exception: Qualified type name, for `raised`.
        message: First lines of the exception or the reason of a refusal.
        traceback: The innermost frames, as text.
    """

    kind: EndingKind
    stage: Stage
    exit_code: int | None = None
    signal: int | None = None
    exception: str | None = None
    message: str | None = None
    traceback: str | None = None


@dataclass(frozen=True, kw_only=True)
class NonFinite:
    """The first place where a value stopped being finite; steps count from 1."""

    name: str
    step: int
    value: float


@dataclass(frozen=True, kw_only=True)
class WeightFacts:
    """State of the trainable and non-trainable weights after training.

    Attributes:
        count: Number of scalars.
        finite: Whether all are finite on every replica.
        initial_digest: Hash of the weights before training; equal digests make two trials comparable.
        values: Values by variable on the first replica: all of them for models up to the probe's limit, else a sample.
        norms: Euclidean norm of each variable, first replica.
        replica_spread: Largest absolute difference between the copies of one variable.
        spreads: The same for each variable whose copies differ.
        moved: How far training moved each variable: the largest absolute change in a sample of its values.
    """

    count: int
    finite: bool
    initial_digest: str
    values: Mapping[str, tuple[float, ...]] | None = None
    norms: Mapping[str, float] = field(default_factory=dict)
    replica_spread: float = 0.0
    spreads: Mapping[str, float] = field(default_factory=dict)
    moved: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class VariableFacts:
    """One live variable: what Keras says of it and what TensorFlow made of it."""

    path: str
    role: str
    dtype: str
    shape: tuple[int, ...]
    keras_aggregation: str | None = None
    aggregation: str | None = None
    synchronization: str | None = None
    copies: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class DeviceFacts:
    """What the trial ran on and how that was chosen."""

    choice: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class FixFacts:
    """Whether a fix found something to patch: `applied`, `absent` or `refused`."""

    name: str
    outcome: str
    detail: str = ""


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
    """The bad step replayed, piece by piece, on one replica's share of the batch.

    Attributes:
        replica: Number of the replica, from 0.
        rows: Samples in its share.
        input_shape: Shape of its input.
        layer: First layer, innermost first, whose output is not finite; with its class and type.
        loss: Loss of the share.
        gradient: First variable whose gradient is not finite.
        scaled_gradient: The same of the gradient with loss scaling.
        operation: TensorFlow operation that makes the first non-finite tensor.
        line: Line of the case that asks for it.
        error: What the replay raised.
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
    error: str | None = None


@dataclass(frozen=True, kw_only=True)
class DiagnosisFacts:
    """What watching a training and replaying its first bad step showed; no judgement.

    Attributes:
        arrays: The data.
        compute_dtype: Type with the smallest range that any layer computes in.
        compute_max: Largest number that it holds.
        step: First step, from 1, after which something was not finite.
        raised_in_step: Step in which the training raised.
        bad: What was not finite then, one variable per role.
        weights_finite: Whether all weights are finite at the end.
        initial_weight: Largest weight before the first step.
        weight_before: Largest weight before the bad step.
        first_loss: Loss logged after the first step.
        last_loss: Loss logged after the last good step.
        shares: The replay, per replica.
    """

    arrays: tuple[ArrayFacts, ...] = ()
    compute_dtype: str = "float32"
    compute_max: float = 3.4e38
    step: int | None = None
    raised_in_step: int | None = None
    bad: tuple[BadVariable, ...] = ()
    weights_finite: bool = True
    initial_weight: float | None = None
    weight_before: float | None = None
    first_loss: float | None = None
    last_loss: float | None = None
    shares: tuple[ShareFacts, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Observation:
    """Everything one trial showed.

    Attributes:
        ending: How the process ended.
        steps: Metric values after each training step, by metric name.
        final: Metrics of the last epoch as ``fit`` reports them.
        evaluated: Metrics of ``evaluate`` on the training data.
        first_nonfinite_metric: First metric value that was not finite.
        first_nonfinite_weight: First weight that was not finite (small models only).
        weights: State of the weights after training.
        iterations: The optimizer's counter.
        data_digest: Hash of the arrays that it trained on; "" for what is no array.
        variables: Aggregation and synchronization of every variable.
        fix: What the fix did, when the trial had one.
        devices: What it ran on.
        versions: Versions as imported, by package.
        durations: Seconds by stage.
        peak_memory_bytes: Peak resident memory of the trial's process.
        output: Tail of what it printed, cut to a limit; untrusted text.
        diagnosis: What a watched trial saw.
    """

    ending: Ending
    steps: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    final: Mapping[str, float] = field(default_factory=dict)
    evaluated: Mapping[str, float] = field(default_factory=dict)
    first_nonfinite_metric: NonFinite | None = None
    first_nonfinite_weight: NonFinite | None = None
    weights: WeightFacts | None = None
    iterations: int | None = None
    data_digest: str = ""
    variables: tuple[VariableFacts, ...] = ()
    fix: FixFacts | None = None
    devices: DeviceFacts | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    durations: Mapping[str, float] = field(default_factory=dict)
    peak_memory_bytes: int | None = None
    output: str = ""
    diagnosis: DiagnosisFacts | None = None

    @property
    def numbers(self) -> dict[str, float]:
        """Final and evaluated metrics in one mapping; evaluated names are prefixed ``evaluate.``."""
        return {**self.final, **{f"evaluate.{name}": value for name, value in self.evaluated.items()}}

    @property
    def nonfinite_numbers(self) -> tuple[str, ...]:
        """Names of the final numbers that are not finite."""
        return tuple(name for name, value in self.numbers.items() if not math.isfinite(value))


@dataclass(frozen=True, kw_only=True)
class Variant:
    """How a case is run: everything that distinguishes two trials in one environment.

    Attributes:
        replicas: Number of replicas; 1 without a strategy is the reference.
        strategy: ``none``, ``mirrored``, ``multi-worker``, ``tpu`` or ``parameter-server``.
        fix: Name of the fix, or None.
        options: Further switches of the case (fault, remedy, policy), by name.
        policy: Dtype policy that is set before the model is built; None: the case's own.
        watched: Whether the trial is diagnosed while it runs.
    """

    replicas: int = 1
    strategy: str = "none"
    fix: str | None = None
    options: tuple[tuple[str, str], ...] = ()
    policy: str | None = None
    watched: bool = False

    @property
    def label(self) -> str:
        """Short readable name, unique within a case."""
        name = "reference" if self.strategy == "none" and self.replicas == 1 else f"{self.replicas} replicas"
        if self.strategy not in ("none", "mirrored"):
            name = f"{self.strategy}, {name}"
        extras = [f"fix {self.fix}"] if self.fix else []
        extras += [f"{key}={value}" for key, value in self.options]
        extras += [self.policy] if self.policy else []
        extras += ["watched"] if self.watched else []
        return ", ".join([name, *extras])


REFERENCE = Variant()
