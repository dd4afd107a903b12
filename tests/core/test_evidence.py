"""What a watched training showed, in words."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from harness.core.diagnosis_facts import ArrayFacts, BadVariable, DiagnosisFacts, ShareFacts
from harness.core.evidence import (
    bad_samples,
    cured_by_float32,
    evidence,
    first_place,
    is_finite,
    reach,
    runaway,
    share_place,
    went_wrong,
)
from harness.core.observations import EndingKind
from tests.examples import ending, observation, weights

X = ArrayFacts(name="x", dtype="float32", shape=(8, 2), finite=True, largest=1.25)
HOLES = ArrayFacts(name="y", dtype="float32", shape=(8,), finite=False, bad_rows=3, first_bad_row=5)
FINE = ShareFacts(replica=1, rows=4, input_shape=(4, 2), loss=0.5)
BAD = BadVariable(role="metric", path="loss/total", replica=1, replicas=2)


def test_an_array_says_how_far_it_reaches():
    assert reach(X) == "x (float32, shape [8, 2]) reaches 1.25"
    assert reach(replace(X, largest=12345.678)) == "x (float32, shape [8, 2]) reaches 1.235e+04"


@pytest.mark.parametrize(
    ("features", "told"),
    [
        ((1.0, 1000.0), ""),
        ((1.0, 1001.0), " in feature 1, 1e+03 times the next"),
        ((2.0, 8000.0, 1.0), " in feature 1, 4e+03 times the next"),
        ((4e4, 2.0, 2.0), " in feature 0, 2e+04 times the next"),
        ((0.0, 1.0), " in feature 1, 1e+30 times the next"),
        ((0.0, 0.0), ""),
    ],
)
def test_a_feature_that_is_a_thousand_times_larger_than_the_next_is_named(features, told):
    assert reach(replace(X, feature_largest=features)) == f"{reach(X)}{told}"


def test_samples_that_are_not_finite_are_counted():
    assert bad_samples(HOLES) == "y has 3 samples that are not finite, the first is number 5"


@pytest.mark.parametrize(
    ("share", "place"),
    [
        (FINE, "forward pass, loss and gradients are finite"),
        (replace(FINE, loss=None), "forward pass, loss and gradients are finite"),
        (replace(FINE, error="ValueError: no", layer="dense", operation="Log"), "raises ValueError: no"),
        (
            replace(FINE, layer="dense", layer_kind="Dense", layer_dtype="float16", operation="Log", line="my.py:3"),
            "forward pass, output of Dense dense (float16) in operation Log (my.py:3)",
        ),
        (replace(FINE, loss=math.nan, gradient="kernel", operation="Log"), "loss is nan in operation Log"),
        (replace(FINE, gradient="kernel", line="my.py:3"), "gradient of kernel (my.py:3)"),
        (replace(FINE, gradient="kernel", scaled_gradient="bias"), "gradient of kernel"),
        (replace(FINE, scaled_gradient="bias", operation="Log"), "scaled gradient of bias"),
    ],
)
def test_the_first_wrong_place_of_a_share(share, place):
    assert share_place(share) == place
    assert went_wrong(share) is not place.endswith("are finite")
    facts = DiagnosisFacts(bad=(BAD,))
    assert first_place(facts, share) == f"replica 1, {place}"


def test_without_a_replay_the_first_variable_is_the_place():
    other = replace(BAD, path="accuracy")
    assert first_place(DiagnosisFacts(bad=(BAD, other)), None) == "metric loss/total on replica 1"
    assert first_place(DiagnosisFacts(), None) == "unknown"


@pytest.mark.parametrize(("loss", "finite"), [(None, True), (1.0, True), (math.nan, False), (math.inf, False)])
def test_a_loss_that_was_never_reached_is_not_wrong(loss, finite):
    assert is_finite(loss) is finite


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({"initial_weight": 1.0, "weight_before": 1000.0}, ""),
        ({"initial_weight": 1.0, "weight_before": 1001.0}, "the largest weight grew from 1 to 1e+03"),
        ({"initial_weight": 0.5, "weight_before": -5000.0}, "the largest weight grew from 0.5 to -5e+03"),
        ({"first_loss": 2.0, "last_loss": 2e6}, "the loss grew from 2 to 2e+06"),
        ({"first_loss": -2.0, "last_loss": 2000.0}, ""),
        ({"first_loss": 1e-9, "last_loss": 1e-4}, ""),
        ({"first_loss": 1e-9, "last_loss": 2e-3}, "the loss grew from 1e-09 to 0.002"),
        (
            {"initial_weight": 1.0, "weight_before": 2.0, "first_loss": 1.0, "last_loss": 3e3},
            "the loss grew from 1 to 3e+03",
        ),
        ({"initial_weight": 1.0, "last_loss": 3e3}, ""),
        ({}, ""),
    ],
)
def test_what_grew_a_thousandfold_ran_away(facts, told):
    assert runaway(DiagnosisFacts(**facts)) == told


@pytest.mark.parametrize(
    ("baseline", "cured"),
    [
        (None, False),
        (observation(), True),
        (observation(weights=None), True),
        (observation({"loss": math.nan}), False),
        (observation(weights=weights(finite=False)), False),
        (observation(ending=ending(EndingKind.RAISED)), False),
    ],
)
def test_float32_cures_what_finishes_there_and_stays_finite(baseline, cured):
    assert cured_by_float32(baseline) is cured


def test_everything_that_was_looked_at_stands_on_a_line_of_its_own():
    facts = DiagnosisFacts(
        arrays=(X, HOLES),
        step=7,
        bad=(BAD, replace(BAD, role="model", path="kernel", replica=0)),
        weights_finite=False,
        initial_weight=1.0,
        weight_before=2e3,
        shares=(FINE,),
    )
    assert list(evidence(facts, observation())) == [
        "data: x (float32, shape [8, 2]) reaches 1.25, finite",
        "data: y (float32, shape [8]) reaches 0, y has 3 samples that are not finite, the first is number 5",
        "float32 baseline: stays finite",
        "replay of replica 1 (4 samples, input [4, 2]): forward pass, loss and gradients are finite",
        "after step 7 not finite: metric loss/total on replica 1",
        "after step 7 not finite: model kernel on replica 0",
        "weights at the end: not finite",
        "before the bad step the largest weight grew from 1 to 2e+03",
    ]
    assert list(evidence(DiagnosisFacts(), None)) == [
        "float32 baseline: the model computes in float32 anyway",
        "weights at the end: finite",
    ]
    assert next(evidence(DiagnosisFacts(), observation({"loss": math.inf}))) == "float32 baseline: fails too"
