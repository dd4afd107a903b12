"""Verdicts: a pure function of what happened, the reference and the case."""

from __future__ import annotations

import math
import signal
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.cases import DEFAULT_TOLERANCE, Case, Level, Tolerance
from harness.core.errors import ExitCode, SurroundingsError
from harness.core.observations import Ending, EndingKind, NonFinite, Observation, Stage, WeightFacts
from harness.core.symptoms import Symptom
from harness.core.verdicts import Outcome, close, judge, signal_name, untestable, weight_differences
from tests.examples import case, ending, observation, script, weights

GOOD, BAD, SKIP = Outcome.GOOD, Outcome.BAD, Outcome.SKIP
MODEL = case()
SCRIPT = case(level=Level.SCRIPT)
REFERENCE = observation()
SYMPTOMS = st.none() | st.sampled_from(Symptom)
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


def outcomes(about: Case, seen: Observation, reference: Observation | None = REFERENCE) -> dict[Symptom, Outcome]:
    return {symptom: verdict.outcome for symptom, verdict in judge(about, seen, reference).items()}


def reason(symptom: Symptom, about: Case, seen: Observation, reference: Observation | None = REFERENCE) -> str:
    return judge(about, seen, reference)[symptom].reason


def ended(kind: EndingKind, stage: Stage = Stage.TRAIN, **facts: object) -> Observation:
    return observation({}, weights=None, ending=ending(kind, stage, **facts))


def hidden_but(symptom: Symptom) -> dict[Symptom, Outcome]:
    """One symptom shows; none of the others can be seen behind it."""
    return {other: BAD if other is symptom else SKIP for other in Symptom}


class TestAnyTrial:
    @given(CASES, OBSERVATIONS, st.none() | OBSERVATIONS)
    def test_bad_and_skip_always_say_why(self, about, seen, reference):
        """A reader never meets a verdict other than good without its reason."""
        try:
            verdicts = judge(about, seen, reference)
        except SurroundingsError as error:
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
        except SurroundingsError:
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
        except SurroundingsError:
            assert about.level is Level.SCRIPT
            return
        if about.level is Level.MODEL:
            assert {(v.outcome, v.reason) for v in verdicts.values()} == {(SKIP, told)}

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

    def test_a_finished_trial_that_equals_its_reference_is_good_in_everything(self):
        assert outcomes(MODEL, observation()) == dict.fromkeys(Symptom, GOOD)

    def test_a_refusal_is_skip_with_the_words_of_the_probe(self):
        seen = ended(EndingKind.REFUSED, message="the CPU cannot be split")
        assert outcomes(MODEL, seen) == dict.fromkeys(Symptom, SKIP)
        assert reason(Symptom.EXCEPTION, MODEL, seen) == "the CPU cannot be split"
        assert reason(Symptom.EXCEPTION, MODEL, ended(EndingKind.REFUSED)) == "the trial could not be run here"

    @pytest.mark.parametrize("stage", [Stage.IMPORT, Stage.DEVICES, Stage.LOAD])
    def test_what_raises_before_the_case_could_start_is_no_verdict_about_it(self, stage):
        seen = ended(EndingKind.RAISED, stage, exception="ImportError", message="no module")
        assert outcomes(MODEL, seen) == dict.fromkeys(Symptom, SKIP)
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
        assert outcomes(MODEL, seen) == dict.fromkeys(Symptom, SKIP)
        assert reason(Symptom.TIMEOUT, MODEL, seen).startswith("failed before the case could start: ")

    @pytest.mark.parametrize("stage", [s for s in Stage if s not in (Stage.IMPORT, Stage.DEVICES, Stage.LOAD)])
    def test_from_the_first_stage_of_the_case_on_an_exception_is_its_own(self, stage):
        assert outcomes(MODEL, ended(EndingKind.RAISED, stage)) == hidden_but(Symptom.EXCEPTION)

    def test_a_case_that_hangs_while_it_is_loaded_shows_a_timeout(self):
        """Loading runs the case's own code; only an exception there is more likely an import that is missing."""
        assert outcomes(MODEL, ended(EndingKind.TIMED_OUT, Stage.LOAD)) == hidden_but(Symptom.TIMEOUT)

    def test_sigkill_is_the_machine_s_doing_unless_the_case_expects_it(self):
        killed = ended(EndingKind.SIGNALLED, signal=signal.SIGKILL)
        assert outcomes(MODEL, killed) == dict.fromkeys(Symptom, SKIP)
        assert "lack of memory" in reason(Symptom.KILLED, MODEL, killed)
        assert outcomes(case(expects=Symptom.KILLED), killed) == hidden_but(Symptom.KILLED)


