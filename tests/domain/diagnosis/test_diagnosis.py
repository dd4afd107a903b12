"""From what a watched trial saw to the boundary that is named."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from harness.domain.cases.symptoms import Symptom
from harness.domain.diagnosis.diagnosis import Boundary, Controls, Diagnosis, diagnose, disturbance
from harness.domain.trials.diagnosis_facts import ArrayFacts, BadVariable, DiagnosisFacts, ShareFacts
from harness.domain.trials.observation import Ending, EndingKind, Observation, Stage, WeightFacts
from harness.domain.verdicts.reasons import recorded
from harness.domain.verdicts.verdict import bad
from tests.examples import ending, observation

NAN = float("nan")
FINISHED = Ending(kind=EndingKind.FINISHED, stage=Stage.EVALUATE)
X = ArrayFacts(name="x", dtype="float32", shape=(64, 8), finite=True, largest=3.0)
FINE = ShareFacts(replica=0, rows=4, input_shape=(4, 8), loss=1.0)
LOSS = BadVariable(role="log", path="loss", replica=0, replicas=1)
KERNEL = BadVariable(role="model", path="dense/kernel", replica=0, replicas=2)
TOTAL = BadVariable(
    role="metric", path="loss/total", replica=0, replicas=2, aggregation="SUM", synchronization="ON_WRITE"
)
FACTS = DiagnosisFacts(
    arrays=(X,),
    optimizer="SGD",
    steps=20,
    step=7,
    bad=(KERNEL, LOSS),
    weights_finite=False,
    initial_weight=0.5,
    weight_before=0.6,
    first_loss=2.0,
    last_loss=1.0,
    shares=(FINE, replace(FINE, replica=1)),
)


def wrong(**facts: object) -> tuple[ShareFacts, ...]:
    """The second replica's share went wrong."""
    return (FINE, replace(FINE, replica=1, **facts))  # type: ignore[arg-type]


def told(facts: DiagnosisFacts, controls: Controls | None = None, **of: object) -> Diagnosis:
    watched = Observation(ending=FINISHED, diagnosis=facts)
    return diagnose(replace(watched, **of), controls or Controls())  # type: ignore[arg-type]


def control(loss: float = 1.0) -> Observation:
    weights = WeightFacts(count=1, finite=True, initial_digest="a")
    return Observation(ending=FINISHED, final={"loss": loss}, weights=weights)


