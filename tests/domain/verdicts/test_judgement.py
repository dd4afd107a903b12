"""Verdicts: a pure function of what happened, the reference and the case."""

from __future__ import annotations

import math
import signal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.domain.cases.case import Level, Tolerance
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import InfrastructureError
from harness.domain.trials.observation import EndingKind, NonFinite, Stage
from harness.domain.verdicts.judgement import judge
from harness.domain.verdicts.reasons import recorded
from harness.domain.verdicts.termination import untestable
from harness.domain.verdicts.verdict import GOOD as VERDICT_GOOD
from harness.domain.verdicts.verdict import bad
from tests.domain.verdicts.judging import (
    BAD,
    GOOD,
    MODEL,
    SKIP,
    SYMPTOMS,
    UNASKED,
    ended,
    hidden_but,
    outcomes,
    reason,
    said,
)
from tests.examples import case, ending, observation, weights

ENDINGS = st.builds(
    ending,
    kind=st.sampled_from(EndingKind),
    stage=st.sampled_from(Stage),
    exit_code=st.none() | st.integers(0, 255),
    signal=st.none() | st.integers(1, 64),
    message=st.none() | st.text(max_size=20),
)
OBSERVATIONS = st.builds(
    observation,
    final=st.dictionaries(st.sampled_from(["loss", "mae"]), st.floats()),
    ending=ENDINGS,
    weights=st.none() | st.builds(weights, finite=st.booleans(), replica_spread=st.sampled_from([0.0, 0.5])),
    first_nonfinite_metric=st.none() | st.just(NonFinite(name="loss", step=125, value=math.nan)),
)
CASES = st.builds(
    case,
    level=st.sampled_from(Level),
    expects=SYMPTOMS,
    tolerance=st.builds(Tolerance, metric=st.sampled_from([None, 1e-3]), weights=st.sampled_from([None, 1e-3])),
)


class TestAnyTrial:
    @given(CASES, OBSERVATIONS, st.none() | OBSERVATIONS)
    def test_bad_and_skip_always_say_why(self, about, seen, reference):
        """A reader never meets a verdict other than good without its reason."""
        try:
            verdicts = judge(about, seen, reference)
        except InfrastructureError as error:
            assert about.level is Level.SCRIPT
            assert error.hint
            return
        assert verdicts
        assert all(v.reason for v in verdicts.values() if v.outcome is not GOOD)

    @given(CASES, OBSERVATIONS, st.none() | OBSERVATIONS)
    def test_a_trial_that_did_not_finish_is_good_in_nothing_but_a_script_that_left_with_zero(
        self, about, seen, reference
    ):
        """What a trial could not show is hidden or untestable, never good."""
        left_with_zero = about.level is Level.SCRIPT and seen.ending.exit_code == 0
        if seen.ending.kind is EndingKind.FINISHED or left_with_zero:
            return
        try:
            verdicts = judge(about, seen, reference)
        except InfrastructureError:
            return
        assert GOOD not in {v.outcome for v in verdicts.values()}

    @given(CASES, OBSERVATIONS, st.none() | OBSERVATIONS)
    def test_a_reason_for_untestable_holds_for_every_symptom(self, about, seen, reference):
        """An environment that failed says nothing about any symptom: all are skip, none bad."""
        told = untestable(seen.ending, about)
        if told is None:
            return
        try:
            verdicts = judge(about, seen, reference)
        except InfrastructureError:
            assert about.level is Level.SCRIPT
            return
        if about.level is Level.MODEL:
            assert {(v.outcome, str(v.reason)) for v in verdicts.values()} == {(SKIP, str(told))}

    @given(OBSERVATIONS, st.none() | OBSERVATIONS)
    def test_the_same_facts_give_the_same_verdict(self, seen, reference):
        """Judging again, as every report and every resumed run does, changes nothing."""
        assert judge(MODEL, seen, reference) == judge(MODEL, seen, reference)