class TestNonFinite:
    def test_a_nan_metric_is_bad_and_hides_whether_it_would_have_been_wrong(self):
        seen = observation({"loss": math.nan}, first_nonfinite_metric=NonFinite(name="loss", step=125, value=math.nan))
        assert outcomes(MODEL, seen) == {
            **dict.fromkeys(Symptom, GOOD),
            Symptom.NONFINITE_METRIC: BAD,
            Symptom.WRONG_METRIC: SKIP,
        }
        assert reason(Symptom.NONFINITE_METRIC, MODEL, seen) == "loss is nan, first at step 125 (loss = nan)"
        assert reason(Symptom.WRONG_METRIC, MODEL, seen).startswith("hidden by nonfinite-metric: loss is nan")

    @pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
    def test_every_value_that_is_not_finite_counts(self, value):
        assert outcomes(MODEL, observation({"loss": value}))[Symptom.NONFINITE_METRIC] is BAD
        assert outcomes(MODEL, observation(evaluated={"mae": value}))[Symptom.NONFINITE_METRIC] is BAD

    def test_a_step_that_was_not_finite_is_bad_even_when_the_epoch_ends_finite(self):
        seen = observation(first_nonfinite_metric=NonFinite(name="mae", step=7, value=math.inf))
        assert reason(Symptom.NONFINITE_METRIC, MODEL, seen) == "first at step 7 (mae = inf)"

    def test_at_most_three_metrics_are_named(self):
        many = observation({f"m{n}": math.nan for n in range(9)})
        assert reason(Symptom.NONFINITE_METRIC, MODEL, many) == "m0 is nan, m1 is nan, m2 is nan"

    def test_weights_that_are_not_finite_are_bad_and_hide_whether_they_would_have_been_wrong(self):
        seen = observation(
            weights=weights(finite=False), first_nonfinite_weight=NonFinite(name="kernel", step=3, value=math.nan)
        )
        assert outcomes(MODEL, seen)[Symptom.NONFINITE_WEIGHTS] is BAD
        assert reason(Symptom.NONFINITE_WEIGHTS, MODEL, seen) == "first at step 3 (kernel)"
        assert reason(Symptom.WRONG_WEIGHTS, MODEL, seen) == "hidden by nonfinite-weights: first at step 3 (kernel)"

    def test_large_models_know_only_that_their_weights_are_not_finite(self):
        seen = observation(weights=weights(finite=False))
        assert reason(Symptom.NONFINITE_WEIGHTS, MODEL, seen) == "weights are not finite after training"

    def test_weights_that_were_not_recorded_are_skip(self):
        assert outcomes(MODEL, observation(weights=None))[Symptom.NONFINITE_WEIGHTS] is SKIP


ENDS = (Symptom.EXCEPTION, Symptom.KILLED, Symptom.TIMEOUT)


def seen_again(seen):
    """The same facts from another trial."""
    return replace(seen)


