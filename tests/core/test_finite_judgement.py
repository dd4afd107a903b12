"""What is not finite is bad, and hides whether it would have been wrong."""

from __future__ import annotations

import math

import pytest

from harness.core.observations import NonFinite
from harness.core.symptoms import Symptom
from tests.core.judging import BAD, GOOD, MODEL, SKIP, outcomes, reason
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

    def test_weights_that_were_not_recorded_are_skip(self):
        assert outcomes(MODEL, observation(weights=None))[Symptom.NONFINITE_WEIGHTS] is SKIP
