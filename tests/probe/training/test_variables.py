"""What variables hold, replica by replica, with variables that look as Keras 3's, tf-keras's and TensorFlow's do."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.probe.training import variables


def mirrored(*copies: Any) -> SimpleNamespace:
    """TensorFlow's variable with a copy per replica."""
    values = tuple(np.asarray(copy) for copy in copies)
    return SimpleNamespace(
        values=values,
        dtype=values[0].dtype,
        aggregation=SimpleNamespace(name="SUM"),
        synchronization=SimpleNamespace(name="ON_READ"),
    )


def weight(path: str, *copies: Any, **more: Any) -> SimpleNamespace:
    """Keras's variable around it."""
    raw = mirrored(*copies)
    return SimpleNamespace(path=path, _value=raw, shape=raw.values[0].shape, aggregation="sum", **more)


def net(*weights: Any, **more: Any) -> SimpleNamespace:
    count = sum(variables.copies(one)[0].size for one in weights)
    return SimpleNamespace(weights=list(weights), count_params=lambda: count, metrics=[], **more)


class TestCopies:
    def test_every_replica_s_copy_is_read_through_keras_3_s_wrapper(self):
        assert [copy.tolist() for copy in variables.copies(weight("w", [1.0], [2.0]))] == [[1.0], [2.0]]

    def test_tf_keras_has_no_wrapper(self):
        assert [copy.tolist() for copy in variables.copies(mirrored([1.0], [2.0]))] == [[1.0], [2.0]]

    def test_a_variable_without_replicas_is_its_only_copy(self):
        (only,) = variables.copies(np.ones(3))
        assert only.tolist() == [1, 1, 1]

    def test_a_method_called_values_is_no_list_of_copies(self):
        class Sparse:
            def values(self):
                raise AssertionError

            def __array__(self, dtype=None, copy=None):
                return np.zeros(2)

        assert len(variables.copies(Sparse())) == 1


def test_weights_of_one_path_are_told_apart_by_number():
    made = net(weight("a", 1.0), weight("b", 1.0), weight("a", 2.0), SimpleNamespace(name="c", values=(np.ones(1),)))
    assert [name for name, _ in variables.named_weights(made)] == ["a", "b", "a#2", "c"]


class TestInitialWeights:
    def test_the_hash_changes_with_any_value(self):
        digests = {variables.initial_weights(net(weight("w", [1.0, last]))).digest for last in (1.0, 2.0, 3.0)}
        assert len(digests) == 3
        assert {len(digest) for digest in digests} == {16}

    def test_a_model_that_has_none_yet_has_no_hash(self):
        assert variables.initial_weights(net()) == variables.InitialWeights("", {})

    def test_they_are_copied(self):
        """Training changes the arrays that a variable shows."""
        made = net(weight("w", np.zeros(3, "float32")))
        before = variables.initial_weights(made)
        made.weights[0]._value.values[0][:] = 5.0
        assert before.samples["w"].tolist() == [0, 0, 0]


