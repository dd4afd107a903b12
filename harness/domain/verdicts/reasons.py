"""Why a trial or a release is bad or says nothing: data first, and the sentence that is made of it at the end.

Whoever has to know *why* compares the kind; nobody reads the sentence again. In JSON a reason is its sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from harness.domain.cases.symptoms import Symptom
from harness.domain.trials.observation import NonFinite, Stage

SHOWN = 3
"""So many numbers are named in a sentence; the reason has them all."""


class ReasonKind(str, Enum):
    """What is the matter."""

    NONE = "none"
    RECORDED = "recorded"

    NOT_RUN = "not-run"
    NO_BUILD = "no-build"
    EXCLUDED = "excluded"
    UNTESTABLE = "untestable"

    REFUSED = "refused"
    OUT_OF_MEMORY = "out-of-memory"
    NOT_STARTED = "not-started"
    NOT_RUNNABLE = "not-runnable"
    SCRIPT_SKIPS = "script-skips"
    CASE_ERROR = "case-error"
    HIDDEN = "hidden"

    EXCEPTION = "exception"
    KILLED = "killed"
    TIMEOUT = "timeout"
    EXITED = "exited"
    EXIT_CODE = "exit-code"

    NONFINITE_METRIC = "nonfinite-metric"
    NONFINITE_WEIGHTS = "nonfinite-weights"
    METRIC_DIFFERS = "metric-differs"
    WEIGHTS_DIFFER = "weights-differ"
    REPLICAS_DIFFER = "replicas-differ"
    NEIGHBOURS = "neighbours"
    UNDECIDED = "undecided"
    VALUE_DIFFERS = "value-differs"
    WARNED = "warned"

    OTHER_FAILURE = "other-failure"
    NO_VALUE = "no-value"
    NO_BASELINE = "no-baseline"

    NO_METRIC = "no-metric"
    NO_WEIGHTS = "no-weights"
    WEIGHTLESS = "weightless"
    NOT_COMPARED = "not-compared"
    NO_REFERENCE = "no-reference"
    IS_REFERENCE = "is-reference"
    REFERENCE_FAILED = "reference-failed"
    REFERENCE_NOT_FINITE = "reference-not-finite"
    WEIGHTS_NOT_FINITE = "weights-not-finite"
    OTHER_START = "other-start"
    OTHER_DATA = "other-data"
    OTHER_VARIABLES = "other-variables"
    NOTHING_TRAINED = "nothing-trained"
    TOO_FEW_STEPS = "too-few-steps"


@dataclass(frozen=True, kw_only=True)
class Number:
    """One number of a trial (None: missing) and, where it is compared, that of its reference."""

    name: str
    value: float | None
    reference: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Reason:
    """Why a verdict is bad or skip, or why a release says nothing; `str()` gives the sentence.

    Attributes:
        kind: What is the matter; it says which of the other fields are set.
        detail: Text from outside: an exception's message, the last line of a script, an installer's explanation.
        name: What it is about: an exception's type, a signal, a metric, a variable.
        stage: How far the trial came.
        seconds: The deadline that it missed.
        exit_code: What the process left with.
        hidden_by: The symptom that hides the one in question.
        cause: The reason behind this one: of the symptom that hides, of the end that came too early.
        numbers: The numbers that are not finite, or that differ.
        first: The first value that was not finite.
        tolerance: The relative tolerance that was exceeded.
        spread: Largest difference between the copies of one variable.
        counts: So many of so many: bad runs of all runs, trained steps of those of the reference.
    """

    kind: ReasonKind
    detail: str = ""
    name: str = ""
    stage: Stage | None = None
    seconds: float = 0.0
    exit_code: int | None = None
    hidden_by: Symptom | None = None
    cause: Reason | None = None
    numbers: tuple[Number, ...] = ()
    first: NonFinite | None = None
    tolerance: float = 0.0
    spread: float = 0.0
    counts: tuple[int, int] = (0, 0)

    def __str__(self) -> str:
        return text(self)


NO_REASON = Reason(kind=ReasonKind.NONE)
NOT_RUN = Reason(kind=ReasonKind.NOT_RUN)


def recorded(sentence: str) -> Reason:
    """A reason of which the sentence alone is known: it was read from a file."""
    return Reason(kind=ReasonKind.RECORDED, detail=sentence) if sentence else NO_REASON


def text(reason: Reason) -> str:
    """The sentence, in one line as far as `detail` is; "" where there is nothing to say."""
    sentence = _SENTENCES.get(reason.kind)
    return sentence if sentence is not None else _WRITERS[reason.kind](reason)


def _ended(reason: Reason) -> str:
    """How a trial ended before its time."""
    match reason.kind:
        case ReasonKind.EXCEPTION:
            end = f"{reason.name}: {reason.detail or 'no message'}"
        case ReasonKind.KILLED:
            end = f"killed by {reason.name}"
        case ReasonKind.TIMEOUT:
            end = f"not finished after {reason.seconds:g} s"
        case ReasonKind.EXITED:
            end = f"left with exit code {reason.exit_code}"
        case _:
            end = f"exit code {reason.exit_code}" + (f": {reason.detail}" if reason.detail else "")
    return f"{end} (while: {reason.stage.value})" if reason.stage is not None else end


def _hidden(reason: Reason) -> str:
    by = reason.hidden_by.value if reason.hidden_by is not None else "another symptom"
    return f"hidden by {by}: {reason.cause}"


def _nonfinite_metric(reason: Reason) -> str:
    parts = [f"{number.name} is {number.value}" for number in reason.numbers[:SHOWN]]
    if (first := reason.first) is not None:
        parts.append(f"first at step {first.step} ({first.name} = {first.value})")
    if reason.name:
        parts.append(f"on one replica {reason.name} is not finite either")
    return ", ".join(parts) or "a metric is not finite"


def _nonfinite_weights(reason: Reason) -> str:
    if (first := reason.first) is not None:
        return f"first at step {first.step} ({first.name})"
    return "weights are not finite after training"


def _metric_differs(reason: Reason) -> str:
    return f"{', '.join(map(_compared, reason.numbers[:SHOWN]))} (tolerance {reason.tolerance:g}){_short(reason)}"


def _weights_differ(reason: Reason) -> str:
    more = len(reason.numbers) - 1
    others = f" and {more} more" if more > 0 else ""
    return f"{', '.join(map(_compared, reason.numbers[:1]))}{others} (tolerance {reason.tolerance:g}){_short(reason)}"


def _replicas_differ(reason: Reason) -> str:
    return f"copies of {reason.name or 'one variable'} differ between replicas by {reason.spread:.6g}{_short(reason)}"


def _compared(number: Number) -> str:
    value = "missing" if number.value is None else f"{number.value:.6g}"
    return f"{number.name} is {value}, reference {number.reference:.6g}"


def _short(reason: Reason) -> str:
    """What is added to a difference when the trial was shorter than its reference."""
    return f"; {_steps(reason)}" if reason.counts != (0, 0) else ""


def _steps(reason: Reason) -> str:
    return f"trained {reason.counts[0]} of the {reason.counts[1]} steps of the reference on one replica"


def _neighbours(reason: Reason) -> str:
    return f"{reason.counts[0]} of {reason.counts[1]} runs were bad; judged with its neighbours in view"


def _undecided(reason: Reason) -> str:
    return (
        f"{reason.counts[0]} of {reason.counts[1]} runs were bad; with its neighbours in view the opposite is more "
        "likely, so it is not decided: more runs would tell"
    )


def _reference_not_finite(reason: Reason) -> str:
    return f"the reference on one replica has no finite {reason.name or 'metric'} to compare with"


_KILLED_BY_SYSTEM = "killed by SIGKILL, most likely for lack of memory: the machine's fault, not the release's"


def _detail(reason: Reason) -> str:
    return reason.detail


_SENTENCES: Mapping[ReasonKind, str] = {
    ReasonKind.NONE: "",
    ReasonKind.NOT_RUN: "not run",
    ReasonKind.NO_BUILD: "no build was published that day",
    ReasonKind.NO_BASELINE: "there is no value to compare with",
    ReasonKind.SCRIPT_SKIPS: "the script says: cannot be tested (exit code 125)",
    ReasonKind.NO_METRIC: "no metric was recorded",
    ReasonKind.NO_WEIGHTS: "weights were not recorded",
    ReasonKind.WEIGHTLESS: "the model has no weights",
    ReasonKind.NOT_COMPARED: "not compared",
    ReasonKind.NO_REFERENCE: "there is no reference on one replica",
    ReasonKind.IS_REFERENCE: "the trial on one replica is the reference itself",
    ReasonKind.WEIGHTS_NOT_FINITE: "no finite weights of the reference on one replica to compare with",
    ReasonKind.OTHER_START: "the two trials did not start from the same weights",
    ReasonKind.OTHER_DATA: "the two trials did not train on the same data",
    ReasonKind.OTHER_VARIABLES: "the two trials do not have the same variables",
    ReasonKind.NOTHING_TRAINED: "training moved no weight by more than the tolerance",
}

_WRITERS: Mapping[ReasonKind, Callable[[Reason], str]] = {
    ReasonKind.RECORDED: _detail,
    ReasonKind.EXCLUDED: _detail,
    ReasonKind.UNTESTABLE: _detail,
    ReasonKind.REFUSED: lambda reason: reason.detail or "the trial could not be run here",
    ReasonKind.OUT_OF_MEMORY: lambda reason: reason.detail or _KILLED_BY_SYSTEM,
    ReasonKind.NOT_STARTED: lambda reason: f"failed before the case could start: {reason.cause}",
    ReasonKind.NOT_RUNNABLE: lambda reason: f"the script could not be run: {reason.cause}",
    ReasonKind.CASE_ERROR: lambda reason: f"the case itself cannot be run: {reason.detail}",
    ReasonKind.REFERENCE_FAILED: lambda reason: f"the reference on one replica did not finish: {reason.cause}",
    ReasonKind.HIDDEN: _hidden,
    ReasonKind.EXCEPTION: _ended,
    ReasonKind.KILLED: _ended,
    ReasonKind.TIMEOUT: _ended,
    ReasonKind.EXITED: _ended,
    ReasonKind.EXIT_CODE: _ended,
    ReasonKind.NONFINITE_METRIC: _nonfinite_metric,
    ReasonKind.NONFINITE_WEIGHTS: _nonfinite_weights,
    ReasonKind.METRIC_DIFFERS: _metric_differs,
    ReasonKind.WEIGHTS_DIFFER: _weights_differ,
    ReasonKind.REPLICAS_DIFFER: _replicas_differ,
    ReasonKind.NEIGHBOURS: _neighbours,
    ReasonKind.VALUE_DIFFERS: lambda reason: f"{reason.name}, not {reason.detail} (tolerance {reason.tolerance:g})",
    ReasonKind.WARNED: lambda reason: f"it warns: {reason.detail}",
    ReasonKind.OTHER_FAILURE: lambda reason: f"another failure than the one asked for: {reason.cause}",
    ReasonKind.NO_VALUE: lambda reason: f"the trial printed nothing that {reason.name!r} finds",
    ReasonKind.UNDECIDED: _undecided,
    ReasonKind.REFERENCE_NOT_FINITE: _reference_not_finite,
    ReasonKind.TOO_FEW_STEPS: _steps,
}
