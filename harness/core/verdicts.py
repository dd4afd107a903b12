"""From facts to a verdict: a pure function of the observation, its reference and the case."""

from __future__ import annotations

import math
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from harness.core.cases import Case, Level
from harness.core.errors import SurroundingsError
from harness.core.observations import Ending, EndingKind, NonFinite, Observation, Stage, WeightFacts
from harness.core.signatures import signature
from harness.core.symptoms import Symptom


class Outcome(str, Enum):
    """git's own terms."""

    GOOD = "good"
    BAD = "bad"
    SKIP = "skip"


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What one trial says about one symptom; `reason` is never empty for bad and skip.

    `signature` identifies the failure of a bad verdict: equal for two runs that fail in the same way.
    """

    outcome: Outcome
    reason: str = ""
    signature: str = ""


Verdicts = Mapping[Symptom, Verdict]
"""One verdict per symptom that the case can show."""

GOOD = Verdict(outcome=Outcome.GOOD)
_ENDS = (Symptom.EXCEPTION, Symptom.KILLED, Symptom.TIMEOUT)


def judge(case: Case, observation: Observation, reference: Observation | None) -> dict[Symptom, Verdict]:
    """Judge one trial against the one-replica reference of the same environment.

    Args:
        case: Says the level, the tolerance and the symptom it expects.
        observation: The trial.
        reference: The same case on one replica; None for scripts.

    Returns:
        A verdict for every symptom that the case can show. A symptom that another one hides is
        `skip` with the reason "hidden by ...", never good.

    Raises:
        SurroundingsError: a script was ended by a signal that it does not expect (git's contract: abort).
    """
    if case.level is Level.SCRIPT:
        return _judge_script(case, observation)
    ending = observation.ending
    symptoms = _observable(case)
    if reason := untestable(ending, case):
        return dict.fromkeys(symptoms, _skip(reason))
    if ended := _ended_badly(ending, case):
        symptom, why = ended
        told = signature(symptom.value, exception=_manner(ending), message=ending.message or "")
        return {s: _bad(why, told) if s is symptom else _hidden(symptom, why) for s in symptoms}
    verdicts = dict.fromkeys(symptoms, GOOD)
    verdicts[Symptom.NONFINITE_METRIC] = _nonfinite_metric(observation, reference)
    verdicts[Symptom.NONFINITE_WEIGHTS] = _nonfinite_weights(observation)
    for wrong, hider, compare in (
        (Symptom.WRONG_METRIC, Symptom.NONFINITE_METRIC, _wrong_metric),
        (Symptom.WRONG_WEIGHTS, Symptom.NONFINITE_WEIGHTS, _wrong_weights),
    ):
        if wrong in verdicts:
            hiding = verdicts[hider]
            bad = hiding.outcome is Outcome.BAD
            verdicts[wrong] = _hidden(hider, hiding.reason) if bad else compare(case, observation, reference)
    return _long_enough(verdicts, observation, reference)


def _long_enough(
    verdicts: dict[Symptom, Verdict], observation: Observation, reference: Observation | None
) -> dict[Symptom, Verdict]:
    """A trial that trained fewer steps than its reference has not shown that nothing goes wrong in the rest."""
    steps, wanted = _steps(observation), _steps(reference) if reference is not None else 0
    if not 0 < steps < wanted:
        return verdicts
    told = f"trained {steps} of the {wanted} steps of the reference on one replica"
    found = dict(verdicts)
    for symptom, verdict in verdicts.items():
        if symptom not in _ENDS and verdict == GOOD:
            found[symptom] = _skip(told)
        elif symptom in (Symptom.WRONG_METRIC, Symptom.WRONG_WEIGHTS) and verdict.outcome is Outcome.BAD:
            found[symptom] = replace(verdict, reason=f"{verdict.reason}; {told}")
    return found


def _steps(observation: Observation) -> int:
    return max((len(series) for series in observation.steps.values()), default=0)


def untestable(ending: Ending, case: Case) -> str | None:
    """Say why a trial that ended in this way tells nothing about the release, or return None."""
    if ending.kind is EndingKind.REFUSED:
        return ending.message or "the trial could not be run here"
    if ending.signal == signal.SIGKILL and case.expects is not Symptom.KILLED:
        return "killed by SIGKILL, most likely for lack of memory: the machine's fault, not the release's"
    unstarted = (Stage.IMPORT, Stage.DEVICES, *([Stage.LOAD] if ending.kind is EndingKind.RAISED else []))
    if ending.stage in unstarted and (ended := _ended_badly(ending, case)):
        return f"failed before the case could start: {ended[1]}"
    return None


def _observable(case: Case) -> list[Symptom]:
    left_out = set()
    if case.tolerance.metric is None:
        left_out.add(Symptom.WRONG_METRIC)
    if case.tolerance.weights is None:
        left_out.add(Symptom.WRONG_WEIGHTS)
    return [symptom for symptom in Symptom if symptom not in left_out]


def _ended_badly(ending: Ending, case: Case) -> tuple[Symptom, str] | None:
    match ending.kind:
        case EndingKind.RAISED:
            return Symptom.EXCEPTION, f"{_error(ending)} (while: {ending.stage.value})"
        case EndingKind.SIGNALLED:
            return Symptom.KILLED, f"killed by {signal_name(ending.signal)} (while: {ending.stage.value})"
        case EndingKind.TIMED_OUT:
            told = f"not finished after {case.timeout_seconds:g} s (while: {ending.stage.value})"
            return Symptom.TIMEOUT, told
        case EndingKind.EXITED:
            return Symptom.EXCEPTION, f"left with exit code {ending.exit_code} (while: {ending.stage.value})"
        case _:
            return None


def _judge_script(case: Case, observation: Observation) -> dict[Symptom, Verdict]:
    ending = observation.ending
    own = Symptom.EXCEPTION if case.expects in (None, Symptom.KILLED, Symptom.TIMEOUT) else case.expects
    symptoms = sorted({own, Symptom.KILLED, Symptom.TIMEOUT}, key=list(Symptom).index)
    code = ending.exit_code
    aborts = ending.kind is EndingKind.SIGNALLED or (code is not None and code >= 128)
    if ending.kind is EndingKind.TIMED_OUT or (aborts and case.expects is Symptom.KILLED):
        symptom = Symptom.TIMEOUT if ending.kind is EndingKind.TIMED_OUT else Symptom.KILLED
        late = f"not finished after {case.timeout_seconds:g} s"
        why = late if symptom is Symptom.TIMEOUT else _left(ending)
        told = signature(symptom.value, exception=_manner(ending))
        return {s: _bad(why, told) if s is symptom else _hidden(symptom, why) for s in symptoms}
    if aborts:
        raise SurroundingsError(
            f"the script was ended by force ({_left(ending)}): the search is stopped, as git bisect does",
            where=case.path,
            hint='if that is the symptom, say expects = "killed" in its metadata; else see the trial\'s log',
        )
    if reason := untestable(ending, case):
        return dict.fromkeys(symptoms, _skip(reason))
    if code is None and ending.kind is not EndingKind.FINISHED:
        return dict.fromkeys(symptoms, _skip(f"the script could not be run: {_error(ending)}"))
    if code == 125:
        return dict.fromkeys(symptoms, _skip("the script says: cannot be tested (exit code 125)"))
    if code:
        last = observation.output.strip().splitlines()[-1:] or [""]
        why = f"exit code {code}" + (f": {last[0][:200]}" if last[0] else "")
        told = signature(own.value, exception=_manner(ending), message=last[0])
        return {s: _bad(why, told) if s is own else _hidden(own, why) for s in symptoms}
    return dict.fromkeys(symptoms, GOOD)


def _left(ending: Ending) -> str:
    if ending.signal is not None:
        return f"killed by {signal_name(ending.signal)}"
    return f"exit code {ending.exit_code}"


def _nonfinite_metric(observation: Observation, reference: Observation | None) -> Verdict:
    names = observation.nonfinite_numbers
    first = observation.first_nonfinite_metric
    if not names and first is None:
        return GOOD if observation.numbers else _skip("no metric was recorded")
    parts = [f"{name} is {observation.numbers[name]}" for name in names[:3]]
    if first is not None:
        parts.append(f"first at step {first.step} ({first.name} = {first.value})")
    if reference is not None and reference is not observation and reference.nonfinite_numbers:
        parts.append(f"on one replica {reference.nonfinite_numbers[0]} is not finite either")
    return _bad(", ".join(parts), _nonfinite_signature(Symptom.NONFINITE_METRIC, first, names))


def _nonfinite_weights(observation: Observation) -> Verdict:
    if observation.weights is None:
        return _skip("weights were not recorded")
    if observation.weights.count == 0:
        return _skip("the model has no weights")
    if observation.weights.finite:
        return GOOD
    first = observation.first_nonfinite_weight
    why = f"first at step {first.step} ({first.name})" if first else "weights are not finite after training"
    return _bad(why, _nonfinite_signature(Symptom.NONFINITE_WEIGHTS, first))


def _nonfinite_signature(symptom: Symptom, first: NonFinite | None, names: Sequence[str] = ()) -> str:
    """The step is left out: it moves with the number of replicas and the noise of the data."""
    return signature(symptom.value, first_name=first.name if first else next(iter(names), ""))


def _wrong_metric(case: Case, observation: Observation, reference: Observation | None) -> Verdict:
    tolerance = case.tolerance.metric
    missing = _no_comparison(observation, reference)
    if tolerance is None or missing or reference is None:
        return _skip(missing or "not compared")
    own, theirs = observation.numbers, reference.numbers
    comparable = [name for name in theirs if math.isfinite(theirs[name])]
    if not comparable:
        return _skip("the reference on one replica has no finite metric to compare with")
    wrong = [n for n in comparable if n not in own or not close(own[n], theirs[n], tolerance)]
    if wrong:
        shown = ", ".join(f"{n} is {_number(own.get(n))}, reference {theirs[n]:.6g}" for n in wrong[:3])
        return _bad(f"{shown} (tolerance {tolerance:g})", Symptom.WRONG_METRIC.value)
    if alone := [name for name in own if name not in comparable]:
        return _skip(f"the reference on one replica has no finite {alone[0]} to compare with")
    return GOOD


def _number(value: float | None) -> str:
    return "missing" if value is None else f"{value:.6g}"


def _wrong_weights(case: Case, observation: Observation, reference: Observation | None) -> Verdict:
    tolerance = case.tolerance.weights
    missing = _no_comparison(observation, reference)
    if tolerance is None or missing or reference is None:
        return _skip(missing or "not compared")
    own, other = observation.weights, reference.weights
    if own is None or other is None or not other.finite:
        return _skip("no finite weights of the reference on one replica to compare with")
    if apart := _replicas_apart(own, tolerance):
        return _bad(apart, f"{Symptom.WRONG_WEIGHTS.value} | replicas differ")
    if own.norms.keys() != other.norms.keys():
        return _skip("the two trials do not have the same variables")
    differing = weight_differences(own, other, tolerance)
    if not differing:
        return GOOD if _trained(other, tolerance) else _skip("training moved no weight by more than the tolerance")
    name, mine, theirs = differing[0]
    more = f" and {len(differing) - 1} more" if len(differing) > 1 else ""
    why = f"{name} is {mine:.6g}, reference {theirs:.6g}{more} (tolerance {tolerance:g})"
    return _bad(why, Symptom.WRONG_WEIGHTS.value)


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


def weight_differences(own: WeightFacts, other: WeightFacts, tolerance: float) -> list[tuple[str, float, float]]:
    """List (variable, own value, reference value) for every variable beyond the tolerance.

    Values are compared one by one where both trials recorded them, relative to the largest absolute value of the
    variable; where they are no more than a sample, or missing, the norms are compared too.
    """
    differing = _value_differences(own, other, tolerance)
    known = sum(len(part) for part in (own.values or {}).values())
    if own.values is not None and other.values is not None and known >= own.count:
        return differing
    for name, norm in other.norms.items():
        found = any(name == one for one, _, _ in differing)
        if not found and not close(own.norms.get(name, math.nan), norm, tolerance):
            differing.append((name, own.norms.get(name, math.nan), norm))
    return differing


def _value_differences(own: WeightFacts, other: WeightFacts, tolerance: float) -> list[tuple[str, float, float]]:
    differing: list[tuple[str, float, float]] = []
    if own.values is None or other.values is None:
        return differing
    for name, theirs in other.values.items():
        mine = own.values.get(name, ())
        bound = tolerance * max((abs(v) for v in theirs), default=0.0) + 1e-7
        worst = max(zip(mine, theirs, strict=False), key=lambda pair: _distance(*pair), default=None)
        if len(mine) != len(theirs) or (worst is not None and _distance(*worst) > bound):
            differing.append((name, *(worst or (math.nan, math.nan))))
    return differing


def close(value: float, reference: float, tolerance: float) -> bool:
    """Relative closeness against the larger magnitude, with a floor of 1e-7 (float32 rounding near 0)."""
    return math.isclose(value, reference, rel_tol=tolerance, abs_tol=1e-7)


def signal_name(number: int | None) -> str:
    """Name of a signal, for example SIGSEGV."""
    try:
        return signal.Signals(number or 0).name
    except ValueError:
        return f"signal {number}"


def _distance(mine: float, theirs: float) -> float:
    difference = abs(mine - theirs)
    return math.inf if math.isnan(difference) else difference


def _scale(weights: WeightFacts) -> float:
    return max(weights.norms.values(), default=0.0) or 1.0


def _no_comparison(observation: Observation, reference: Observation | None) -> str:
    """Why a trial cannot be held against a reference; "" when it can."""
    if reference is None:
        return "there is no reference on one replica"
    if reference is observation:
        return "the trial on one replica is the reference itself"
    if reference.ending.kind is not EndingKind.FINISHED:
        return f"the reference on one replica did not finish: {_error(reference.ending)}"
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


def _error(ending: Ending) -> str:
    first = (ending.message or "").strip().splitlines()[:1]
    return f"{ending.exception or ending.kind.value}: {first[0][:300] if first else 'no message'}"


def _manner(ending: Ending) -> str:
    """How a trial ended, without what differs from run to run."""
    if ending.kind is EndingKind.SIGNALLED:
        return signal_name(ending.signal)
    return ending.exception or (f"exit code {ending.exit_code}" if ending.exit_code is not None else "")


def _bad(reason: str, told: str) -> Verdict:
    return Verdict(outcome=Outcome.BAD, reason=reason, signature=told)


def _skip(reason: str) -> Verdict:
    return Verdict(outcome=Outcome.SKIP, reason=reason)


def _hidden(by: Symptom, reason: str) -> Verdict:
    return _skip(f"hidden by {by.value}: {reason}")