class TestHowMuchWasSeen:
    """A good verdict needs something that could have been bad."""

    def test_no_metric_at_all_is_no_finite_metric(self):
        assert reason(Symptom.NONFINITE_METRIC, MODEL, observation({})) == "no metric was recorded"

    def test_a_trial_that_stopped_early_is_good_in_nothing(self):
        seen, reference = observation(steps={"loss": (0.1,) * 10}), observation(steps={"loss": (0.1,) * 256})
        found = judge(MODEL, seen, reference)
        assert {v.outcome for s, v in found.items() if s not in ENDS} == {SKIP}
        assert found[Symptom.NONFINITE_METRIC].reason == "trained 10 of the 256 steps of the reference on one replica"
        assert {found[s].outcome for s in ENDS} == {GOOD}

    def test_a_wrong_value_is_told_with_the_steps_that_are_missing(self):
        """They may be all that is wrong: a generator that ran dry, a callback that stopped."""
        seen, reference = observation({"loss": 1.0}, steps={"loss": (1.0,)}), observation(steps={"loss": (0.1,) * 2})
        told = reason(Symptom.WRONG_METRIC, MODEL, seen, reference)
        assert told.endswith("; trained 1 of the 2 steps of the reference on one replica")

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


class TestWrongMetric:
    def test_a_finite_metric_beyond_the_tolerance_is_wrong_and_both_numbers_are_shown(self):
        seen, reference = observation({"accuracy": 0.119}), observation({"accuracy": 0.459})
        assert outcomes(MODEL, seen, reference)[Symptom.WRONG_METRIC] is BAD
        assert reason(Symptom.WRONG_METRIC, MODEL, seen, reference) == (
            "accuracy is 0.119, reference 0.459 (tolerance 0.001)"
        )

    def test_a_nan_reference_cannot_say_what_is_right(self):
        told = reason(Symptom.WRONG_METRIC, MODEL, observation(), observation({"loss": math.nan}))
        assert told == "the reference on one replica has no finite metric to compare with"

    def test_a_metric_whose_reference_is_nan_leaves_the_question_open(self):
        reference = observation({"loss": 0.0873, "mae": math.nan})
        seen = observation({"loss": 0.0873, "mae": 1.0})
        assert reason(Symptom.WRONG_METRIC, MODEL, seen, reference) == (
            "the reference on one replica has no finite mae to compare with"
        )

    def test_but_what_can_be_compared_beside_it_may_be_wrong(self):
        reference = observation({"loss": 0.0873, "mae": math.nan})
        assert outcomes(MODEL, observation({"loss": 0.5, "mae": 1.0}), reference)[Symptom.WRONG_METRIC] is BAD

    def test_a_metric_that_is_missing_is_wrong(self):
        told = reason(Symptom.WRONG_METRIC, MODEL, observation({}), observation({"loss": 0.25}))
        assert told == "loss is missing, reference 0.25 (tolerance 0.001)"

    def test_a_metric_that_only_the_trial_has_cannot_be_called_right(self):
        seen = observation({"loss": 0.0873, "extra": 1.0})
        assert outcomes(MODEL, seen)[Symptom.WRONG_METRIC] is SKIP

    def test_without_a_reference_nothing_can_be_called_wrong_or_right(self):
        found = judge(MODEL, observation(), None)
        assert found[Symptom.WRONG_METRIC].reason == "there is no reference on one replica"
        assert found[Symptom.WRONG_WEIGHTS].reason == "there is no reference on one replica"

    def test_a_reference_that_did_not_finish_is_named_with_its_error(self):
        reference = ended(EndingKind.RAISED, exception="ValueError", message="boom")
        told = reason(Symptom.WRONG_METRIC, MODEL, observation(), reference)
        assert told == "the reference on one replica did not finish: ValueError: boom"

    def test_a_case_that_compares_nothing_has_no_such_symptom(self):
        found = judge(case(tolerance=Tolerance(metric=None, weights=None)), observation(), REFERENCE)
        assert set(found) == set(Symptom) - {Symptom.WRONG_METRIC, Symptom.WRONG_WEIGHTS}