ROWS = {
    "NaN in the data": (
        replace(FACTS, arrays=(replace(X, finite=False, bad_rows=1, first_bad_row=20),), shares=wrong(loss=NAN)),
        Boundary.DATA,
        "x is not finite in 1 sample, first in number 20 (from 0); first seen in step 7: replica 1, loss is nan",
    ),
    "larger than float16": (
        replace(FACTS, arrays=(replace(X, largest=1e6),), compute_dtype="float16", compute_max=65504.0),
        Boundary.DATA,
        "reaches 1e+06 and does not fit float16 (largest 65504)",
    ),
    "a target larger than float16 is not cast": (
        replace(FACTS, arrays=(replace(X, name="y", largest=1e6),), compute_dtype="float16", compute_max=65504.0),
        Boundary.OPTIMISATION,
        "forward pass, loss and gradients are finite, yet dense/kernel on replica 0 is not after the update",
    ),
    "token numbers are not cast": (
        replace(FACTS, arrays=(replace(X, dtype="int32", largest=1e6),), compute_dtype="float16", compute_max=65504.0),
        Boundary.OPTIMISATION,
        "dense/kernel",
    ),
    "a wrong unit in float32": (
        replace(FACTS, arrays=(replace(X, largest=1e6, feature_largest=(1e6, 3.0, 1.0)),), last_loss=1e12),
        Boundary.DATA,
        "reaches 1e+06 in feature 0, 3e+05 times the next; before step 7 the loss grew from 2 to 1e+12",
    ),
    "the loss runs away": (
        replace(FACTS, last_loss=1e5, shares=wrong(gradient="dense/kernel", operation="MatMul")),
        Boundary.OPTIMISATION,
        "before step 7 the loss grew from 2 to 1e+05: the training diverges",
    ),
    "it runs away within the bad step": (
        replace(FACTS, shares=(replace(FINE, loss=1e6), replace(FINE, replica=1, loss=NAN))),
        Boundary.OPTIMISATION,
        "the loss grew from 2 to 1e+06",
    ),
    "a layer": (
        replace(
            FACTS,
            shares=wrong(
                layer="attention",
                layer_kind="Attention",
                layer_dtype="float16",
                operation="AddV2",
                line="line 8: x + y",
                nan_operation="Softmax",
                nan_line="line 9: softmax(x)",
            ),
        ),
        Boundary.COMPUTE,
        "output of Attention attention (float16), in AddV2 (line 8: x + y), then NaN in Softmax (line 9: softmax(x))",
    ),
    "the loss": (
        replace(FACTS, shares=wrong(loss=NAN, operation="Log", line="line 8: log(x)")),
        Boundary.COMPUTE,
        "step 7, replica 1: loss is nan, in Log (line 8: log(x))",
    ),
    "a gradient": (
        replace(FACTS, shares=wrong(gradient="dense/kernel", operation="SqrtGrad")),
        Boundary.COMPUTE,
        "step 7, replica 1: gradient of dense/kernel, in SqrtGrad",
    ),
    "a gradient with loss scaling only": (
        replace(FACTS, shares=wrong(scaled_gradient="dense/kernel")),
        Boundary.OPTIMISATION,
        "gradient of dense/kernel with loss scaling, and without it is finite",
    ),
    "loss scaling that asks the first replica": (
        replace(FACTS, optimizer="LossScaleOptimizer", loss_scale=32768.0, shares=wrong(scaled_gradient="a/kernel")),
        Boundary.OPTIMISATION,
        "asks the first replica only, whose gradients are finite, and applies the step. The scale is 32768.",
    ),
    "gradients that keep the scale": (
        replace(FACTS, optimizer="LossScaleOptimizer", scaling="not unscaled", loss_scale=256.0),
        Boundary.OPTIMISATION,
        "never divided by the scale (256)",
    ),
    "a step that forgets the scale": (
        replace(FACTS, optimizer="LossScaleOptimizer", step=None, bad=(), shares=(), scaling="not scaled"),
        Boundary.OPTIMISATION,
        "nothing became non-finite in 20 steps; but the step never calls optimizer.scale_loss",
    ),
    "only metrics": (
        replace(FACTS, bad=(TOTAL, LOSS), weights_finite=True),
        Boundary.METRIC_STATE,
        "step 7, replica 0: loss/total (aggregation SUM, synchronization ON_WRITE) is not finite while",
    ),
    "only metrics, with loss scaling and without a replay": (
        replace(
            FACTS,
            bad=(TOTAL,),
            weights_finite=True,
            optimizer="LossScaleOptimizer",
            shares=(),
            not_replayed="fit shuffles the samples",
        ),
        Boundary.OPEN,
        "the step cannot be replayed: fit shuffles the samples",
    ),
    "a weight, without a replay": (
        replace(FACTS, shares=(), not_replayed="x is a Thing"),
        Boundary.OPEN,
        "step 7: model dense/kernel on replica 0 is not finite; the step cannot be replayed: x is a Thing",
    ),
    "nothing": (
        replace(FACTS, step=None, bad=(), shares=(), weights_finite=True),
        Boundary.NONE,
        "nothing became non-finite in 20 steps",
    ),
    "NaN in the data that does no harm": (
        replace(FACTS, step=None, bad=(), shares=(), arrays=(replace(X, finite=False, bad_rows=1, first_bad_row=0),)),
        Boundary.NONE,
        "nothing became non-finite in 20 steps",
    ),
}


@pytest.mark.parametrize("row", ROWS)
def test_the_boundary(row):
    facts, boundary, sentence = ROWS[row]
    found = told(facts)
    assert (found.boundary, sentence in found.sentence) == (boundary, True), found
    assert found.next_change


