"""What differs from the reference is wrong; what cannot be compared is never called right."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from harness.core.cases import Tolerance
from harness.core.judgement import judge
from harness.core.observations import EndingKind
from harness.core.symptoms import Symptom
from tests.core.judging import BAD, GOOD, MODEL, REFERENCE, SKIP, ended, outcomes, reason
from tests.examples import case, observation, weights


def seen_again(seen):
    """The same facts from another trial."""
    return replace(seen)


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
