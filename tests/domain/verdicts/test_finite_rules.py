"""What is not finite is bad, and hides whether it would have been wrong."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from harness.domain.cases.symptoms import Symptom
from harness.domain.trials.observation import NonFinite
from harness.domain.verdicts.finite_rules import nonfinite_metric, nonfinite_weights
from harness.domain.verdicts.verdict import GOOD as VERDICT_GOOD
from harness.domain.verdicts.verdict import bad, skip
from tests.domain.verdicts.judging import BAD, GOOD, MODEL, SKIP, outcomes, reason
from tests.examples import observation, weights


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

    def test_a_failure_is_known_by_the_first_name_and_not_by_the_step(self):
        first = NonFinite(name="mae", step=7, value=math.inf)
        seen = observation({"loss": math.nan}, first_nonfinite_metric=first)
        assert nonfinite_metric(seen, seen) == bad("loss is nan, first at step 7 (mae = inf)", "nonfinite-metric | mae")
        assert nonfinite_metric(observation({"a": 1.0, "loss": math.nan, "b": math.inf}), None) == bad(
            "loss is nan, b is inf", "nonfinite-metric | loss"
        )
        kernel = observation(weights=weights(finite=False), first_nonfinite_weight=replace(first, name="kernel"))
        assert nonfinite_weights(kernel) == bad("first at step 7 (kernel)", "nonfinite-weights | kernel")
        assert nonfinite_weights(observation(weights=weights(finite=False))) == bad(
            "weights are not finite after training", "nonfinite-weights"
        )

    def test_of_the_reference_the_first_name_is_told(self):
        seen, reference = observation({"loss": math.nan}), observation({"a": 1.0, "b": math.inf, "loss": math.nan})
        assert nonfinite_metric(seen, reference).reason == ("loss is nan, on one replica b is not finite either")
        assert nonfinite_metric(seen, observation()).reason == "loss is nan"

    def test_what_was_not_recorded_is_said(self):
        assert nonfinite_metric(observation({}), None) == skip("no metric was recorded")
        assert nonfinite_weights(observation(weights=None)) == skip("weights were not recorded")
        assert nonfinite_weights(observation(weights=weights(count=0, finite=False))) == skip(
            "the model has no weights"
        )
        assert nonfinite_weights(observation(weights=weights(count=1))) == VERDICT_GOOD

    def test_weights_that_were_not_recorded_are_skip(self):
        assert outcomes(MODEL, observation(weights=None))[Symptom.NONFINITE_WEIGHTS] is SKIP