class TestTolerance:
    @pytest.mark.parametrize(
        ("value", "reference", "tolerance", "near"),
        [
            (1.001, 1.0, 1e-3, True),
            (1.0011, 1.0, 1e-3, False),
            (0.9990001, 1.0, 1e-3, True),
            (0.9989, 1.0, 1e-3, False),
            (-1.0, 1.0, 1e-3, False),
            (0.0, 1e-7, 0.0, True),
            (0.0, 1.1e-7, 0.0, False),
            (1.0, 1.0, 0.0, True),
            (2.0, 1.0, 0.5, True),
            (2.01, 1.0, 0.5, False),
            (math.nan, 1.0, 10.0, False),
            (math.inf, 1.0, 0.5, False),
            (math.nan, math.nan, 0.5, False),
        ],
    )
    def test_its_edge_belongs_to_it(self, value, reference, tolerance, near):
        assert close(value, reference, tolerance) is near

    @given(st.floats(allow_nan=False, allow_infinity=False), st.floats(0, 1))
    def test_a_value_is_close_to_itself(self, value, tolerance):
        """A release that computes the same number is never called wrong."""
        assert close(value, value, tolerance)

    @given(st.floats(allow_nan=False), st.floats(allow_nan=False), st.floats(0, 1))
    def test_closeness_does_not_depend_on_which_one_is_the_reference(self, one, other, tolerance):
        """The tolerance is relative to the larger of the two."""
        assert close(one, other, tolerance) == close(other, one, tolerance)

    @given(st.floats(0.01, 1e6), st.floats(1e-6, 0.5), st.floats(0, 1))
    def test_a_wider_tolerance_never_makes_a_good_metric_wrong(self, reference, tolerance, part):
        """Loosening a case can only turn bad into good."""
        seen, held = observation({"loss": reference * (1 + tolerance * part)}), observation({"loss": reference})
        tight = outcomes(case(tolerance=Tolerance(metric=tolerance)), seen, held)[Symptom.WRONG_METRIC]
        loose = outcomes(case(tolerance=Tolerance(metric=2 * tolerance)), seen, held)[Symptom.WRONG_METRIC]
        assert tight is BAD or loose is GOOD