class TestRaised:
    RAISED = Ending(kind=EndingKind.RAISED, stage=Stage.TRAIN, exception="ValueError", message="no\nmore")
    AT = replace(FACTS, step=None, bad=(), raised_in_step=9)

    def test_on_an_empty_replica(self):
        found = told(replace(self.AT, shares=(FINE, replace(FINE, replica=1, rows=0, loss=None))), ending=self.RAISED)
        assert found.boundary is Boundary.DATA
        assert found.sentence == "step 9 leaves replica 1 without samples, and it raises ValueError: no"
        assert found.next_change == "drop the last incomplete batch"

    def test_in_the_step(self):
        found = told(replace(self.AT, shares=wrong(error="ValueError: no", line="line 3: f()")), ending=self.RAISED)
        assert (found.boundary, found.sentence) == (
            Boundary.COMPUTE,
            "step 9, replica 1, line 3: f(): raises ValueError: no",
        )
        assert found.next_change == "mend the line named above"

    def test_in_a_step_whose_line_is_not_known(self):
        found = told(replace(self.AT, shares=wrong(error="no")), ending=replace(self.RAISED, message=None))
        assert found.sentence == "step 9, replica 1: raises ValueError: no message"
        assert found.next_change == "mend what the message names"

    def test_elsewhere(self):
        found = told(replace(self.AT, raised_in_step=None, shares=()), ending=replace(self.RAISED, stage=Stage.BUILD))
        assert found.sentence == "while at build: raises ValueError: no"
        assert found.next_change == "mend what the message names"

    def test_after_something_was_not_finite(self):
        """The first wrong place counts, not the last."""
        found = told(replace(FACTS, raised_in_step=9, shares=wrong(loss=NAN)), ending=self.RAISED)
        assert found.sentence.startswith("step 7, replica 1: loss is nan")


@pytest.mark.parametrize("kind", [EndingKind.TIMED_OUT, EndingKind.SIGNALLED, EndingKind.EXITED, EndingKind.REFUSED])
def test_a_trial_that_was_ended_says_nothing(kind):
    found = told(DiagnosisFacts(), ending=Ending(kind=kind, stage=Stage.TRAIN, message="why"))
    assert found.boundary is Boundary.OPEN
    assert "why" in found.sentence


class TestControls:
    LOW = replace(FACTS, compute_dtype="float16", compute_max=65504.0)

    def test_what_stays_finite_in_float32_is_a_matter_of_range(self):
        facts = replace(self.LOW, shares=wrong(layer="a", layer_kind="Attention", layer_dtype="float16"))
        found = told(facts, Controls(baseline=control()))
        assert "the range of float16 decides" in found.sentence
        assert found.next_change == 'give layer a dtype="float32" and leave the rest as it is'
        assert "in float32: stays finite" in found.evidence

    def test_a_loss_of_float16_outputs_needs_the_last_layer_in_float32(self):
        found = told(replace(self.LOW, shares=wrong(loss=math.inf, operation="Log")), Controls(baseline=control()))
        assert found.next_change.startswith("give the last layer")

    def test_what_fails_in_float32_too_is_not(self):
        found = told(replace(self.LOW, shares=wrong(loss=math.inf, operation="Log")), Controls(baseline=control(NAN)))
        assert found.next_change == "add an epsilon inside the logarithm"
        assert "in float32: not finite either, loss is nan or inf" in found.evidence

    def test_one_replica_is_evidence(self):
        found = told(replace(FACTS, shares=wrong(loss=NAN)), Controls(alone=control()))
        assert "on one replica: stays finite" in found.evidence

    def test_finite_and_wrong_is_said(self):
        finite = replace(FACTS, step=None, bad=(), shares=(), weights_finite=True)
        verdicts = {
            Symptom.WRONG_METRIC: bad(recorded("loss is 2, reference 1"), "s"),
            Symptom.WRONG_WEIGHTS: bad(recorded("far"), "s"),
        }
        found = told(finite, Controls(alone=control(), verdicts=verdicts))
        assert found.boundary is Boundary.NONE
        assert found.sentence == (
            "nothing became non-finite in 20 steps; but it is not what one replica trains: "
            "wrong-metric: loss is 2, reference 1; wrong-weights: far"
        )
        assert found.next_change == "ask since when: harness bisect CASE SETTINGS"


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
def test_each_operation_has_its_change(operation, change):
    found = told(replace(FACTS, shares=wrong(gradient="kernel", operation=operation)))
    assert (found.sentence, found.next_change) == (f"step 7, replica 1: gradient of kernel, in {operation}", change)
    found = told(replace(FACTS, shares=wrong(gradient="kernel", nan_operation=operation)))
    assert (found.sentence, found.next_change) == (f"step 7, replica 1: gradient of kernel, NaN in {operation}", change)


