"""A framework of a hundred lines: eager tensors that call back after each operation, layers, gradients, optimizers.

Only as much as repeating a step needs, and computed for real: what overflows here overflows as it does there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

CALLBACKS: list[Any] = []


class Tensor:
    """A number of any shape with TensorFlow's description of its type."""

    def __init__(self, values: Any) -> None:
        self.values_ = np.asarray(getattr(values, "values_", values))
        kind = self.values_.dtype
        self.dtype = SimpleNamespace(name=kind.name, is_floating=kind.kind == "f", is_complex=kind.kind == "c")

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.values_.astype(dtype) if dtype else self.values_

    def __len__(self) -> int:
        return len(self.values_)

    def __mul__(self, other: Any) -> Tensor:
        return operation("Mul", np.multiply, self, other)

    def __sub__(self, other: Any) -> Tensor:
        return operation("Sub", np.subtract, self, other)

    def __truediv__(self, other: Any) -> Tensor:
        return operation("RealDiv", np.divide, self, other)


def operation(name: str, function: Callable[..., Any], *inputs: Any) -> Tensor:
    """Compute, and call back as TensorFlow does after each operation that runs eagerly."""
    given = [Tensor(one) for one in inputs] if not all(isinstance(one, Tensor) for one in inputs) else list(inputs)
    with np.errstate(all="ignore"):
        made = Tensor(function(*(one.values_ for one in given)))
    for callback in CALLBACKS:
        callback(name.encode(), tuple(given), (), (made,))
    return made


def log(value: Tensor) -> Tensor:
    """The natural logarithm."""
    return operation("Log", np.log, value)


def mean(value: Tensor) -> Tensor:
    """The mean of all values; NaN of none."""
    return operation("Mean", lambda values: np.sum(values) / values.dtype.type(values.size), value)


class Variable(Tensor):
    """A tensor with a name that can be assigned to."""

    def __init__(self, path: str, values: Any) -> None:
        super().__init__(np.asarray(values, dtype="float32"))
        self.path = self.name = path
        self.shape = self.values_.shape

    def assign(self, values: Any) -> None:
        """Replace the values."""
        self.values_ = np.asarray(values, dtype="float32")


class Layer:
    """Calls `call`."""

    name = "layer"

    def __call__(self, value: Tensor) -> Tensor:
        return self.call(value)

    def call(self, value: Tensor) -> Tensor:
        """What the layer computes."""
        raise NotImplementedError


class Scale(Layer):
    """y = w * x."""

    def __init__(self, name: str, weight: float = 1.0) -> None:
        self.name = name
        self.kernel = Variable(f"{name}/kernel", weight)

    def call(self, value: Tensor) -> Tensor:
        """Multiply by the weight."""
        return value * self.kernel


class Optimizer:
    """Plain gradient descent."""

    def __init__(self, rate: float = 0.1) -> None:
        self.rate = rate

    def scale_loss(self, loss: Tensor) -> Tensor:
        """Leave the loss as it is."""
        return loss

    def apply(self, gradients: Any, trainable_variables: Any) -> None:
        """Update the variables."""
        for gradient, variable in zip(gradients, trainable_variables, strict=True):
            variable.assign(variable.values_ - self.rate * gradient.values_)


class LossScaleOptimizer(Optimizer):
    """Scales the loss, divides the gradients again and leaves the rest to another optimizer."""

    def __init__(self, scale: float) -> None:
        super().__init__()
        self.inner_optimizer = Optimizer()
        self.scale = scale

    def scale_loss(self, loss: Tensor) -> Tensor:
        """Multiply the loss by the scale."""
        return loss * Tensor(np.asarray(self.scale, loss.values_.dtype))

    def apply(self, gradients: Any, trainable_variables: Any) -> None:
        """Divide the gradients and let the inner optimizer update the variables."""
        unscaled = [Tensor(gradient.values_ / self.scale) for gradient in gradients]
        self.inner_optimizer.apply(unscaled, trainable_variables)


class Model:
    """Two weights in a row, trained on the mean squared error."""

    def __init__(self, optimizer: Any, middle: Callable[[Tensor], Tensor] | None = None) -> None:
        self.first, self.second = Scale("first"), Scale("second")
        self.optimizer = optimizer
        self.middle = middle or (lambda value: value)
        self.applied = 0

    @property
    def trainable_variables(self) -> list[Variable]:
        """Both weights."""
        return [self.first.kernel, self.second.kernel]

    weights = trainable_variables

    def _flatten_layers(self) -> list[Layer]:
        return [self.first, self.second]

    def train_step(self, data: tuple[Tensor, Tensor]) -> None:
        """One step, its gradient by hand; loss in float32, gradients in the type of the data."""
        x, y = data
        hidden = self.middle(self.first(x))
        error = self.second(hidden) - y
        wide = Tensor(error.values_.astype("float32"))
        loss = mean(wide * wide)
        scaled = self.optimizer.scale_loss(loss)
        with np.errstate(all="ignore"):
            factor = Tensor((scaled.values_ / loss.values_).astype(x.values_.dtype))
        gradients = [mean(error * x * factor), mean(error * hidden * factor)]
        self.optimizer.apply(gradients, self.trainable_variables)
        self.applied += 1


def library(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Put the framework in the place of TensorFlow; returns what takes the place of Keras."""
    CALLBACKS.clear()
    for name in ("tensorflow", "tensorflow.python", "tensorflow.python.framework"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    tensorflow, framework = sys.modules["tensorflow"], sys.modules["tensorflow.python.framework"]
    tensorflow.convert_to_tensor = Tensor  # type: ignore[attr-defined]
    callbacks = SimpleNamespace(add_op_callback=CALLBACKS.append, remove_op_callback=CALLBACKS.remove)
    framework.op_callbacks = callbacks  # type: ignore[attr-defined]
    return SimpleNamespace(
        __name__="small_framework",
        layers=SimpleNamespace(Layer=Layer),
        utils=SimpleNamespace(set_random_seed=lambda seed: None),
    )
