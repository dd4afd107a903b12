"""What is not finite is bad and hides what would have been wrong; what cannot be compared is never called right."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from harness.domain.cases.case import Tolerance
from harness.domain.cases.symptoms import Symptom
from harness.domain.trials.observation import EndingKind, NonFinite
from harness.domain.verdicts.judgement import judge
from harness.domain.verdicts.model_rules import nonfinite_metric, nonfinite_weights, wrong_metric, wrong_weights
from harness.domain.verdicts.reasons import recorded
from harness.domain.verdicts.verdict import GOOD as VERDICT_GOOD
from harness.domain.verdicts.verdict import bad, skip
from tests.domain.verdicts.judging import BAD, GOOD, MODEL, REFERENCE, SKIP, UNASKED, ended, outcomes, reason, said
from tests.examples import case, observation, weights


def seen_again(seen):
    """The same facts from another trial."""
    return replace(seen)


class TestNonFinite:
    def test_a_nan_metric_is_bad_and_hides_whether_it_would_have_been_wrong(self):
        seen = observation({"loss": math.nan}, first_nonfinite_metric=NonFinite(name="loss", step=125, value=math.nan))
        assert outcomes(MODEL, seen) == {
            **dict.fromkeys(UNASKED, GOOD),
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

    def test_a_failure_is_known_by_the_first_name_and_not_by_the_step(self):
        first = NonFinite(name="mae", step=7, value=math.inf)
        seen = observation({"loss": math.nan}, first_nonfinite_metric=first)
        assert said(nonfinite_metric(seen, seen)) == bad(
            recorded("loss is nan, first at step 7 (mae = inf)"), "nonfinite-metric | mae"
        )
        assert said(nonfinite_metric(observation({"a": 1.0, "loss": math.nan, "b": math.inf}), None)) == bad(
            recorded("loss is nan, b is inf"), "nonfinite-metric | loss"
        )
        kernel = observation(weights=weights(finite=False), first_nonfinite_weight=replace(first, name="kernel"))
        assert said(nonfinite_weights(kernel)) == bad(
            recorded("first at step 7 (kernel)"), "nonfinite-weights | kernel"
        )
        assert said(nonfinite_weights(observation(weights=weights(finite=False)))) == bad(
            recorded("weights are not finite after training"), "nonfinite-weights"
        )

    def test_of_the_reference_the_first_name_is_told(self):
        seen, reference = observation({"loss": math.nan}), observation({"a": 1.0, "b": math.inf, "loss": math.nan})
        assert str(nonfinite_metric(seen, reference).reason) == ("loss is nan, on one replica b is not finite either")
        assert str(nonfinite_metric(seen, observation()).reason) == "loss is nan"

    def test_what_was_not_recorded_is_said(self):
        assert said(nonfinite_metric(observation({}), None)) == skip(recorded("no metric was recorded"))
        assert said(nonfinite_weights(observation(weights=None))) == skip(recorded("weights were not recorded"))
        assert said(nonfinite_weights(observation(weights=weights(count=0, finite=False)))) == skip(
            recorded("the model has no weights")
        )
        assert nonfinite_weights(observation(weights=weights(count=1))) == VERDICT_GOOD

    def test_weights_that_were_not_recorded_are_skip(self):
        assert outcomes(MODEL, observation(weights=None))[Symptom.NONFINITE_WEIGHTS] is SKIP


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
        assert str(found[Symptom.WRONG_METRIC].reason) == "there is no reference on one replica"
        assert str(found[Symptom.WRONG_WEIGHTS].reason) == "there is no reference on one replica"

    def test_a_reference_that_did_not_finish_is_named_with_its_error(self):
        reference = ended(EndingKind.RAISED, exception="ValueError", message="boom")
        told = reason(Symptom.WRONG_METRIC, MODEL, observation(), reference)
        assert told == "the reference on one replica did not finish: ValueError: boom"

    def test_a_case_that_compares_nothing_has_no_such_symptom(self):
        found = judge(case(tolerance=Tolerance(metric=None, weights=None)), observation(), REFERENCE)
        assert set(found) == set(UNASKED) - {Symptom.WRONG_METRIC, Symptom.WRONG_WEIGHTS}

    def test_at_most_three_wrong_metrics_are_shown_and_one_signature_stands_for_all(self):
        seen, reference = observation({f"m{n}": 2.0 for n in range(4)}), observation({f"m{n}": 1 / 3 for n in range(4)})
        assert said(judge(MODEL, seen, reference)[Symptom.WRONG_METRIC]) == bad(
            recorded(
                "m0 is 2, reference 0.333333, m1 is 2, reference 0.333333, m2 is 2, reference 0.333333 (tolerance 0.001)"
            ),
            "wrong-metric",
        )

    def test_only_wrong_metrics_are_shown(self):
        seen, reference = observation({"a": 1.0, "b": 2.0}), observation({"a": 1.0, "b": 1.0})
        assert reason(Symptom.WRONG_METRIC, MODEL, seen, reference) == "b is 2, reference 1 (tolerance 0.001)"

    def test_each_symptom_is_held_against_its_own_tolerance(self):
        about = case(tolerance=Tolerance(metric=0.5, weights=0.01))
        seen = observation({"loss": 0.12}, weights=weights(values={"kernel": (0.6,), "bias": (0.25,)}))
        found = judge(about, seen, REFERENCE)
        assert found[Symptom.WRONG_METRIC] == VERDICT_GOOD
        assert said(found[Symptom.WRONG_WEIGHTS]) == bad(
            recorded("kernel is 0.6, reference 0.5 (tolerance 0.01)"), "wrong-weights"
        )
        only_metric = judge(case(tolerance=Tolerance(metric=0.1, weights=None)), seen, REFERENCE)
        assert Symptom.WRONG_WEIGHTS not in only_metric
        assert only_metric[Symptom.WRONG_METRIC].outcome is BAD
        only_weights = judge(case(tolerance=Tolerance(metric=None, weights=0.5)), seen, REFERENCE)
        assert Symptom.WRONG_METRIC not in only_weights
        assert only_weights[Symptom.WRONG_WEIGHTS] == VERDICT_GOOD

    def test_a_judge_that_is_asked_for_nothing_compares_nothing(self):
        nothing = case(tolerance=Tolerance(metric=None, weights=None))
        assert said(wrong_metric(nothing, observation(), REFERENCE)) == skip(recorded("not compared"))
        assert said(wrong_weights(nothing, observation(), REFERENCE)) == skip(recorded("not compared"))


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
        drifted = observation(weights=weights(norms={}, replica_spread=0.0011))
        assert outcomes(MODEL, drifted)[Symptom.WRONG_WEIGHTS] is BAD
        within = observation(weights=weights(norms={}, replica_spread=0.0009))
        assert reason(Symptom.WRONG_WEIGHTS, MODEL, within) == "the two trials do not have the same variables"

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
        assert {str(found[s].reason) for s in (Symptom.WRONG_METRIC, Symptom.WRONG_WEIGHTS)} == {
            "the two trials did not train on the same data"
        }

    def test_a_trial_is_not_its_own_reference(self):
        seen = observation()
        found = judge(MODEL, seen, seen)
        assert {str(found[s].reason) for s in (Symptom.WRONG_METRIC, Symptom.WRONG_WEIGHTS)} == {
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

    def test_copies_apart_have_a_signature_of_their_own(self):
        drifted = observation(weights=weights(spreads={"kernel": 0.0, "bias": 0.01}))
        assert said(judge(MODEL, drifted, REFERENCE)[Symptom.WRONG_WEIGHTS]) == bad(
            recorded("copies of bias differ between replicas by 0.01"), "wrong-weights | replicas differ"
        )

    @pytest.mark.parametrize(
        ("spread", "expected"), [(0.00025, GOOD), (0.00025 + 0.9e-7, GOOD), (0.00025 + 1.1e-7, BAD)]
    )
    def test_copies_may_differ_by_the_tolerance_of_their_own_size_and_by_rounding(self, spread, expected):
        """The bias has the norm 0.25, so a tolerance of 1e-3 allows 0.00025, and 1e-7 for float32 near 0."""
        seen = observation(weights=weights(spreads={"bias": spread}))
        assert outcomes(MODEL, seen)[Symptom.WRONG_WEIGHTS] is expected

    @pytest.mark.parametrize(("spread", "expected"), [(1e-7, GOOD), (1.1e-7, BAD)])
    def test_copies_of_a_variable_without_a_norm_may_differ_by_rounding_alone(self, spread, expected):
        seen = observation(weights=weights(spreads={"seed": spread}))
        assert outcomes(MODEL, seen)[Symptom.WRONG_WEIGHTS] is expected

    @pytest.mark.parametrize(("spread", "expected"), [(0.002, GOOD), (0.0021, BAD)])
    def test_copies_that_are_not_told_apart_are_held_against_the_largest_variable(self, spread, expected):
        about = {"values": None, "norms": {"kernel": 2.0, "bias": 0.25}}
        seen, reference = (
            observation(weights=weights(**about, replica_spread=spread)),
            observation(weights=weights(**about)),
        )
        assert outcomes(MODEL, seen, reference)[Symptom.WRONG_WEIGHTS] is expected

    def test_the_spread_of_each_variable_counts_where_it_is_known(self):
        seen = observation(weights=weights(spreads={"bias": 1e-8}, replica_spread=9.0))
        assert outcomes(MODEL, seen)[Symptom.WRONG_WEIGHTS] is GOOD

    @pytest.mark.parametrize(
        ("moved", "expected"),
        [
            ({}, GOOD),
            ({"kernel": 0.0005 + 0.9e-7}, SKIP),
            ({"kernel": 0.0005 + 1.1e-7}, GOOD),
            ({"seed": 1e-7}, SKIP),
            ({"seed": 1.1e-7}, GOOD),
        ],
    )
    def test_a_weight_has_moved_when_it_moved_by_more_than_the_tolerance(self, moved, expected):
        found = judge(MODEL, observation(), observation(weights=weights(moved=moved)))[Symptom.WRONG_WEIGHTS]
        assert found.outcome is expected
        assert str(found.reason) == ("training moved no weight by more than the tolerance" if expected is SKIP else "")

    def test_numbers_are_shown_with_six_digits(self):
        seen = observation(weights=weights(values={"kernel": (1 / 3,), "bias": (2 / 3,)}))
        assert said(judge(MODEL, seen, REFERENCE)[Symptom.WRONG_WEIGHTS]) == bad(
            recorded("kernel is 0.333333, reference 0.5 and 1 more (tolerance 0.001)"), "wrong-weights"
        )

    @pytest.mark.parametrize(("own", "theirs", "same"), [("a", "a", True), ("a", "", True), ("", "a", True)])
    def test_data_that_is_not_known_on_both_sides_is_no_other_data(self, own, theirs, same):
        found = outcomes(MODEL, observation(data_digest=own), observation(data_digest=theirs))
        assert (found[Symptom.WRONG_METRIC] is GOOD) is same

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