class TestWrongWeights:
    def test_a_weight_beyond_the_tolerance_shows_both_values(self):
        seen = observation(weights=weights(values={"kernel": (1.0,), "bias": (0.25,)}))
        assert outcomes(MODEL, seen)[Symptom.WRONG_WEIGHTS] is BAD
        assert reason(Symptom.WRONG_WEIGHTS, MODEL, seen) == "kernel is 1, reference 0.5 (tolerance 0.001)"

    def test_further_wrong_variables_are_counted(self):
        seen = observation(weights=weights(values={"kernel": (1.0,), "bias": (2.0,)}))
        assert reason(Symptom.WRONG_WEIGHTS, MODEL, seen) == "kernel is 1, reference 0.5 and 1 more (tolerance 0.001)"

    def test_copies_that_drifted_apart_are_wrong_whatever_the_first_one_holds(self):
        drifted = observation(weights=weights(replica_spread=0.01))
        assert reason(Symptom.WRONG_WEIGHTS, MODEL, drifted) == "copies of one variable differ between replicas by 0.01"
        within = observation(weights=weights(replica_spread=0.0005))
        assert outcomes(MODEL, within)[Symptom.WRONG_WEIGHTS] is GOOD

    def test_copies_of_weights_without_norms_are_held_against_one(self):
        drifted = observation(weights=weights(norms={}, replica_spread=0.01))
        assert outcomes(MODEL, drifted)[Symptom.WRONG_WEIGHTS] is BAD

    def test_trials_that_started_from_other_weights_cannot_be_compared(self):
        told = reason(Symptom.WRONG_WEIGHTS, MODEL, observation(weights=weights(initial_digest="other")))
        assert told == "the two trials did not start from the same weights"

    @pytest.mark.parametrize("digest", ["", "same"])
    def test_an_unknown_start_is_no_other_start(self, digest):
        """A model without an input shape is built before training under a strategy, and in its first step without."""
        seen, reference = (
            observation(weights=weights(initial_digest=digest)),
            observation(weights=weights(initial_digest="")),
        )
        found = outcomes(MODEL, seen, reference)
        assert (found[Symptom.WRONG_METRIC], found[Symptom.WRONG_WEIGHTS]) == (GOOD, GOOD)

    def test_nor_can_their_metrics(self):
        seen = observation({"loss": 9.0}, weights=weights(initial_digest="other"))
        assert outcomes(MODEL, seen)[Symptom.WRONG_METRIC] is SKIP

    def test_trials_that_trained_on_other_data_cannot_be_compared(self):
        """data() that draws without a seed would else be a regression of every release."""
        found = judge(MODEL, observation({"loss": 9.0}, data_digest="one"), observation(data_digest="other"))
        assert {found[s].reason for s in (Symptom.WRONG_METRIC, Symptom.WRONG_WEIGHTS)} == {
            "the two trials did not train on the same data"
        }

    def test_a_trial_is_not_its_own_reference(self):
        seen = observation()
        found = judge(MODEL, seen, seen)
        assert {found[s].reason for s in (Symptom.WRONG_METRIC, Symptom.WRONG_WEIGHTS)} == {
            "the trial on one replica is the reference itself"
        }

    def test_other_variables_cannot_be_compared(self):
        seen = observation(weights=weights(norms={"kernel": 0.5, "gate": 0.25}))
        assert reason(Symptom.WRONG_WEIGHTS, MODEL, seen) == "the two trials do not have the same variables"

    def test_a_small_variable_may_not_drift_in_the_shadow_of_a_large_one(self):
        about = {"values": None, "norms": {"kernel": 1000.0, "bias": 0.25}}
        seen = observation(weights=weights(**about, replica_spread=0.01, spreads={"bias": 0.01}))
        told = reason(Symptom.WRONG_WEIGHTS, MODEL, seen, observation(weights=weights(**about)))
        assert told == "copies of bias differ between replicas by 0.01"

    def test_copies_may_differ_within_the_tolerance(self):
        seen = observation(weights=weights(spreads={"bias": 0.0002}))
        assert outcomes(MODEL, seen)[Symptom.WRONG_WEIGHTS] is GOOD

    @pytest.mark.parametrize(("moved", "expected"), [({"kernel": 1e-5}, SKIP), ({"kernel": 1e-5, "bias": 0.1}, GOOD)])
    def test_equal_weights_that_never_moved_say_nothing_about_the_gradient(self, moved, expected):
        seen = observation(weights=weights(moved=moved))
        assert outcomes(MODEL, seen, seen_again(seen))[Symptom.WRONG_WEIGHTS] is expected

    def test_a_model_without_weights_has_none_that_are_right(self):
        seen = observation(weights=weights(count=0, values={}, norms={}))
        found = outcomes(MODEL, seen, seen_again(seen))
        assert found[Symptom.NONFINITE_WEIGHTS] is SKIP

    @pytest.mark.parametrize("reference", [observation(weights=None), observation(weights=weights(finite=False))])
    def test_a_reference_without_finite_weights_cannot_say_what_is_right(self, reference):
        told = reason(Symptom.WRONG_WEIGHTS, MODEL, observation(), reference)
        assert told == "no finite weights of the reference on one replica to compare with"

    def test_without_recorded_weights_nothing_is_claimed(self):
        assert outcomes(MODEL, observation(weights=None))[Symptom.WRONG_WEIGHTS] is SKIP


