"""Repeat one training step piece by piece, on each replica's share of its batch, without a strategy.

The model's own ``train_step`` runs eagerly on the weights as they were before the step and is stopped where it
hands its gradients to the optimizer. So what a custom step does is repeated as well.
"""

from __future__ import annotations

import contextlib
import importlib
import operator
import re
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..training import model
from . import batches, tensors

_NODE = re.compile(r"\{\{.*?\}\}")  # how TensorFlow calls the place in its graph


@dataclass(frozen=True)
class StateBefore:
    """The state before the bad step: weights of the first replica, and the scale of the loss if it moves."""

    weights: list[Any] = field(default_factory=list)
    loss_scale: float | None = None


class _Applied(BaseException):
    """The step has its gradients; nothing may catch this on the way."""

    def __init__(self, pairs: list[tuple[Any, Any]]) -> None:
        super().__init__()
        self.pairs = pairs


def shares(
    request: dict[str, Any], trial: dict[str, Any], built: model.Built, batch: tuple[Any, ...], before: StateBefore
) -> Iterator[dict[str, Any]]:
    """Repeat the step, one share of the batch per replica, and yield for each share what is not finite.

    Raises:
        batches.CannotRepeatError: the batch cannot be split, or the model cannot be made again.
    """
    built.library.utils.set_random_seed(request["seed"])
    step = _Step(built, model.call(built.case.model, trial), before, trial["replicas"])
    step.build(batches.each(lambda array: array[:1], batch[0]))
    piece = -(-batches.rows(batch[0]) // trial["replicas"])
    for replica in range(trial["replicas"]):
        own = batches.each(operator.itemgetter(slice(replica * piece, (replica + 1) * piece)), batch)
        first = next(batches.leaves(own[0]))
        yield {"replica": replica, "rows": len(first), "input_shape": list(first.shape), **step.repeat(own)}


class _Step:
    """One training step that can be run again and again on the same weights."""

    def __init__(self, built: model.Built, net: Any, before: StateBefore, replicas: int) -> None:
        self.built = built
        self.net = net
        self.before = before
        self.divisor = replicas if _divides(built.library) else 1
        self.names: dict[int, str] = {}
        self.layers: dict[int, str] = {}

    def build(self, sample: Any) -> None:
        """Give a model without an input shape its weights, and both models' parts the same names.

        Raises:
            batches.CannotRepeatError: the model is another one when it is made a second time.
        """
        import tensorflow as tf

        net = self.net
        if len(net.weights) != len(self.before.weights):
            net(batches.each(tf.convert_to_tensor, sample))
        if len(net.weights) != len(self.before.weights):
            raise batches.CannotRepeatError("model() makes other weights when it is called again")
        named = zip(net.trainable_variables, self.built.net.trainable_variables)  # noqa: B905 - Python 3.9
        self.names = {id(own): str(getattr(theirs, "path", theirs.name)) for own, theirs in named}
        layers = zip(_layers(net), _layers(self.built.net))  # noqa: B905 - Python 3.9
        self.layers = {id(own): str(theirs.name) for own, theirs in layers}  # a second model counts its names on

    def repeat(self, data: tuple[Any, ...]) -> dict[str, Any]:
        """Run the step with loss scaling and, where only gradients are not finite, without."""
        facts, gradient, operations = self._run(data, scaling=True)
        if gradient and not facts.get("layer") and np.isfinite(facts.get("loss", 0.0)):
            _, unscaled, other = self._run(data, scaling=False)
            facts["gradient" if unscaled else "scaled_gradient"] = unscaled or gradient
            operations = other if unscaled else operations
        elif gradient:
            facts["gradient"] = gradient
        bad = bool(facts.get("layer") or gradient or "error" in facts or not np.isfinite(facts.get("loss", 0.0)))
        if bad and operations.first_nonfinite:
            facts["operation"], facts["line"] = operations.first_nonfinite
        if bad and operations.first_nan and operations.first_nan != operations.first_nonfinite:
            facts["nan_operation"], facts["nan_line"] = operations.first_nan
        return facts

    def _run(
        self, data: tuple[Any, ...], *, scaling: bool
    ) -> tuple[dict[str, Any], str | None, tensors.OperationRecorder]:
        """Return what was seen, the first variable whose gradient is not finite, and the operations."""
        import tensorflow as tf

        for weight, value in zip(self.net.weights, self.before.weights):  # noqa: B905 - Python 3.9
            weight.assign(value)
        facts: dict[str, Any] = {}
        pairs: list[tuple[Any, Any]] = []
        inputs = batches.each(tf.convert_to_tensor, data)
        with tensors.record_operations(str(self.built.case.__file__)) as operations, self._record_layers(facts):
            try:
                with self._stop_at_update(facts, scaling=scaling):
                    self.net.train_step(inputs)
            except _Applied as applied:
                pairs = applied.pairs
            except Exception as error:
                text = " ".join(_NODE.sub("", str(error)).split()).removesuffix(" name:")
                facts["error"] = f"{type(error).__name__}: {text[:500]}"
                facts["line"] = self._line_of(error)
        bad = (variable for gradient, variable in pairs if gradient is not None and tensors.state([_dense(gradient)]))
        first = next(bad, None)
        return facts, None if first is None else self.names.get(id(first), "a variable"), operations

    def _line_of(self, error: Exception) -> str:
        """The innermost line of the case that an exception came through."""
        path = self.built.case.__file__
        lines = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
        return f"line {lines[-1].lineno}: {lines[-1].line}" if lines else ""

    @contextlib.contextmanager
    def _stop_at_update(self, facts: dict[str, Any], *, scaling: bool) -> Iterator[None]:
        """Replace the optimizer's methods: note the loss, scale it as it was scaled then, and stop at the update."""
        optimizer, inner = self.net.optimizer, getattr(self.net.optimizer, "inner_optimizer", None)
        scaled: Any = getattr(optimizer, "scale_loss", None)

        def scale_loss(loss: Any) -> Any:
            facts["loss"] = float(np.asarray(loss, dtype="float64"))
            if not scaling:
                return loss
            return (loss * self.before.loss_scale if self.before.loss_scale else scaled(loss)) / self.divisor

        def replacements(one: Any) -> dict[str, Callable[..., Any]]:
            def apply(gradients: Any, trainable_variables: Any = None, *_: Any, **__: Any) -> None:
                found = list(trainable_variables) if trainable_variables is not None else self.net.trainable_variables
                apply_gradients(zip(gradients, found))  # noqa: B905 - Python 3.9

            def apply_gradients(pairs: Any, *_: Any, **__: Any) -> None:
                if scaled is not None and inner is not None:
                    facts["scaling"] = _scaling("loss" in facts, one is optimizer)
                raise _Applied(list(pairs))

            return {"apply": apply, "apply_gradients": apply_gradients}

        replaced = {id(one): replacements(one) for one in (optimizer, inner) if one is not None}
        for one in (optimizer, inner):
            for name, function in replaced.get(id(one), {}).items():
                object.__setattr__(one, name, function)
        if scaled is not None:
            object.__setattr__(optimizer, "scale_loss", scale_loss)
        try:
            yield
        finally:
            for one in (optimizer, inner):
                for name in () if one is None else ("apply", "apply_gradients", "scale_loss"):
                    vars(one).pop(name, None)

    @contextlib.contextmanager
    def _record_layers(self, facts: dict[str, Any]) -> Iterator[None]:
        """Note the first layer, innermost first, whose output is not finite."""
        kind = self.built.library.layers.Layer
        original = kind.__call__

        def call(layer: Any, *args: Any, **kwargs: Any) -> Any:
            output = original(layer, *args, **kwargs)
            wrong = [part for part in batches.leaves(output) if "layer" not in facts and tensors.state([part])]
            if wrong:
                facts["layer"] = self.layers.get(id(layer), str(layer.name))
                facts["layer_kind"] = type(layer).__name__
                facts["layer_dtype"] = str(getattr(wrong[0].dtype, "name", wrong[0].dtype))
            return output

        kind.__call__ = call
        try:
            yield
        finally:
            kind.__call__ = original


def _layers(net: Any) -> list[Any]:
    return list(net._flatten_layers()) if hasattr(net, "_flatten_layers") else []


def _divides(library: Any) -> bool:
    """Whether Keras divides each replica's loss by the number of replicas; 3.0 to 3.7 do not."""
    try:
        losses = importlib.import_module(f"{library.__name__}.src.losses.loss")
    except ImportError:
        return False
    return hasattr(losses, "scale_loss_for_distribution")


def _scaling(scaled: bool, unscaled: bool) -> str:
    """How a step uses its loss-scale optimizer, which scales the loss and divides the gradients again."""
    return {(True, False): "not unscaled", (False, True): "not scaled"}.get((scaled, unscaled), "")


def _dense(gradient: Any) -> Any:
    """The values of a gradient; an embedding's gradient names rows and their values."""
    return getattr(gradient, "values", gradient)
