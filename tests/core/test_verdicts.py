"""From observation to verdict, way by way."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from harness.core.cases import Case, Level, Symptom, Tolerance
from harness.core.errors import SurroundingsError
from harness.core.observations import Ending, EndingKind, NonFinite, Observation, Stage, WeightFacts
from harness.core.verdicts import GOOD, Outcome, close, judge, signal_name, untestable, weight_differences

MODEL = Case(name="c", path="c.py", text="", level=Level.MODEL)
SCRIPT = replace(MODEL, level=Level.SCRIPT)
WEIGHTS = WeightFacts(count=1, finite=True, initial_digest="d", values={"w": (1.0,)}, norms={"w": 1.0})
FINE = Observation(ending=Ending(kind=EndingKind.FINISHED, stage=Stage.EVALUATE), final={"loss": 0.5}, weights=WEIGHTS)


def ended(kind: EndingKind, stage: Stage = Stage.TRAIN, **more) -> Observation:
    return Observation(ending=Ending(kind=kind, stage=stage, **more))


def skipped(observation: Observation, reference: Observation | None, symptom: Symptom) -> str:
    verdict = judge(MODEL, observation, reference)[symptom]
    assert verdict.outcome is Outcome.SKIP
    return verdict.reason


def test_good() -> None:
    assert set(judge(MODEL, FINE, FINE).values()) == {GOOD}


def test_symptoms_that_are_not_compared_are_not_judged() -> None:
    case = replace(MODEL, tolerance=Tolerance(metric=None, weights=None))
    assert not {Symptom.WRONG_METRIC, Symptom.WRONG_WEIGHTS} & set(judge(case, FINE, FINE))


@pytest.mark.parametrize(
    ("observation", "reason"),
    [
        (ended(EndingKind.REFUSED, message="no disk"), "no disk"),
        (ended(EndingKind.REFUSED), "the trial could not be run here"),
        (
            ended(EndingKind.RAISED, Stage.IMPORT, exception="ImportError"),
            "failed before the case could start",
        ),
        (ended(EndingKind.SIGNALLED, signal=9), "killed by SIGKILL"),
    ],
)
def test_untestable(observation: Observation, reason: str) -> None:
    verdicts = judge(MODEL, observation, FINE)
    assert all(v.outcome is Outcome.SKIP and v.reason.startswith(reason) for v in verdicts.values())
    assert untestable(FINE.ending, MODEL) is None


def test_a_bad_ending_hides_the_rest() -> None:
    verdicts = judge(MODEL, ended(EndingKind.TIMED_OUT), FINE)
    assert verdicts[Symptom.TIMEOUT].outcome is Outcome.BAD
    assert verdicts[Symptom.NONFINITE_METRIC].reason.startswith("hidden by timeout")


def test_nan_hides_wrong() -> None:
    run = replace(FINE, final={"loss": math.nan}, first_nonfinite_metric=NonFinite(name="loss", step=9, value=math.nan))
    verdicts = judge(MODEL, run, FINE)
    assert "first at step 9" in verdicts[Symptom.NONFINITE_METRIC].reason
    assert verdicts[Symptom.WRONG_METRIC].reason.startswith("hidden by nonfinite-metric")


class TestScript:
    def test_exit_codes(self) -> None:
        assert set(judge(SCRIPT, ended(EndingKind.EXITED, exit_code=0), None).values()) == {GOOD}
        skip = judge(SCRIPT, ended(EndingKind.EXITED, exit_code=125), None)
        assert {v.outcome for v in skip.values()} == {Outcome.SKIP}
        assert judge(SCRIPT, ended(EndingKind.EXITED, exit_code=1), None)[Symptom.EXCEPTION].reason == "exit code 1"

    @pytest.mark.parametrize("run", [ended(EndingKind.EXITED, exit_code=137), ended(EndingKind.SIGNALLED, signal=11)])
    def test_ended_by_force(self, run: Observation) -> None:
        with pytest.raises(SurroundingsError, match="ended by force"):
            judge(SCRIPT, run, None)
        killed = replace(SCRIPT, expects=Symptom.KILLED)
        assert judge(killed, run, None)[Symptom.KILLED].outcome is Outcome.BAD

    def test_refused(self) -> None:
        verdicts = judge(SCRIPT, ended(EndingKind.REFUSED, message="no disk"), None)
        assert {v.reason for v in verdicts.values()} == {"no disk"}


class TestReference:
    @pytest.mark.parametrize("symptom", [Symptom.WRONG_METRIC, Symptom.WRONG_WEIGHTS])
    def test_none_or_unfinished(self, symptom: Symptom) -> None:
        assert skipped(FINE, None, symptom) == "there is no reference on one replica"
        failed = ended(EndingKind.RAISED, exception="ValueError", message="no")
        assert skipped(FINE, failed, symptom).endswith("did not finish: ValueError: no")

    def test_nothing_finite_to_compare(self) -> None:
        assert "no finite metric" in skipped(FINE, replace(FINE, final={"loss": math.nan}), Symptom.WRONG_METRIC)
        broken = replace(FINE, weights=replace(WEIGHTS, finite=False))
        assert "no finite weights" in skipped(FINE, broken, Symptom.WRONG_WEIGHTS)

    def test_other_start(self) -> None:
        other = replace(FINE, weights=replace(WEIGHTS, initial_digest="e"))
        assert "did not start from the same weights" in skipped(FINE, other, Symptom.WRONG_WEIGHTS)

    def test_no_weights(self) -> None:
        assert skipped(replace(FINE, weights=None), FINE, Symptom.NONFINITE_WEIGHTS) == "weights were not recorded"


class TestWeights:
    def test_values(self) -> None:
        two = replace(WEIGHTS, values={"w": (1.0,), "v": (0.0,)})
        other = replace(WEIGHTS, values={"w": (2.0,), "v": (math.nan,)})
        assert [name for name, *_ in weight_differences(other, two, 1e-3)] == ["w", "v"]
        run = replace(FINE, weights=other)
        assert "and 1 more" in judge(MODEL, run, replace(FINE, weights=two))[Symptom.WRONG_WEIGHTS].reason

    def test_missing_values(self) -> None:
        ((name, *_),) = weight_differences(replace(WEIGHTS, values={}), WEIGHTS, 1e-3)
        assert name == "w"

    def test_norms(self) -> None:
        bare = replace(WEIGHTS, values=None)
        assert weight_differences(bare, bare, 1e-3) == []
        assert weight_differences(replace(bare, norms={"w": 2.0}), bare, 1e-3) == [("w", 2.0, 1.0)]


def test_small_things() -> None:
    assert close(1.0, 1.0005, 1e-3)
    assert not close(1.0, 1.1, 1e-3)
    assert signal_name(11) == "SIGSEGV"
    assert signal_name(None) == "signal None"
