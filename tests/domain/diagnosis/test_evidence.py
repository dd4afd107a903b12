"""What a watched training showed, in words."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from harness.domain.diagnosis.evidence import (
    bad_samples,
    evidence,
    first_place,
    is_finite,
    lopsided,
    outcome,
    reach,
    runaway,
    share_place,
    stays_finite,
    went_wrong,
)
from harness.domain.trials.diagnosis_facts import ArrayFacts, BadVariable, DiagnosisFacts, ShareFacts
from harness.domain.trials.observation import EndingKind
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
    assert lopsided(replace(X, feature_largest=features)) is bool(told)


def test_a_table_of_one_feature_is_not_lopsided():
    assert not lopsided(X)
    assert not lopsided(replace(X, feature_largest=(1e9,)))


def test_samples_that_are_not_finite_are_counted():
    assert bad_samples(HOLES) == "y is not finite in 3 samples, first in number 5 (from 0)"
    assert bad_samples(replace(HOLES, bad_rows=2)) == "y is not finite in 2 samples, first in number 5 (from 0)"
    assert bad_samples(replace(HOLES, bad_rows=1)) == "y is not finite in 1 sample, first in number 5 (from 0)"


@pytest.mark.parametrize(
    ("share", "place"),
    [
        (FINE, "forward pass, loss and gradients are finite"),
        (replace(FINE, loss=None), "forward pass, loss and gradients are finite"),
        (replace(FINE, error="ValueError: no", layer="dense", operation="Log"), "raises ValueError: no"),
        (
            replace(FINE, layer="dense", layer_kind="Dense", layer_dtype="float16", operation="Log", line="my.py:3"),
            "forward pass, output of Dense dense (float16), in Log (my.py:3)",
        ),
        (replace(FINE, loss=math.nan, gradient="kernel", operation="Log"), "loss is nan, in Log"),
        (replace(FINE, gradient="kernel", line="my.py:3"), "gradient of kernel"),
        (
            replace(FINE, gradient="kernel", nan_operation="Mul", nan_line="my.py:3"),
            "gradient of kernel, NaN in Mul (my.py:3)",
        ),
        (
            replace(FINE, gradient="kernel", operation="Log", line="my.py:3", nan_operation="Mul", nan_line=""),
            "gradient of kernel, in Log (my.py:3), then NaN in Mul",
        ),
        (replace(FINE, error="ValueError: no", line="my.py:3"), "raises ValueError: no (my.py:3)"),
        (replace(FINE, rows=0, error="ValueError: no"), "no samples"),
        (replace(FINE, gradient="kernel", scaled_gradient="bias"), "gradient of kernel"),
        (
            replace(FINE, scaled_gradient="bias", operation="Log"),
            "gradient of bias with loss scaling, and without it is finite",
        ),
    ],
)
def test_the_first_wrong_place_of_a_share(share, place):
    assert share_place(share) == place
    assert went_wrong(share) is not place.endswith("gradients are finite")
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
        ({"first_loss": 1.0, "shares": (FINE, replace(FINE, loss=3e3))}, "the loss grew from 1 to 3e+03"),
        ({"first_loss": 1.0, "shares": (replace(FINE, loss=None), replace(FINE, loss=math.inf))}, ""),
        ({}, ""),
    ],
)
def test_what_grew_a_thousandfold_ran_away(facts, told):
    assert runaway(DiagnosisFacts(**facts)) == told


@pytest.mark.parametrize(
    ("control", "stays", "told"),
    [
        (observation(), True, "stays finite"),
        (observation(weights=None), True, "stays finite"),
        (observation({"loss": math.nan}), False, "not finite either, loss is nan or inf"),
        (observation(weights=weights(finite=False)), False, "weights are not finite either"),
        (observation(ending=ending(EndingKind.RAISED)), False, "raised, no message"),
        (observation(ending=ending(EndingKind.RAISED, message="a\nb")), False, "raised, a"),
    ],
)
def test_a_control_stays_finite_when_it_finishes_so(control, stays, told):
    assert stays_finite(control) is stays
    assert outcome(control) == told


def test_no_control_says_nothing():
    assert not stays_finite(None)


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
    assert list(evidence(facts, observation(), observation({"loss": math.nan}))) == [
        "data: x (float32, shape [8, 2]) reaches 1.25, finite",
        "data: y (float32, shape [8]) reaches 0, y is not finite in 3 samples, first in number 5 (from 0)",
        "in float32: stays finite",
        "on one replica: not finite either, loss is nan or inf",
        "replay of step 7, replica 1 (4 samples, input [4, 2]): forward pass, loss and gradients are finite",
        "after step 7 not finite: metric loss/total on replica 1",
        "after step 7 not finite: model kernel on replica 0",
        "weights at the end: not finite",
        "before step 7 the largest weight grew from 1 to 2e+03",
    ]


def test_where_nothing_was_found_little_is_said():
    assert list(evidence(DiagnosisFacts(), None, None)) == ["in float32: the model computes in float32 anyway"]
    assert list(evidence(DiagnosisFacts(compute_dtype="float16"), None, None)) == []
    raised = DiagnosisFacts(compute_dtype="float16", raised_in_step=9, not_replayed="fit shuffles")
    assert list(evidence(raised, None, None)) == ["replay of step 9: not possible, fit shuffles"]