class TestWeightDifferences:
    def test_the_bound_is_relative_to_the_largest_value_of_the_variable(self):
        """A tiny weight beside a large one is compared at the scale of the large one."""
        theirs = weights(values={"kernel": (100.0, 1e-6)})
        assert weight_differences(weights(values={"kernel": (100.0, 0.09)}), theirs, 1e-3) == []
        assert weight_differences(weights(values={"kernel": (100.0, 0.11)}), theirs, 1e-3) == [("kernel", 0.11, 1e-6)]

    def test_the_worst_value_is_shown(self):
        mine, theirs = weights(values={"k": (1.0, 5.0, 2.0)}), weights(values={"k": (1.5, 1.0, 2.0)})
        assert weight_differences(mine, theirs, 1e-3) == [("k", 5.0, 1.0)]

    def test_a_nan_is_the_worst_of_all(self):
        mine, theirs = weights(values={"k": (9.0, math.nan)}), weights(values={"k": (1.0, 1.0)})
        ((name, own, other),) = weight_differences(mine, theirs, 0.5)
        assert (name, math.isnan(own), other) == ("k", True, 1.0)

    def test_a_variable_that_is_missing_or_of_another_size_differs(self):
        theirs = weights(values={"k": (1.0, 1.0), "b": (0.0,)})
        ((name, own, _),) = weight_differences(weights(values={"k": (1.0, 1.0)}), theirs, 0.5)
        assert (name, math.isnan(own)) == ("b", True)
        shorter = weight_differences(weights(values={"k": (1.0,), "b": (0.0,)}), theirs, 0.5)
        assert [name for name, *_ in shorter] == ["k"]

    def test_a_sample_of_the_values_is_backed_by_the_norms(self):
        """A large model keeps 64 values of each variable; what happened to the others shows in the norm."""
        large = {"count": 1000, "values": {"k": (1.0,), "b": (1.0,)}}
        theirs = weights(**large, norms={"k": 10.0, "b": 10.0})
        assert weight_differences(weights(**large, norms={"k": 10.0, "b": 20.0}), theirs, 1e-3) == [("b", 20.0, 10.0)]
        other = weights(count=1000, values={"k": (2.0,), "b": (1.0,)}, norms={"k": 20.0, "b": 10.0})
        assert weight_differences(other, theirs, 1e-3) == [("k", 2.0, 1.0)]

    def test_empty_variables_are_equal(self):
        assert weight_differences(weights(values={"k": ()}), weights(values={"k": ()}), 0.0) == []

    def test_large_models_are_compared_by_their_norms(self):
        theirs = weights(values=None, norms={"kernel": 10.0, "bias": 1.0})
        assert weight_differences(weights(values=None, norms={"kernel": 10.0, "bias": 1.0}), theirs, 1e-3) == []
        differing = weight_differences(weights(norms={"kernel": 10.1}), theirs, 1e-3)
        assert differing[0] == ("kernel", 10.1, 10.0)
        assert (differing[1][0], math.isnan(differing[1][1])) == ("bias", True)

    @given(st.dictionaries(st.sampled_from("abc"), st.lists(st.floats(-1e6, 1e6), max_size=3).map(tuple)))
    def test_weights_do_not_differ_from_themselves(self, values):
        """Two trials that end with the same weights are never called wrong, with tolerance 0 either."""
        assert weight_differences(weights(values=values), weights(values=values), 0.0) == []