class TestEndingsOfAModel:
    @pytest.mark.parametrize(
        ("kind", "facts", "symptom", "why"),
        [
            (EndingKind.RAISED, {"exception": "ValueError", "message": "a\nb"}, Symptom.EXCEPTION, "ValueError: a"),
            (EndingKind.RAISED, {}, Symptom.EXCEPTION, "raised: no message"),
            (EndingKind.EXITED, {"exit_code": 3}, Symptom.EXCEPTION, "left with exit code 3"),
            (EndingKind.SIGNALLED, {"signal": signal.SIGSEGV}, Symptom.KILLED, "killed by SIGSEGV"),
            (EndingKind.TIMED_OUT, {}, Symptom.TIMEOUT, "not finished after 120 s"),
        ],
    )
    def test_one_symptom_shows_and_hides_all_others(self, kind, facts, symptom, why):
        seen = ended(kind, **facts)
        assert outcomes(MODEL, seen) == hidden_but(symptom)
        assert reason(symptom, MODEL, seen) == f"{why} (while: train)"
        assert reason(Symptom.WRONG_METRIC, MODEL, seen) == f"hidden by {symptom.value}: {why} (while: train)"

    @pytest.mark.parametrize(
        ("kind", "facts", "symptom", "told"),
        [
            (
                EndingKind.RAISED,
                {"exception": "ValueError", "message": "step 3\nb"},
                Symptom.EXCEPTION,
                "exception | ValueError | step <n>",
            ),
            (EndingKind.RAISED, {}, Symptom.EXCEPTION, "exception"),
            (EndingKind.EXITED, {"exit_code": 3}, Symptom.EXCEPTION, "exception | exit code 3"),
            (EndingKind.SIGNALLED, {"signal": signal.SIGSEGV}, Symptom.KILLED, "killed | SIGSEGV"),
            (EndingKind.TIMED_OUT, {}, Symptom.TIMEOUT, "timeout"),
        ],
    )
    def test_each_bad_end_has_its_signature(self, kind, facts, symptom, told):
        assert judge(MODEL, ended(kind, **facts), None)[symptom].signature == told

    def test_a_finished_trial_that_equals_its_reference_is_good_in_everything(self):
        assert outcomes(MODEL, observation()) == dict.fromkeys(UNASKED, GOOD)

    def test_a_refusal_is_skip_with_the_words_of_the_probe(self):
        seen = ended(EndingKind.REFUSED, message="the CPU cannot be split")
        assert outcomes(MODEL, seen) == dict.fromkeys(UNASKED, SKIP)
        assert reason(Symptom.EXCEPTION, MODEL, seen) == "the CPU cannot be split"
        assert reason(Symptom.EXCEPTION, MODEL, ended(EndingKind.REFUSED)) == "the trial could not be run here"

    @pytest.mark.parametrize("stage", [Stage.IMPORT, Stage.DEVICES, Stage.LOAD])
    def test_what_raises_before_the_case_could_start_is_no_verdict_about_it(self, stage):
        seen = ended(EndingKind.RAISED, stage, exception="ImportError", message="no module")
        assert outcomes(MODEL, seen) == dict.fromkeys(UNASKED, SKIP)
        assert reason(Symptom.EXCEPTION, MODEL, seen) == (
            f"failed before the case could start: ImportError: no module (while: {stage.value})"
        )

    @pytest.mark.parametrize("stage", [Stage.IMPORT, Stage.DEVICES])
    @pytest.mark.parametrize(
        ("kind", "facts"),
        [
            (EndingKind.EXITED, {"exit_code": 70}),
            (EndingKind.SIGNALLED, {"signal": signal.SIGABRT}),
            (EndingKind.TIMED_OUT, {}),
        ],
    )
    def test_nor_is_any_other_end_while_only_the_environment_was_at_work(self, kind, facts, stage):
        seen = ended(kind, stage, **facts)
        assert outcomes(MODEL, seen) == dict.fromkeys(UNASKED, SKIP)
        assert reason(Symptom.TIMEOUT, MODEL, seen).startswith("failed before the case could start: ")

    @pytest.mark.parametrize("stage", [s for s in Stage if s not in (Stage.IMPORT, Stage.DEVICES, Stage.LOAD)])
    def test_from_the_first_stage_of_the_case_on_an_exception_is_its_own(self, stage):
        assert outcomes(MODEL, ended(EndingKind.RAISED, stage)) == hidden_but(Symptom.EXCEPTION)

    def test_a_case_that_hangs_while_it_is_loaded_shows_a_timeout(self):
        """Loading runs the case's own code; only an exception there is more likely an import that is missing."""
        assert outcomes(MODEL, ended(EndingKind.TIMED_OUT, Stage.LOAD)) == hidden_but(Symptom.TIMEOUT)

    def test_sigkill_is_the_machine_s_doing_unless_the_case_expects_it(self):
        killed = ended(EndingKind.SIGNALLED, signal=signal.SIGKILL)
        assert outcomes(MODEL, killed) == dict.fromkeys(UNASKED, SKIP)
        assert "lack of memory" in reason(Symptom.KILLED, MODEL, killed)
        assert outcomes(case(expects=Symptom.KILLED), killed) == hidden_but(Symptom.KILLED)

    def test_the_limit_of_memory_is_so_too(self):
        stopped = ended(EndingKind.OUT_OF_MEMORY, message="needs more memory than the limit of 2 bytes")
        assert outcomes(MODEL, stopped) == dict.fromkeys(UNASKED, SKIP)
        assert reason(Symptom.KILLED, MODEL, stopped) == "needs more memory than the limit of 2 bytes"
        expecting = case(expects=Symptom.KILLED)
        assert outcomes(expecting, stopped) == hidden_but(Symptom.KILLED)
        assert "killed by the limit of memory" in reason(Symptom.KILLED, expecting, stopped)


