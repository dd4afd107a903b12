"""The signature of a bad verdict."""

from __future__ import annotations

from dataclasses import replace

from harness.core.cases import Case, Level, Symptom
from harness.core.observations import Ending, EndingKind, NonFinite, Observation, Stage, WeightFacts
from harness.core.verdicts import Outcome, judge

MODEL = Case(name="c", path="c.py", text="", level=Level.MODEL)
SCRIPT = replace(MODEL, level=Level.SCRIPT)
FINE = Ending(kind=EndingKind.FINISHED, stage=Stage.EVALUATE)
WEIGHTS = WeightFacts(count=1, finite=True, initial_digest="d", values={"w": (1.0,)}, norms={"w": 1.0})
GOOD_RUN = Observation(ending=FINE, final={"loss": 0.5}, weights=WEIGHTS)


def told(observation: Observation, symptom: Symptom, case: Case = MODEL) -> str:
    verdict = judge(case, observation, GOOD_RUN)[symptom]
    assert verdict.outcome is Outcome.BAD
    return verdict.signature


def ended(kind: EndingKind, **more) -> Observation:
    return Observation(ending=Ending(kind=kind, stage=Stage.TRAIN, **more))


def test_exception() -> None:
    run = ended(EndingKind.RAISED, exception="ValueError", message="step 4 of 0x7f01 failed")
    assert told(run, Symptom.EXCEPTION) == "exception | ValueError | step <n> of <address> failed"


def test_left() -> None:
    assert told(ended(EndingKind.EXITED, exit_code=3), Symptom.EXCEPTION) == "exception | exit code 3"


def test_killed_and_timeout() -> None:
    assert told(ended(EndingKind.SIGNALLED, signal=11), Symptom.KILLED) == "killed | SIGSEGV"
    assert told(ended(EndingKind.TIMED_OUT), Symptom.TIMEOUT) == "timeout"
    assert told(ended(EndingKind.TIMED_OUT), Symptom.TIMEOUT, SCRIPT) == "timeout"


def test_script() -> None:
    run = replace(ended(EndingKind.EXITED, exit_code=1), output="x\nloss was 0.4\n")
    assert told(run, Symptom.EXCEPTION, SCRIPT) == "exception | exit code 1 | loss was <n>"


def test_nonfinite_names_the_first_and_not_the_step() -> None:
    first = NonFinite(name="loss", step=125, value=float("nan"))
    run = replace(GOOD_RUN, final={"mae": float("nan")}, first_nonfinite_metric=first)
    assert told(run, Symptom.NONFINITE_METRIC) == "nonfinite-metric | loss"
    run = replace(run, first_nonfinite_metric=None)
    assert told(run, Symptom.NONFINITE_METRIC) == "nonfinite-metric | mae"
    run = replace(GOOD_RUN, weights=replace(WEIGHTS, finite=False))
    assert told(run, Symptom.NONFINITE_WEIGHTS) == "nonfinite-weights"
    assert told(replace(run, first_nonfinite_weight=first), Symptom.NONFINITE_WEIGHTS) == "nonfinite-weights | loss"


def test_wrong_values_have_no_numbers_in_their_signature() -> None:
    assert told(replace(GOOD_RUN, final={"loss": 0.9}), Symptom.WRONG_METRIC) == "wrong-metric"
    other = replace(WEIGHTS, values={"w": (2.0,)}, norms={"w": 2.0})
    assert told(replace(GOOD_RUN, weights=other), Symptom.WRONG_WEIGHTS) == "wrong-weights"
    spread = replace(WEIGHTS, replica_spread=1.0)
    assert told(replace(GOOD_RUN, weights=spread), Symptom.WRONG_WEIGHTS) == "wrong-weights | replicas differ"


def test_good_and_skip_have_none() -> None:
    assert {v.signature for v in judge(MODEL, GOOD_RUN, GOOD_RUN).values()} == {""}