@pytest.mark.parametrize(
    ("facts", "sentence", "change"),
    [
        (
            replace(FACTS, arrays=(replace(X, finite=False, bad_rows=3, first_bad_row=5),), shares=wrong(loss=NAN)),
            ("x is not finite in 3 samples, first in number 5 (from 0); first seen in step 7: replica 1, loss is nan"),
            "drop or repair these samples",
        ),
        (
            replace(FACTS, compute_dtype="float16", compute_max=65504.0, arrays=(X, replace(X, largest=7e4))),
            (
                "x (float32, shape [64, 8]) reaches 7e+04 and does not fit float16 (largest 65504); "
                "first seen in step 7: model dense/kernel on replica 0"
            ),
            "normalise x, with a floor under the standard deviation",
        ),
        (
            replace(FACTS, arrays=(replace(X, largest=1e6, feature_largest=(1e6, 3.0)),), weight_before=1e4),
            (
                "x (float32, shape [64, 8]) reaches 1e+06 in feature 0, 3e+05 times the next; before step 7 the largest "
                "weight grew from 0.5 to 1e+04: the training diverges; first seen in step 7: model dense/kernel on "
                "replica 0"
            ),
            "normalise the feature named above, with a floor under the standard deviation",
        ),
        (
            replace(FACTS, weight_before=2e3),
            (
                "before step 7 the largest weight grew from 0.5 to 2e+03: the training diverges; "
                "first seen in step 7: model dense/kernel on replica 0"
            ),
            "divide the learning rate by ten",
        ),
        (
            replace(FACTS, optimizer="LossScaleOptimizer", scaling="not scaled"),
            (
                "step 7: model dense/kernel on replica 0; but the step never calls optimizer.scale_loss, yet its "
                "gradients are divided by the scale"
            ),
            "differentiate optimizer.scale_loss(loss)",
        ),
        (
            replace(FACTS, optimizer="LossScaleOptimizer", scaling="not unscaled"),
            (
                "step 7: model dense/kernel on replica 0; the step hands scaled gradients to the inner optimizer, so "
                "they are never divided by the scale"
            ),
            "call apply of the loss-scale optimizer itself",
        ),
        (
            replace(FACTS, last_loss=1e5, shares=wrong(gradient="dense/kernel")),
            (
                "before step 7 the loss grew from 2 to 1e+05: the training diverges; "
                "first seen in step 7: replica 1, gradient of dense/kernel"
            ),
            "divide the learning rate by ten",
        ),
        (
            replace(FACTS, optimizer="LossScaleOptimizer", loss_scale=256.0, shares=wrong(scaled_gradient="a")),
            (
                "step 7, replica 1: gradient of a with loss scaling, and without it is finite; LossScaleOptimizer asks "
                "the first replica only, whose gradients are finite, and applies the step. The scale is 256."
            ),
            "start it lower: LossScaleOptimizer(initial_scale=2**8)",
        ),
        (
            replace(FACTS, shares=wrong(scaled_gradient="a", loss=NAN)),
            "step 7, replica 1: loss is nan",
            "look at the inputs of this operation",
        ),
        (
            replace(FACTS, bad=(LOSS, replace(KERNEL, role="optimizer", path="adam/m"), KERNEL)),
            "step 7: forward pass, loss and gradients are finite, yet adam/m on replica 0 is not after the update",
            "take plain SGD without clipping: is it the optimizer?",
        ),
        (
            replace(FACTS, bad=(LOSS, replace(TOTAL, path="mae/total")), weights_finite=True, shares=()),
            (
                "step 7, replica 0: mae/total (aggregation SUM, synchronization ON_WRITE) is not finite while weights, "
                "forward pass, loss and gradients are: the mark of the aggregation regression, each write sums the "
                "whole state over the replicas"
            ),
            "see whether the fix is right: harness verify-fix CASE --fix metrics-on-read RANGE",
        ),
        (
            replace(FACTS, shares=(), not_replayed="x is a Thing"),
            "step 7: model dense/kernel on replica 0 is not finite; the step cannot be replayed: x is a Thing",
            "make the step one that can be replayed",
        ),
        (
            replace(FACTS, step=None, bad=(), shares=(), weights_finite=True),
            "nothing became non-finite in 20 steps",
            "train more steps, on more replicas, or on another release",
        ),
        (
            replace(FACTS, optimizer="LossScaleOptimizer", shares=(replace(FINE, scaled_gradient="a"),)),
            "step 7, replica 0: gradient of a with loss scaling, and without it is finite.",
            "lower the loss scale",
        ),
        (
            replace(FACTS, bad=(replace(KERNEL, role="other"),)),
            "step 7: forward pass, loss and gradients are finite, yet the state is not after the update",
            "take plain SGD without clipping: is it the optimizer?",
        ),
        (
            replace(FACTS, bad=(TOTAL, LOSS), weights_finite=True),
            (
                "step 7, replica 0: loss/total (aggregation SUM, synchronization ON_WRITE) is not finite while weights, "
                "forward pass, loss and gradients are: the mark of the aggregation regression, each write sums the "
                "whole state over the replicas"
            ),
            "see whether the fix is right: harness verify-fix CASE --fix metrics-on-read RANGE",
        ),
        (
            replace(FACTS, bad=(replace(TOTAL, synchronization="ON_READ"),), weights_finite=True),
            (
                "step 7, replica 0: loss/total (aggregation SUM, synchronization ON_READ) is not finite while weights, "
                "forward pass, loss and gradients are"
            ),
            "take loss out of the metrics: is the rest finite?",
        ),
        (
            replace(FACTS, bad=(replace(TOTAL, aggregation="MEAN", path="mae/total"),), weights_finite=True),
            (
                "step 7, replica 0: mae/total (aggregation MEAN, synchronization ON_WRITE) is not finite while weights, "
                "forward pass, loss and gradients are"
            ),
            "take mae out of the metrics: is the rest finite?",
        ),
        (
            replace(FACTS, bad=(LOSS,), weights_finite=True),
            "step 7, replica 0: loss is not finite while weights, forward pass, loss and gradients are",
            "take loss out of the metrics: is the rest finite?",
        ),
    ],
)
def test_what_is_said(facts, sentence, change):
    found = told(facts)
    assert (found.sentence, found.next_change) == (sentence, change)


def test_weights_that_are_not_finite_in_the_end_are_no_matter_of_metrics():
    assert told(replace(FACTS, bad=(TOTAL,), weights_finite=False)).boundary is Boundary.OPTIMISATION


def test_an_evaluation_that_is_not_finite_is_said():
    finite = replace(FACTS, step=None, bad=(), shares=(), weights_finite=True)
    found = told(finite, evaluated={"loss": NAN})
    assert (found.boundary, found.sentence) == (
        Boundary.OPEN,
        "nothing became non-finite in 20 steps of training, yet evaluate.loss is nan",
    )
    assert found.next_change == "evaluate batch by batch"


class TestDisturbance:
    @pytest.mark.parametrize(
        ("watched", "plain", "expected"),
        [
            (observation({"loss": 1.0}), observation({"loss": 1.0}), ""),
            (observation({"loss": math.nan}), observation({"loss": float("nan")}), ""),
            (observation({"loss": float("1.5")}), observation({"loss": float("1.5")}), ""),
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
        assert diagnose(watched, Controls(plain=plain)).disturbance == expected
