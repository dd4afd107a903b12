"""What happened in one trial: facts only, no judgement.

The probe writes these facts from inside the target environment; this module and
`diagnosis_facts` are their contract.
Raise `CONTRACT` whenever the meaning of a field changes: cached trials and journals of another
contract are not mixed with new ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from harness.domain.trials.diagnosis_facts import DiagnosisFacts

CONTRACT = 2


class EndingKind(str, Enum):
    """How the process of a trial ended."""

    FINISHED = "finished"
    RAISED = "raised"
    EXITED = "exited"
    SIGNALLED = "signalled"
    TIMED_OUT = "timed-out"
    OUT_OF_MEMORY = "out-of-memory"
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Ending:
    """How the trial ended and where.

    Attributes:
        kind: The way it ended.
        stage: The last stage it reached.
        exit_code: For `exited`.
        signal: Signal number, for `signalled`.
        exception: Qualified type name, for `raised`.
        message: First lines of the exception, or the reason of a refusal or of a forced end.
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
    """Whether a fix found something to patch.

    Attributes:
        name: The fix.
        outcome: `applied`, `absent` or `refused`.
        detail: What it says of itself.
        left_out: Files that a patch changes and that are not in the package: nothing was tried with them.
    """

    name: str
    outcome: str
    detail: str = ""
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
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
        warnings: Lines of its whole output that speak of a warning, each once, cut to a limit; untrusted text.
        diagnosis: What a watched trial saw.
        changed: Files of its environment that it or a trial beside it changed, in a private view of them.
        notes: What a reader should know of its environment.
        imported: Files of a copy of the package that it had imported when it ended, where that was measured.
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
    warnings: tuple[str, ...] = ()
    diagnosis: DiagnosisFacts | None = None
    changed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    imported: tuple[str, ...] = ()

    @property
    def numbers(self) -> dict[str, float]:
        """Final and evaluated metrics in one mapping; evaluated names are prefixed ``evaluate.``."""
        return {**self.final, **{f"evaluate.{name}": value for name, value in self.evaluated.items()}}

    @property
    def nonfinite_numbers(self) -> tuple[str, ...]:
        """Names of the final numbers that are not finite."""
        return tuple(name for name, value in self.numbers.items() if not math.isfinite(value))
