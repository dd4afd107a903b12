"""What is noted while a training is watched: data, the state before each step, the first bad step."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from harness import codec
from harness.domain.trials.diagnosis_facts import ArrayFacts, BadVariable
from harness.probe.diagnosis import batches, step_replay, watching
from harness.probe.refusals import Refused
from harness.probe.results import portable

LIBRARY = SimpleNamespace(callbacks=SimpleNamespace(Callback=object))


class Variable:
    """A variable with one copy per replica."""

    def __init__(self, path: str, *copies: Any) -> None:
        self.path = path
        self.values = tuple(np.asarray(copy, dtype="float32") for copy in copies)
        self.shape, self.dtype = self.values[0].shape, self.values[0].dtype


def net(**changes: Any) -> SimpleNamespace:
    usual = {"weights": [Variable("dense/kernel", [1.0, -2.0], [1.0, -2.0])], "metrics": [], "optimizer": None}
    return SimpleNamespace(**{**usual, **changes})


def watched(model: SimpleNamespace) -> tuple[Any, dict[str, Any]]:
    found: dict[str, Any] = {}
    watcher = watching._watcher(LIBRARY, found)
    watcher.model = model
    return watcher, found


class TestData:
    def test_the_first_bad_sample_is_found(self):
        x = np.ones((5, 2), "float32")
        x[3, 1], x[4, 0] = np.nan, np.inf
        (found,) = watching.describe_data({"x": x})
        assert (found["finite"], found["bad_rows"], found["first_bad_row"]) == (False, 2, 3)

    def test_the_largest_finite_value_and_that_of_each_feature(self):
        x = np.array([[1.0, -300.0], [np.inf, 2.0]])
        (found,) = watching.describe_data({"x": x})
        assert (found["largest"], found["feature_largest"]) == (300.0, [1.0, 300.0])

    def test_parts_are_named_as_they_are_reached(self):
        arguments = {"x": {"a": np.ones(2), "b": [np.ones(2), np.ones(2)]}, "y": np.ones(2), "sample_weight": None}
        names = [one["name"] for one in watching.describe_data(arguments, " of step 3")]
        assert names == ["x[a] of step 3", "x[b][0] of step 3", "x[b][1] of step 3", "y of step 3"]

    @pytest.mark.parametrize("x", [None, iter([1]), "text", np.array(["a"]), np.float64(1.0)])
    def test_what_is_no_array_of_numbers_is_left_out(self, x):
        assert list(watching.describe_data({"x": x})) == []

    @pytest.mark.parametrize(
        "x", [np.zeros((0, 3)), np.zeros((3, 0)), np.ones(3, bool), np.ones((2, 65)), np.ones((2, 1))]
    )
    def test_every_shape_becomes_a_fact_that_the_harness_reads(self, x):
        (found,) = watching.describe_data({"x": x})
        facts = codec.loads(ArrayFacts, json.dumps(portable(found)))
        assert (facts.finite, facts.shape, facts.first_bad_row) == (True, x.shape, None)


class TestTheFirstBadStep:
    def test_nothing_is_noted_of_a_training_that_stays_finite(self):
        watcher, found = watched(net())
        for batch, loss in enumerate((4.0, 2.0)):
            watcher.on_train_batch_begin(batch)
            watcher.on_train_batch_end(batch, {"loss": loss})
        assert "step" not in found
        assert (found["first_loss"], found["last_loss"], found["initial_weight"]) == (4.0, 2.0, 2.0)

    def test_the_state_before_it_is_kept(self):
        model = net()
        watcher, found = watched(model)
        watcher.on_train_batch_begin(0)
        watcher.on_train_batch_end(0, {"loss": 1.0})
        model.weights = [Variable("dense/kernel", [7.0, 0.0], [7.0, 0.0])]
        watcher.on_train_batch_begin(1)
        model.weights = [Variable("dense/kernel", [1.0, 1.0], [1.0, np.nan])]
        watcher.on_train_batch_end(1, {"loss": 1.0})
        watcher.on_train_batch_begin(2)
        assert watcher.before.weights[0].tolist() == [7.0, 0.0]
        assert (found["step"], found["initial_weight"], found["weight_before"]) == (2, 2.0, 7.0)
        (bad,) = found["bad"]
        facts = codec.loads(BadVariable, json.dumps(portable(bad)))
        assert (facts.role, facts.path, facts.replica, facts.replicas) == ("model", "dense/kernel", 1, 2)

    def test_a_metric_that_is_logged_counts_too(self):
        watcher, found = watched(net())
        watcher.on_train_batch_begin(0)
        watcher.on_train_batch_end(0, {"loss": 1.0, "mae": float("inf")})
        assert found["bad"] == [{"role": "log", "path": "mae", "replica": 0, "replicas": 1}]

    def test_one_variable_is_noted_for_each_kind_of_state(self):
        bad = [Variable("a", [np.nan]), Variable("b", [np.nan])]
        model = net(weights=bad, metrics=[SimpleNamespace(variables=bad)])
        roles = [(one["role"], one["path"]) for one in watching._bad_variables(model, {})]
        assert roles == [("metric", "a"), ("model", "a")]

    def test_a_model_that_cannot_be_read_is_a_refusal(self):
        watcher, _ = watched(net(weights=None))
        with pytest.raises(Refused, match="the probe could not read the model: TypeError"):
            watcher.on_train_batch_begin(0)


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (["float32", "bfloat16"], ("bfloat16", 3.3895e38)),
        (["float16", "bfloat16", "float32"], ("float16", 65504.0)),
        ([None], ("float32", 3.3895e38)),
    ],
)
def test_the_type_of_the_smallest_range_decides(types, expected):
    layers = [SimpleNamespace(compute_dtype=name) for name in types]
    assert watching._compute_dtype(SimpleNamespace(_flatten_layers=lambda: layers)) == expected
    assert watching._compute_dtype(SimpleNamespace(compute_dtype=expected[0])) == expected


def test_a_loss_scale_that_moves_is_kept():
    optimizer = SimpleNamespace(dynamic_scale=Variable("scale", 256.0))
    assert watching._before(net(optimizer=optimizer)).loss_scale == 256.0
    assert watching._before(net()).loss_scale is None


class TestRepeatingTheBadStep:
    """Why a step cannot be repeated is a fact; it never ends the trial."""

    def repeat(self, found: dict[str, Any], monkeypatch: pytest.MonkeyPatch, optimizer: Any = None) -> dict[str, Any]:
        model = net(optimizer=optimizer)
        watcher, _ = watched(model)
        built = SimpleNamespace(net=model, arguments={"x": np.ones((4, 1))}, facts={"diagnosis": found})
        monkeypatch.setattr(batches, "batch_of", lambda built, step: (np.full((2, 1), float(step)),))
        watching._repeat_bad_step({}, {}, built, watcher)  # type: ignore[arg-type]
        return found

    def test_a_training_without_a_bad_step_has_nothing_to_repeat(self, monkeypatch):
        monkeypatch.setattr(step_replay, "shares", lambda *_: pytest.fail("nothing was wrong"))
        assert self.repeat({"arrays": []}, monkeypatch) == {"arrays": []}

    def test_loss_scaling_is_checked_even_so(self, monkeypatch):
        monkeypatch.setattr(step_replay, "shares", lambda *_: iter([{"replica": 0, "scaling": "not scaled"}]))
        found = self.repeat({"arrays": [1]}, monkeypatch, SimpleNamespace(inner_optimizer="adam"))
        assert (found["scaling"], found["shares"], found["not_replayed"]) == ("not scaled", [], "")

    def test_the_batch_is_described_where_fit_was_given_no_arrays(self, monkeypatch):
        monkeypatch.setattr(step_replay, "shares", lambda *_: iter([{"replica": 0}]))
        found = self.repeat({"arrays": [], "step": 3}, monkeypatch)
        assert (found["arrays"][0]["name"], found["arrays"][0]["largest"]) == ("x of step 3", 3.0)
        assert found["shares"] == [{"replica": 0}]

    @pytest.mark.parametrize(
        ("error", "reason"),
        [
            (batches.CannotRepeatError("fit shuffles the samples"), "fit shuffles the samples"),
            (ValueError("several\n  lines"), "ValueError: several lines"),
        ],
    )
    def test_the_reason_for_which_it_cannot_be_done(self, monkeypatch, error, reason):
        def fail(*_: Any) -> Any:
            raise error

        monkeypatch.setattr(step_replay, "shares", fail)
        assert self.repeat({"arrays": [1], "raised_in_step": 2}, monkeypatch)["not_replayed"] == reason