class TestScripts:
    """The contract of git bisect run: 0 good, 125 skip, 1 to 124, 126 and 127 bad, 128 and above abort."""

    def test_zero_is_good(self):
        assert outcomes(SCRIPT, script(0), None) == dict.fromkeys(
            [Symptom.EXCEPTION, Symptom.KILLED, Symptom.TIMEOUT], GOOD
        )

    def test_125_is_skip_in_the_script_s_own_word(self):
        found = judge(SCRIPT, script(125), None)
        assert {v.outcome for v in found.values()} == {SKIP}
        assert found[Symptom.EXCEPTION].reason == "the script says: cannot be tested (exit code 125)"

    @pytest.mark.parametrize("code", [1, 2, 124, 126, 127])
    def test_every_other_code_below_128_is_bad_and_hides_the_rest(self, code):
        assert outcomes(SCRIPT, script(code), None) == {
            Symptom.EXCEPTION: BAD,
            Symptom.KILLED: SKIP,
            Symptom.TIMEOUT: SKIP,
        }
        assert reason(Symptom.EXCEPTION, SCRIPT, script(code), None) == f"exit code {code}"

    @pytest.mark.parametrize("code", [128, 139, 255])
    def test_128_and_above_stop_the_search(self, code):
        with pytest.raises(SurroundingsError) as caught:
            judge(SCRIPT, script(code), None)
        assert f"exit code {code}" in caught.value.what
        assert caught.value.where == SCRIPT.path
        assert 'expects = "killed"' in (caught.value.hint or "")
        assert caught.value.exit_code is ExitCode.SURROUNDINGS

    @pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL, signal.SIGTERM])
    def test_so_does_a_signal(self, number):
        seen = ended(EndingKind.SIGNALLED, Stage.SCRIPT, signal=number)
        with pytest.raises(SurroundingsError, match=f"killed by {number.name}"):
            judge(SCRIPT, seen, None)

    @pytest.mark.parametrize(
        "seen",
        [script(134), ended(EndingKind.SIGNALLED, Stage.SCRIPT, signal=signal.SIGKILL)],
        ids=["code", "signal"],
    )
    def test_unless_the_case_expects_to_be_killed(self, seen):
        found = outcomes(case(level=Level.SCRIPT, expects=Symptom.KILLED), seen, None)
        assert found == {Symptom.EXCEPTION: SKIP, Symptom.KILLED: BAD, Symptom.TIMEOUT: SKIP}

    def test_a_script_that_does_not_end_shows_a_timeout(self):
        seen = ended(EndingKind.TIMED_OUT, Stage.SCRIPT)
        assert outcomes(SCRIPT, seen, None) == {Symptom.EXCEPTION: SKIP, Symptom.KILLED: SKIP, Symptom.TIMEOUT: BAD}
        assert reason(Symptom.TIMEOUT, SCRIPT, seen, None) == "not finished after 120 s"

    def test_a_bad_exit_code_stands_for_the_symptom_that_the_case_expects(self):
        found = outcomes(case(level=Level.SCRIPT, expects=Symptom.NONFINITE_METRIC), script(1), None)
        assert found == {Symptom.KILLED: SKIP, Symptom.TIMEOUT: SKIP, Symptom.NONFINITE_METRIC: BAD}

    @pytest.mark.parametrize("expects", [Symptom.KILLED, Symptom.TIMEOUT])
    def test_but_leaving_with_a_code_is_neither_being_killed_nor_hanging(self, expects):
        found = outcomes(case(level=Level.SCRIPT, expects=expects), script(1), None)
        assert found == {Symptom.EXCEPTION: BAD, Symptom.KILLED: SKIP, Symptom.TIMEOUT: SKIP}

    def test_the_last_line_that_it_printed_is_kept(self):
        seen = script(1, output="start\nValueError: " + "x" * 500 + "\n")
        assert reason(Symptom.EXCEPTION, SCRIPT, seen, None) == "exit code 1: ValueError: " + "x" * 188

    @pytest.mark.parametrize(
        ("kind", "stage", "why"),
        [
            (EndingKind.RAISED, Stage.SCRIPT, "the script could not be run: raised: no message"),
            (EndingKind.RAISED, Stage.IMPORT, "failed before the case could start: raised: no message (while: import)"),
            (EndingKind.EXITED, Stage.SCRIPT, "the script could not be run: exited: no message"),
            (EndingKind.REFUSED, Stage.SCRIPT, "the trial could not be run here"),
        ],
    )
    def test_what_left_no_exit_code_is_skip(self, kind, stage, why):
        found = judge(SCRIPT, ended(kind, stage), None)
        assert {(v.outcome, v.reason) for v in found.values()} == {(SKIP, why)}

    def test_a_script_that_finished_is_good(self):
        assert set(outcomes(SCRIPT, ended(EndingKind.FINISHED, Stage.SCRIPT), None).values()) == {GOOD}

    @given(st.integers(0, 127), SYMPTOMS)
    def test_up_to_127_the_code_alone_decides(self, code, expects):
        """0 is good, 125 is skip, all others are bad, whatever the case expects."""
        found = set(outcomes(case(level=Level.SCRIPT, expects=expects), script(code), None).values())
        assert (BAD in found) == (code not in (0, 125))
        assert (found == {GOOD}) == (code == 0)


def test_the_default_tolerance_is_one_in_a_thousand():
    assert case().tolerance == Tolerance(metric=DEFAULT_TOLERANCE, weights=DEFAULT_TOLERANCE)
    assert pytest.approx(1e-3) == DEFAULT_TOLERANCE


@pytest.mark.parametrize(
    ("number", "name"), [(11, "SIGSEGV"), (9, "SIGKILL"), (63, "signal 63"), (None, "signal None")]
)
def test_signals_have_names(number, name):
    assert signal_name(number) == name


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
