"""The boundary of a training that goes wrong: the table at the head of the module, row by row."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from harness.core.diagnosis import Boundary, diagnose, disturbance
from harness.core.diagnosis_facts import ArrayFacts, BadVariable, DiagnosisFacts, ShareFacts
from harness.core.evidence import evidence
from harness.core.observations import EndingKind, Observation, Stage
from tests.examples import ending, observation

X = ArrayFacts(name="x", dtype="float64", shape=(8, 2), finite=True, largest=1.25)
HOLES = ArrayFacts(name="y", dtype="float32", shape=(8,), finite=False, bad_rows=3, first_bad_row=5)
FINE = ShareFacts(replica=0, rows=4, loss=0.5)
WEIGHT = BadVariable(role="model", path="dense/kernel", replica=1, replicas=2)
METRIC = BadVariable(
    role="metric", path="mae/total", replica=1, replicas=2, aggregation="SUM", synchronization="ON_WRITE"
)
STAYS, FAILS = observation(), observation({"loss": math.nan})


def told(facts: DiagnosisFacts, baseline: Observation | None = None, **changes: Any) -> tuple[Boundary, str, str]:
    watched = observation(diagnosis=facts, **changes)
    found = diagnose(watched, watched, baseline)
    assert found.evidence == tuple(evidence(facts, baseline))
    assert found.disturbance == ""
    return found.boundary, found.sentence, found.next_change


def wrong(baseline: Observation | None = None, **share: Any) -> tuple[Boundary, str, str]:
    """Step 7 is bad, and its second replica shows this when it is replayed."""
    second = replace(FINE, replica=1, **share)
    return told(DiagnosisFacts(step=7, bad=(WEIGHT,), shares=(FINE, second)), baseline)


class TestData:
    def test_samples_that_are_not_finite_come_before_everything(self):
        facts = DiagnosisFacts(arrays=(replace(X, largest=1e39), HOLES), step=7, bad=(METRIC,))
        assert told(facts) == (
            Boundary.DATA,
            "y has 3 samples that are not finite, the first is number 5",
            "drop or repair these samples, then run again",
        )

    def test_values_that_the_compute_type_does_not_hold(self):
        half = DiagnosisFacts(compute_dtype="float16", compute_max=65504.0, step=7, bad=(METRIC,))
        assert told(replace(half, arrays=(X, replace(X, largest=7e4)))) == (
            Boundary.DATA,
            "x (float64, shape [8, 2]) reaches 7e+04 does not fit float16 (largest 65504)",
            "normalise this feature (with a floor on the standard deviation), or keep the input in float32",
        )
        assert told(replace(half, arrays=(replace(X, largest=65504.0),)))[0] is Boundary.METRIC_STATE

    def test_a_replica_without_samples(self):
        facts = DiagnosisFacts(raised_in_step=4, shares=(FINE, replace(FINE, replica=1, rows=0)))
        raised = ending(EndingKind.RAISED, Stage.TRAIN, exception="ValueError", message="empty\nand more")
        assert told(facts, ending=raised) == (
            Boundary.DATA,
            "the batch of step 4 leaves replica 1 without samples; ValueError: empty",
            "drop the last incomplete batch, or choose a batch size that divides the number of samples",
        )


class TestRaisedAndNothing:
    @pytest.mark.parametrize(("message", "shown"), [("no\nb", "no"), (None, "no message")])
    def test_what_raises_is_named(self, message, shown):
        raised = ending(EndingKind.RAISED, Stage.TRAIN, exception="ValueError", message=message)
        assert told(DiagnosisFacts(step=7, shares=(replace(FINE, rows=1),)), ending=raised) == (
            Boundary.COMPUTE,
            f"ValueError: {shown} (while: train)",
            "mend what the message names",
        )

    def test_nothing_was_found(self):
        expected = (
            Boundary.NONE,
            "nothing became non-finite in this training",
            "look at another release or more steps",
        )
        assert told(DiagnosisFacts(arrays=(X,))) == expected
        unwatched = diagnose(observation(), observation(), None)
        assert (unwatched.boundary, unwatched.sentence, unwatched.next_change) == expected


class TestMetricState:
    CURE = "verify the fix: harness verify-fix CASE --fix metrics-on-read, or take a release in which it is cured"

    def test_the_signature_of_the_aggregation_regression(self):
        log = BadVariable(role="log", path="loss", replica=0, replicas=2)
        assert told(DiagnosisFacts(step=7, bad=(log, METRIC), shares=(FINE,), first_loss=1.0, last_loss=1e9)) == (
            Boundary.METRIC_STATE,
            (
                "step 7, replica 1: mae/total (aggregation SUM, synchronization ON_WRITE) is not finite while weights, "
                "forward pass, loss and gradients are: the signature of the aggregation regression, each write sums the "
                "whole state over the replicas"
            ),
            self.CURE,
        )

    @pytest.mark.parametrize(
        ("changes", "how"),
        [
            ({"synchronization": "ON_READ"}, " (aggregation SUM, synchronization ON_READ)"),
            ({"aggregation": "MEAN"}, " (aggregation MEAN, synchronization ON_WRITE)"),
            ({"aggregation": None}, ""),
        ],
    )
    def test_another_state_is_told_without_that_signature(self, changes, how):
        boundary, sentence, change = told(DiagnosisFacts(step=7, bad=(replace(METRIC, **changes),)))
        assert (boundary, change) == (Boundary.METRIC_STATE, self.CURE)
        assert sentence == (
            f"step 7, replica 1: mae/total{how} is not finite while weights, forward pass, loss and gradients are"
        )

    def test_a_log_alone_stands_for_the_state(self):
        log = BadVariable(role="log", path="loss", replica=0, replicas=2)
        assert told(DiagnosisFacts(step=7, bad=(log,)))[1].startswith("step 7, replica 0: loss is not finite while")

    def test_weights_that_are_not_finite_in_the_end_are_no_matter_of_metrics(self):
        assert told(DiagnosisFacts(step=7, bad=(METRIC,), weights_finite=False))[0] is Boundary.OPTIMISATION


class TestOptimisation:
    RUN = DiagnosisFacts(step=7, bad=(WEIGHT,), initial_weight=1.0, weight_before=2e3)
    DIVERGES = (
        Boundary.OPTIMISATION,
        (
            "before step 7 the largest weight grew from 1 to 2e+03: the training diverges; "
            "first non-finite: model dense/kernel on replica 1"
        ),
        "divide the learning rate by ten (or by the number of replicas), or clip the gradient's norm",
    )

    @pytest.mark.parametrize("baseline", [None, FAILS])
    def test_what_ran_away_diverges(self, baseline):
        assert told(self.RUN, baseline) == self.DIVERGES

    def test_the_first_place_is_that_of_the_replay(self):
        shares = (FINE, replace(FINE, replica=1, gradient="kernel"))
        assert told(replace(self.RUN, shares=shares))[1].endswith("first non-finite: replica 1, gradient of kernel")

    def test_unless_float32_stays_finite(self):
        assert told(self.RUN, STAYS)[1].startswith("step 7: forward pass, loss and gradients are finite")

    @pytest.mark.parametrize(
        ("bad", "name"),
        [
            ((METRIC, WEIGHT), "dense/kernel on replica 1"),
            ((replace(WEIGHT, role="optimizer", path="adam/m"), WEIGHT), "adam/m on replica 1"),
            ((replace(WEIGHT, role="other"),), "the state"),
        ],
    )
    def test_an_update_that_does_it(self, bad, name):
        assert told(DiagnosisFacts(step=7, bad=bad, shares=(FINE,))) == (
            Boundary.OPTIMISATION,
            f"step 7: forward pass, loss and gradients are finite, yet {name} is not after the update",
            "try plain SGD without scaling or clipping, to see which part of the update does it",
        )

    @pytest.mark.parametrize("baseline", [None, STAYS])
    def test_loss_scaling(self, baseline):
        assert wrong(baseline, scaled_gradient="kernel") == (
            Boundary.OPTIMISATION,
            "step 7, replica 1: scaled gradient of kernel: finite without loss scaling, not finite with it",
            "lower the loss scale, or let LossScaleOptimizer find it",
        )


class TestCompute:
    @pytest.mark.parametrize(
        ("operation", "change"),
        [
            ("Log", "add an epsilon inside the logarithm"),
            ("RealDiv", "add an epsilon to the denominator"),
            ("DivNoNan", "add an epsilon to the denominator"),
            ("Sqrt", "put a floor under the root"),
            ("SqrtGrad", "put a floor under the root: its slope at 0 is infinite"),
            ("Rsqrt", "put a floor under the root"),
            ("MatMul", "look at the inputs of this operation"),
        ],
    )
    def test_each_operation_has_its_change(self, operation, change):
        assert wrong(gradient="kernel", operation=operation) == (
            Boundary.COMPUTE,
            f"step 7, replica 1: gradient of kernel in operation {operation}",
            change,
        )

    @pytest.mark.parametrize(
        ("share", "place"),
        [
            ({"loss": math.nan}, "loss is nan"),
            ({"gradient": "kernel"}, "gradient of kernel"),
            ({"gradient": "kernel", "scaled_gradient": "kernel"}, "gradient of kernel"),
            ({"loss": math.nan, "scaled_gradient": "kernel"}, "loss is nan"),
            (
                {"layer": "d", "layer_kind": "Dense", "layer_dtype": "float16", "scaled_gradient": "kernel"},
                "forward pass, output of Dense d (float16)",
            ),
            ({"error": "ValueError: no"}, "raises ValueError: no"),
        ],
    )
    def test_the_first_wrong_place_is_named(self, share, place):
        assert wrong(**share) == (
            Boundary.COMPUTE,
            f"step 7, replica 1: {place}",
            "look at the inputs of this operation",
        )

    @pytest.mark.parametrize(("layer", "what"), [(None, "the loss"), ("dense", "dense")])
    def test_what_stays_finite_in_float32_is_a_matter_of_range(self, layer, what):
        share = replace(FINE, layer=layer, layer_kind="Dense", layer_dtype="float16", loss=math.nan)
        facts = DiagnosisFacts(
            step=7, bad=(WEIGHT,), shares=(share,), compute_dtype="float16", initial_weight=1.0, weight_before=1e4
        )
        boundary, sentence, change = told(facts, STAYS)
        assert boundary is Boundary.COMPUTE
        assert sentence.startswith("step 7, replica 0: ")
        assert sentence.endswith("; in float32 the same training stays finite, so the range of float16 decides")
        assert change == f"compute {what} in float32 and leave the rest as it is"


class TestDisturbance:
    @pytest.mark.parametrize(
        ("watched", "plain", "expected"),
        [
            (observation({"loss": 1.0}), observation({"loss": 1.0}), ""),
            (observation({"loss": math.nan}), observation({"loss": math.nan}), ""),
            (observation({"loss": 1.0}), observation({"loss": 2.0}), "loss: 2.0 unwatched, 1.0 watched"),
            (observation({"loss": math.nan}), observation({"loss": 2.0}), "loss: 2.0 unwatched, nan watched"),
            (
                observation({"a": 1.0, "b": 1.0}),
                observation({"b": 2.0}),
                "b: 2.0 unwatched, 1.0 watched; a: None unwatched, 1.0 watched",
            ),
            (
                observation(dict.fromkeys("abcd", 1.0)),
                observation(dict.fromkeys("abcd", 2.0)),
                "; ".join(f"{name}: 2.0 unwatched, 1.0 watched" for name in "abc"),
            ),
            (
                observation(ending=ending(EndingKind.RAISED)),
                observation({"loss": 2.0}),
                "unwatched the trial finished, watched it raised",
            ),
        ],
    )
    def test_watching_may_change_the_numbers(self, watched, plain, expected):
        assert disturbance(watched, plain) == expected
        assert diagnose(watched, plain, None).disturbance == expected