ENDS = (Symptom.EXCEPTION, Symptom.KILLED, Symptom.TIMEOUT)


class TestHowMuchWasSeen:
    """A good verdict needs something that could have been bad."""

    def test_no_metric_at_all_is_no_finite_metric(self):
        assert reason(Symptom.NONFINITE_METRIC, MODEL, observation({})) == "no metric was recorded"

    def test_a_trial_that_stopped_early_is_good_in_nothing(self):
        seen, reference = observation(steps={"loss": (0.1,) * 10}), observation(steps={"loss": (0.1,) * 256})
        found = judge(MODEL, seen, reference)
        assert {v.outcome for s, v in found.items() if s not in ENDS} == {SKIP}
        assert (
            str(found[Symptom.NONFINITE_METRIC].reason) == "trained 10 of the 256 steps of the reference on one replica"
        )
        assert {found[s].outcome for s in ENDS} == {GOOD}

    def test_a_wrong_value_is_told_with_the_steps_that_are_missing(self):
        """They may be all that is wrong: a generator that ran dry, a callback that stopped."""
        seen, reference = observation({"loss": 1.0}, steps={"loss": (1.0,)}), observation(steps={"loss": (0.1,) * 2})
        told = reason(Symptom.WRONG_METRIC, MODEL, seen, reference)
        assert told.endswith("; trained 1 of the 2 steps of the reference on one replica")

    def test_wrong_weights_are_told_with_the_missing_steps_too_and_other_reasons_are_left_alone(self):
        off = weights(values={"kernel": (1.0,), "bias": (0.25,)})
        seen = observation({"loss": math.nan}, steps={"loss": (1.0,), "mae": (1.0, 1.0)}, weights=off)
        found = judge(MODEL, seen, observation(steps={"loss": (0.1,) * 3}))
        late = "trained 2 of the 3 steps of the reference on one replica"
        assert said(found[Symptom.WRONG_WEIGHTS]) == bad(
            recorded(f"kernel is 1, reference 0.5 (tolerance 0.001); {late}"), "wrong-weights"
        )
        assert str(found[Symptom.NONFINITE_METRIC].reason) == "loss is nan"
        assert str(found[Symptom.WRONG_METRIC].reason) == "hidden by nonfinite-metric: loss is nan"
        assert str(found[Symptom.NONFINITE_WEIGHTS].reason) == late
        assert found[Symptom.EXCEPTION] == found[Symptom.TIMEOUT] == VERDICT_GOOD

    @pytest.mark.parametrize(("own", "theirs"), [(0, 5), (5, 5), (1, 0)])
    def test_only_a_known_number_of_steps_can_be_too_few(self, own, theirs):
        seen, reference = observation(steps={"loss": (0.1,) * own}), observation(steps={"loss": (0.1,) * theirs})
        assert outcomes(MODEL, seen, reference) == dict.fromkeys(UNASKED, GOOD)
        assert outcomes(MODEL, seen, None)[Symptom.NONFINITE_METRIC] is GOOD

    def test_a_trial_whose_steps_were_not_recorded_is_not_too_short(self):
        assert outcomes(MODEL, observation(), observation(steps={"loss": (0.1,) * 5})) == dict.fromkeys(UNASKED, GOOD)

    def test_one_step_of_two_is_too_few(self):
        seen, reference = observation(steps={"loss": (0.1,)}), observation(steps={"loss": (0.1, 0.1)})
        assert outcomes(MODEL, seen, reference)[Symptom.NONFINITE_METRIC] is SKIP

    def test_what_it_shows_until_then_counts(self):
        seen = observation({"loss": math.nan}, steps={"loss": (math.nan,)})
        found = outcomes(MODEL, seen, observation(steps={"loss": (0.1, 0.1)}))
        assert found[Symptom.NONFINITE_METRIC] is BAD

    def test_more_steps_than_the_reference_are_enough(self):
        seen, reference = observation(steps={"loss": (0.1,) * 9}), observation(steps={"loss": (0.1,) * 8})
        assert outcomes(MODEL, seen, reference)[Symptom.NONFINITE_METRIC] is GOOD

    def test_a_reference_that_is_not_finite_either_is_mentioned(self):
        told = reason(Symptom.NONFINITE_METRIC, MODEL, observation({"loss": math.nan}), observation({"loss": math.inf}))
        assert told == "loss is nan, on one replica loss is not finite either"
