"""Signatures: what differs from run to run goes, what tells failures apart stays."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.domain.cases.case import Case, Level
from harness.domain.cases.symptoms import Symptom
from harness.domain.trials.observation import Ending, EndingKind, NonFinite, Observation, Stage, WeightFacts
from harness.domain.verdicts.judgement import judge
from harness.domain.verdicts.signatures import LONGEST, normalised, signature
from harness.domain.verdicts.verdict import Outcome


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("object at 0x7f3a10 is dead", "object at 0x55ffee01 is dead"),
        ("No such file: /home/a/x.py", "No such file: /tmp/b-1/deep/y.py"),
        (r"cannot open C:\Users\me\x.h5", r"cannot open D:\other\y.h5"),
        ("line 12, loss 0.087251", "line 480, loss -1.5e-07"),
        ("shape (None, 32, 32) is wrong", "shape (None, 128) is wrong"),
        (
            "run 3f2504e0-4f89-11d3-9a0c-0305e82c3301 failed",
            "run 9b2504e0-4f89-11d3-9a0c-0305e82c3aaa failed",
        ),
        ("commit 28d39c0cc766ab failed", "commit 4aae578b7f67cd failed"),
        ("two   spaces", "two spaces"),
        ("the first line\nat step 4", "the first line\nat step 5"),
        ("\n\n the first line", "the first line"),
    ],
)
def test_same_failure(one: str, other: str) -> None:
    assert normalised(one) == normalised(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("float32 expected", "float16 expected"),
        ("conv2d is bad", "conv3d is bad"),
        ("read and/or write", "read or write"),
        ("mean aggregation", "sum aggregation"),
    ],
)
def test_other_failure(one: str, other: str) -> None:
    assert normalised(one) != normalised(other)


@given(st.text())
def test_normalising_is_short_one_line_and_does_not_raise(message: str) -> None:
    text = normalised(message)
    assert len(text) <= LONGEST
    assert "\n" not in text


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_numbers_never_tell_failures_apart(one: int, other: int) -> None:
    """Two messages that differ in a number alone have one signature."""
    assert normalised(f"step {one} failed") == normalised(f"step {other} failed")


def test_parts_are_joined_and_empty_ones_left_out() -> None:
    assert signature("exception", exception="ValueError", message="at 5") == "exception | ValueError | at <n>"
    assert signature("nonfinite-metric", first_name="loss") == "nonfinite-metric | loss"
    assert signature("timeout") == "timeout"
    whole = signature("exception", exception="ValueError", message="at 5", first_name="loss")
    assert whole == "exception | ValueError | at <n> | loss"


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("object at 0x7F3a10 is dead", "object at <address> is dead"),
        ("run 3f2504e0-4f89-11d3-9a0c-0305e82c3301 failed", "run <id> failed"),
        ("commit 28d39c0cc766ab failed", "commit <id> failed"),
        ("No such file: /tmp/b-1/deep/y.py", "No such file: <path>"),
        (r"cannot open C:\Users\me\x.h5", "cannot open <path>"),
        ("loss -1.5e-07 at step 12", "loss <n> at step <n>"),
        ("shape (2, 3, 4) or 5 x 6", "shape (<n>) or <n>"),
        ("\n\t two\t\twords \nand more", "two words"),
        ("x" * 250, "x" * LONGEST),
    ],
)
def test_what_is_left_of_a_message(message: str, text: str) -> None:
    assert normalised(message) == text


def test_nothing_to_say() -> None:
    assert normalised("  \n ") == ""


# The signature of a bad verdict: equal for two runs that fail in the same way.

SIGNED_MODEL = Case(name="c", path="c.py", text="", level=Level.MODEL)
SIGNED_SCRIPT = replace(SIGNED_MODEL, level=Level.SCRIPT)
ENDED_WELL = Ending(kind=EndingKind.FINISHED, stage=Stage.EVALUATE)
ONE_WEIGHT = WeightFacts(count=1, finite=True, initial_digest="d", values={"w": (1.0,)}, norms={"w": 1.0})
GOOD_TRIAL = Observation(ending=ENDED_WELL, final={"loss": 0.5}, weights=ONE_WEIGHT)


def signature_of(observation: Observation, symptom: Symptom, case: Case = SIGNED_MODEL) -> str:
    verdict = judge(case, observation, GOOD_TRIAL)[symptom]
    assert verdict.outcome is Outcome.BAD
    return verdict.signature


def trial_ended(kind: EndingKind, **more) -> Observation:
    return Observation(ending=Ending(kind=kind, stage=Stage.TRAIN, **more))


def test_signature_of_exception() -> None:
    run = trial_ended(EndingKind.RAISED, exception="ValueError", message="step 4 of 0x7f01 failed")
    assert signature_of(run, Symptom.EXCEPTION) == "exception | ValueError | step <n> of <address> failed"


def test_signature_of_left() -> None:
    assert signature_of(trial_ended(EndingKind.EXITED, exit_code=3), Symptom.EXCEPTION) == "exception | exit code 3"


def test_signature_of_killed_and_timeout() -> None:
    assert signature_of(trial_ended(EndingKind.SIGNALLED, signal=11), Symptom.KILLED) == "killed | SIGSEGV"
    assert signature_of(trial_ended(EndingKind.TIMED_OUT), Symptom.TIMEOUT) == "timeout"
    assert signature_of(trial_ended(EndingKind.TIMED_OUT), Symptom.TIMEOUT, SIGNED_SCRIPT) == "timeout"


def test_signature_of_script() -> None:
    run = replace(trial_ended(EndingKind.EXITED, exit_code=1), output="x\nloss was 0.4\n")
    assert signature_of(run, Symptom.EXCEPTION, SIGNED_SCRIPT) == "exception | exit code 1 | loss was <n>"


def test_signature_of_nonfinite_names_the_first_and_not_the_step() -> None:
    first = NonFinite(name="loss", step=125, value=float("nan"))
    run = replace(GOOD_TRIAL, final={"mae": float("nan")}, first_nonfinite_metric=first)
    assert signature_of(run, Symptom.NONFINITE_METRIC) == "nonfinite-metric | loss"
    run = replace(run, first_nonfinite_metric=None)
    assert signature_of(run, Symptom.NONFINITE_METRIC) == "nonfinite-metric | mae"
    run = replace(GOOD_TRIAL, weights=replace(ONE_WEIGHT, finite=False))
    assert signature_of(run, Symptom.NONFINITE_WEIGHTS) == "nonfinite-weights"
    located = replace(run, first_nonfinite_weight=first)
    assert signature_of(located, Symptom.NONFINITE_WEIGHTS) == "nonfinite-weights | loss"


def test_signature_of_wrong_values_have_no_numbers_in_their_signature() -> None:
    assert signature_of(replace(GOOD_TRIAL, final={"loss": 0.9}), Symptom.WRONG_METRIC) == "wrong-metric"
    other = replace(ONE_WEIGHT, values={"w": (2.0,)}, norms={"w": 2.0})
    assert signature_of(replace(GOOD_TRIAL, weights=other), Symptom.WRONG_WEIGHTS) == "wrong-weights"
    spread = replace(ONE_WEIGHT, replica_spread=1.0)
    assert signature_of(replace(GOOD_TRIAL, weights=spread), Symptom.WRONG_WEIGHTS) == "wrong-weights | replicas differ"


def test_signature_of_good_and_skip_have_none() -> None:
    assert {v.signature for v in judge(SIGNED_MODEL, GOOD_TRIAL, GOOD_TRIAL).values()} == {""}
