"""One training step repeated on each replica's share, on a framework small enough to be read beside it."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from harness.probe.diagnosis import batches, step_replay
from tests.probe.diagnosis import small_framework
from tests.probe.diagnosis.small_framework import LossScaleOptimizer, Model, Optimizer, log, mean


@pytest.fixture
def keras(monkeypatch):
    return small_framework.library(monkeypatch)


def arrays(*values: float, kind: str = "float32") -> Any:
    return np.array(values, kind).reshape(-1, 1)


def repeat(
    keras, make, batch, *, replicas=1, weights=(1.0, 1.0), loss_scale=None
) -> tuple[list[dict[str, Any]], Model]:
    """The facts of every share, and the model that the step was repeated on."""
    trained: Model = make()
    second: list[Model] = []

    def model() -> Model:
        second.append(make())
        return second[-1]

    built = SimpleNamespace(library=keras, net=trained, case=SimpleNamespace(model=model, __file__=__file__))
    before = step_replay.StateBefore([np.float32(one) for one in weights], loss_scale)
    trial = {"replicas": replicas}
    found = list(step_replay.shares({"seed": 0}, trial, built, batch, before))  # type: ignore[arg-type]
    return found, second[0]


class TestShares:
    def test_a_batch_is_cut_as_a_strategy_cuts_it(self, keras):
        batch = (arrays(*range(5)), arrays(*range(5)))
        found, _ = repeat(keras, lambda: Model(Optimizer()), batch, replicas=2)
        assert [(one["replica"], one["rows"], one["input_shape"]) for one in found] == [(0, 3, [3, 1]), (1, 2, [2, 1])]

    def test_the_last_replica_may_get_nothing(self, keras):
        found, _ = repeat(keras, lambda: Model(Optimizer()), (arrays(1), arrays(1)), replicas=2)
        assert [one["rows"] for one in found] == [1, 0]

    def test_what_is_wrong_is_said_of_the_replica_that_has_it(self, keras):
        batch = (arrays(1, 1, 1, 0), arrays(1, 1, 1, 1))
        healthy, wrong = repeat(keras, lambda: Model(Optimizer(), middle=log), batch, replicas=2)[0]
        assert "operation" not in healthy
        assert (wrong["operation"], wrong["layer"], wrong["layer_kind"]) == ("Log", "second", "Scale")

    def test_a_model_that_comes_out_otherwise_cannot_be_repeated(self, keras):
        with pytest.raises(batches.CannotRepeatError, match=r"model\(\) makes other weights"):
            repeat(keras, model_that_builds_nothing, (arrays(1), arrays(1)), weights=(1.0,))


def model_that_builds_nothing() -> Any:
    made = Model(Optimizer())
    made.__class__ = type("Callable", (Model,), {"__call__": lambda self, sample: None})
    return made


class TestOneStep:
    def test_a_healthy_step_has_a_loss_and_nothing_else(self, keras):
        (share,), model = repeat(keras, lambda: Model(Optimizer()), (arrays(1, 3), arrays(0, 0)))
        assert share == {"replica": 0, "rows": 2, "input_shape": [2, 1], "loss": 5.0}
        assert model.applied == 0, "it is stopped before the update"

    def test_it_starts_from_the_weights_before_the_bad_step(self, keras):
        (share,), _ = repeat(keras, lambda: Model(Optimizer()), (arrays(1), arrays(0)), weights=(2.0, 3.0))
        assert share["loss"] == 36.0

    def test_the_first_layer_that_is_not_finite_has_the_name_of_the_trained_model(self, keras):
        counted = iter(("trained", "again"))

        def make() -> Model:
            model = HalfModel(Optimizer())
            model.first.name = next(counted)
            return model

        (share,), _ = repeat(keras, make, (arrays(6e4, kind="float16"), arrays(0, kind="float16")), weights=(2.0, 1.0))
        assert (share["layer"], share["layer_dtype"], share["operation"]) == ("trained", "float16", "Mul")

    def test_a_step_that_raises_names_the_line(self, keras):
        def broken(value: Any) -> Any:
            raise ValueError("no {{node mul_7}} such  shape")

        (share,), _ = repeat(keras, lambda: Model(Optimizer(), middle=broken), (arrays(1), arrays(1)))
        assert share["error"] == "ValueError: no such shape"
        assert 'raise ValueError("no {{node mul_7}} such  shape")' in share["line"]

    def test_a_handler_of_the_case_does_not_hide_the_stop(self, keras):
        class Careful(Model):
            def train_step(self, data: Any) -> None:
                try:
                    super().train_step(data)
                except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError):
                    pytest.fail("the stop is no error of the case")

        (share,), _ = repeat(keras, lambda: Careful(Optimizer()), (arrays(1), arrays(0)))
        assert share["loss"] == 1.0

    def test_optimizer_and_layers_are_as_before(self, keras):
        called = small_framework.Layer.__call__
        _, model = repeat(keras, lambda: Model(LossScaleOptimizer(4.0)), (arrays(1), arrays(0)))
        assert small_framework.Layer.__call__ is called
        assert not {"apply", "apply_gradients", "scale_loss"} & {*vars(model.optimizer)}
        assert not {"apply", "apply_gradients"} & {*vars(model.optimizer.inner_optimizer)}


class TestLossScaling:
    """In float16 a gradient of 4 times 2**15 is infinite."""

    BATCH = (arrays(2, kind="float16"), arrays(0, kind="float16"))

    def scaled(self, keras, scale: float, **before: Any) -> dict[str, Any]:
        (share,), _ = repeat(keras, lambda: HalfModel(LossScaleOptimizer(scale)), self.BATCH, **before)
        return share

    def test_a_gradient_that_only_the_scale_makes_infinite(self, keras):
        share = self.scaled(keras, 2.0**15)
        assert (share["loss"], share["scaled_gradient"]) == (4.0, "first/kernel")
        assert "gradient" not in share

    def test_a_small_scale_is_harmless(self, keras):
        share = self.scaled(keras, 2.0**4)
        assert not {"scaled_gradient", "gradient", "operation"} & {*share}
        assert share["scaling"] == ""

    def test_the_scale_of_that_moment_counts(self, keras):
        """The optimizer has moved its scale since."""
        assert "scaled_gradient" in self.scaled(keras, 2.0**4, loss_scale=2.0**15)
        assert "scaled_gradient" not in self.scaled(keras, 2.0**15, loss_scale=2.0**4)

    def test_a_gradient_that_is_infinite_without_it_too(self, keras):
        batch = (arrays(1e-3), arrays(0))

        class Steep(Model):
            def train_step(self, data: Any) -> None:
                self.optimizer.scale_loss(mean(data[0]))
                self.optimizer.apply([log(small_framework.Tensor(np.float32(0)))], self.trainable_variables[:1])

        (share,), _ = repeat(keras, lambda: Steep(LossScaleOptimizer(2.0)), batch)
        assert (share["gradient"], share["operation"]) == ("first/kernel", "Log")
        assert "scaled_gradient" not in share

    @pytest.mark.parametrize(
        ("scales", "inner", "expected"),
        [(True, False, ""), (True, True, "not unscaled"), (False, False, "not scaled"), (False, True, "")],
    )
    def test_a_step_may_use_half_of_it(self, keras, scales, inner, expected):
        class Custom(Model):
            def train_step(self, data: Any) -> None:
                if scales:
                    self.optimizer.scale_loss(mean(data[0]))
                optimizer = self.optimizer.inner_optimizer if inner else self.optimizer
                optimizer.apply([data[1]], self.trainable_variables[:1])

        (share,), _ = repeat(keras, lambda: Custom(LossScaleOptimizer(2.0)), (arrays(1), arrays(1)))
        assert share["scaling"] == expected

    def test_keras_divides_the_loss_by_the_replicas_since_3_8(self, keras, monkeypatch):
        assert not step_replay._divides(keras)
        losses = ModuleType("losses")
        monkeypatch.setitem(sys.modules, "small_framework", ModuleType("small_framework"))
        for name in ("small_framework.src", "small_framework.src.losses"):
            monkeypatch.setitem(sys.modules, name, ModuleType(name))
        monkeypatch.setitem(sys.modules, "small_framework.src.losses.loss", losses)
        assert not step_replay._divides(keras)
        losses.scale_loss_for_distribution = None  # type: ignore[attr-defined]
        assert step_replay._divides(keras)
        batch = (np.vstack([self.BATCH[0]] * 2), np.vstack([self.BATCH[1]] * 2))
        make = lambda: HalfModel(LossScaleOptimizer(2.0**14))  # noqa: E731
        assert ["scaled_gradient" in one for one in repeat(keras, make, batch, replicas=2)[0]] == [False, False]
        monkeypatch.delattr(losses, "scale_loss_for_distribution")
        assert ["scaled_gradient" in one for one in repeat(keras, make, batch, replicas=2)[0]] == [True, True]


class HalfModel(Model):
    """Computes in float16, as its data is; the weights are cast."""

    def train_step(self, data: Any) -> None:
        """The step with its weights cast."""
        for variable in self.trainable_variables:
            variable.values_ = variable.values_.astype("float16")
        super().train_step(data)


def test_a_sparse_gradient_is_read_by_its_values():
    dense = np.ones(2)
    assert step_replay._dense(SimpleNamespace(values=dense, indices=[0])) is dense
    assert step_replay._dense(dense) is dense