@given(st.integers(0, 5000))
def test_a_sample_is_spread_evenly_and_never_larger_than_the_limit(size):
    taken = variables.sample(np.arange(size))
    assert len(taken) <= variables.SAMPLE
    assert len(taken) >= min(size, variables.SAMPLE // 2)
    assert len(set(np.diff(taken).tolist())) <= 1
    assert size == 0 or taken[0] == 0


class TestDataDigest:
    def test_equal_data_has_one_hash_however_it_lies_in_memory(self):
        table = np.arange(6.0).reshape(2, 3)
        assert variables.data_digest([table]) == variables.data_digest((np.asfortranarray(table), None))

    @pytest.mark.parametrize(
        "other",
        [
            np.arange(6.0).reshape(3, 2),
            np.arange(6.0).astype("float32").reshape(2, 3),
            np.arange(6.0).reshape(2, 3) + 1,
        ],
        ids=["shape", "type", "values"],
    )
    def test_other_data_has_another(self, other):
        assert variables.data_digest(np.arange(6.0).reshape(2, 3)) != variables.data_digest(other)

    @pytest.mark.parametrize("data", [iter([1]), {"x": [np.ones(2), "text"]}, np.array([object()])])
    def test_what_could_be_read_only_once_has_none(self, data):
        assert variables.data_digest(data) == ""


class TestFloats:
    @pytest.mark.parametrize(
        ("value", "expected"),
        [(1, [1.0]), (np.float32(0.5), [0.5]), ([[1, 2], [3, 4]], [1.0, 2.0, 3.0, 4.0]), (True, [1.0]), ([], [])],
    )
    def test_numbers(self, value, expected):
        assert variables.floats(value) == expected

    @pytest.mark.parametrize("value", [None, "0.5", b"1", object(), ["a"], {"a": 1}])
    def test_what_is_no_number_has_none(self, value):
        assert variables.floats(value) == []

    def test_a_metric_with_many_values_is_cut(self):
        assert len(variables.floats(np.ones(10_000))) == variables.METRIC_LIMIT


class TestWeights:
    def test_what_training_left(self):
        made = net(weight("w", [0.0, 0.0], [0.0, 0.0]), weight("b", 0.0, 0.0))
        before = variables.initial_weights(made)
        made.weights[0]._value = mirrored([3.0, -4.0], [3.0, -3.0])
        found = variables.weights(made, before, 100)
        assert found == {
            "count": 3,
            "finite": True,
            "initial_digest": before.digest,
            "values": {"w": [3.0, -4.0], "b": [0.0]},
            "norms": {"w": 5.0, "b": 0.0},
            "replica_spread": 1.0,
            "spreads": {"w": 1.0},
            "moved": {"w": 4.0, "b": 0.0},
        }

    def test_not_finite_on_the_last_replica_alone(self):
        assert variables.weights(net(weight("w", [1.0], [np.nan])), None, 100)["finite"] is False

    def test_of_a_large_model_a_sample_is_kept(self):
        found = variables.weights(net(weight("w", np.arange(1000.0))), None, 100)
        assert len(found["values"]["w"]) <= variables.SAMPLE
        assert (found["count"], found["moved"], found["initial_digest"]) == (1000, {}, "")

    def test_a_variable_of_another_shape_has_moved_infinitely_far(self):
        before = variables.initial_weights(net(weight("w", [1.0])))
        assert variables.weights(net(weight("w", [1.0, 2.0])), before, 100)["moved"] == {"w": float("inf")}


class TestFirstNonfinite:
    def test_the_first_in_the_order_of_the_model(self):
        made = net(weight("a", [1.0], [1.0]), weight("b", [1.0], [-np.inf]), weight("c", [np.nan], [1.0]))
        assert variables.first_nonfinite(made, 100) == ("b", float("-inf"))

    def test_none_while_all_are_finite(self):
        assert variables.first_nonfinite(net(weight("a", [1.0])), 100) == ("", 0.0)

    def test_large_models_are_not_read_at_every_step(self):
        assert variables.first_nonfinite(net(weight("a", np.full(10, np.nan))), 9) == ("", 0.0)


class TestDescribing:
    def test_a_keras_3_variable(self):
        assert variables.facts_of("metric", weight("total", np.float32(2.0), np.float32(3.0))) == {
            "path": "total",
            "role": "metric",
            "dtype": "float32",
            "shape": [],
            "keras_aggregation": "sum",
            "aggregation": "SUM",
            "synchronization": "ON_READ",
            "copies": [2.0, 3.0],
        }

    def test_a_tensorflow_variable_says_nothing_for_keras(self):
        raw = SimpleNamespace(name="total:0", shape=(2,), **vars(mirrored([1.0, 2.0])))
        found = variables.facts_of("model", raw)
        assert (found["path"], found["keras_aggregation"], found["aggregation"]) == ("total:0", None, "SUM")
        assert found["copies"] == []

    @pytest.mark.parametrize("called", [True, False])
    def test_an_optimizer_s_variables_are_a_list_or_a_method(self, called):
        slots = [weight("momentum", 0.0)]
        made = net(weight("w", 1.0), optimizer=SimpleNamespace(variables=(lambda: slots) if called else slots))
        made.metrics = [SimpleNamespace(variables=[weight("total", 0.0)])]
        assert [(one["role"], one["path"]) for one in variables.describe(made)] == [
            ("metric", "total"),
            ("model", "w"),
            ("optimizer", "momentum"),
        ]

    def test_a_model_without_an_optimizer(self):
        assert variables.by_role(net())["optimizer"] == []
        assert variables.iterations(net()) is None

    def test_there_is_a_limit_for_each_role(self):
        many = [weight(f"w{n}", 0.0) for n in range(variables.VARIABLE_LIMIT + 1)]
        assert len(variables.describe(net(*many))) == variables.VARIABLE_LIMIT

    def test_the_counter_is_the_first_replica_s(self):
        assert variables.iterations(net(optimizer=SimpleNamespace(iterations=mirrored(7, 7)))) == 7


@pytest.mark.parametrize(
    ("net_attributes", "steps"),
    [({}, 1), ({"steps_per_execution": 4}, 4), ({"steps_per_execution": mirrored(3, 3)}, 3)],
    ids=["none", "a number", "a mirrored variable, as in tf-keras"],
)
def test_one_call_may_make_several_steps(net_attributes, steps):
    assert variables.steps_per_call(net(**net_attributes)) == steps


@pytest.mark.parametrize(("value", "expected"), [([1, 2], [1.0, 2.0]), (["text"], []), ([object()], [])])
def test_what_is_no_number_becomes_an_empty_array(value, expected):
    assert variables.as_float(value).tolist() == expected
