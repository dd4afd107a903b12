"""Watch one training, then replay its first bad step piece by piece to find where the first bad value appears.

Watching only reads. The replay runs afterwards, eagerly, on the weights as they were before the step, once for
each replica's share of the batch, so it cannot change what was observed.
"""

from __future__ import annotations

import contextlib
import re
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from . import model, variables

_LINE = re.compile(r"\s+")


def run(request: dict[str, Any], trial: dict[str, Any], facts: dict[str, Any], enter: Callable[[str], None]) -> None:
    """Run one watched trial of a model case; fills ``facts["diagnosis"]``."""
    timed = model.stopwatch(facts["durations"], enter)
    built = model.prepare(request, trial, facts, timed)
    found: dict[str, Any] = {"arrays": list(describe_data(built.arguments))}
    facts["diagnosis"] = found
    found["compute_dtype"], found["compute_max"] = _compute_dtype(built.net)
    watcher = _watcher(built.library, found)
    try:
        model.train(built, timed, watch=[watcher])
    except Exception:
        found["raised_in_step"] = watcher.step + 1
        raise
    finally:
        found["weights_finite"] = bool(facts.get("weights", {}).get("finite", True))
        started = time.monotonic()  # no stage of its own: a training that raised ended in "train"
        found["shares"] = list(_replay(request, trial, built, watcher))
        facts["durations"]["replay"] = time.monotonic() - started


def describe_data(arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """For each array of ``fit``: finite, the first row that is not, and the range of its values."""
    for name in ("x", "y", "sample_weight"):
        for part, array in _arrays(name, arguments.get(name)):
            values = array.astype("float64")
            finite = np.isfinite(values)
            rows = np.flatnonzero(~finite.reshape(len(values), -1).all(axis=1)) if values.size else np.zeros(0, int)
            good = np.abs(values[finite])
            yield {
                "name": part,
                "dtype": str(array.dtype),
                "shape": list(array.shape),
                "finite": bool(finite.all()),
                "bad_rows": len(rows),
                "first_bad_row": int(rows[0]) if len(rows) else None,
                "largest": float(good.max(initial=0.0)),
                "feature_largest": _per_feature(values),
            }


def _arrays(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _arrays(f"{name}[{key}]", part)
    elif isinstance(value, (list, tuple)):
        for number, part in enumerate(value):
            yield from _arrays(f"{name}[{number}]", part)
    elif value is not None and hasattr(value, "shape"):
        array = np.asarray(value)
        if array.dtype.kind in "fiub" or array.dtype.name == "bfloat16":
            yield name, array


def _per_feature(values: Any) -> list[float]:
    """Largest finite magnitude per feature of a table (at most 64 columns), else nothing."""
    if values.ndim != 2 or not 1 < values.shape[1] <= 64:
        return []
    return [float(np.max(np.abs(column[np.isfinite(column)]), initial=0.0)) for column in values.T]


def _compute_dtype(net: Any) -> tuple[str, float]:
    """The lowest-range type that any layer computes in, and the largest number it can hold."""
    names = {str(getattr(layer, "compute_dtype", None) or "float32") for layer in _leaves(net)}
    if "float16" in names:
        return "float16", 65504.0
    return ("bfloat16" if "bfloat16" in names else "float32"), 3.3895e38


def _leaves(net: Any) -> list[Any]:
    return list(net._flatten_layers()) if hasattr(net, "_flatten_layers") else [net]


def _watcher(library: Any, found: dict[str, Any]) -> Any:
    """Build a callback that keeps the weights before each step until the first bad one."""

    class Watcher(library.callbacks.Callback):  # type: ignore[misc]
        """Reads, never writes."""

        step = 0
        before: Any = None

        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
            """Keep the weights as they are before the step."""
            if "step" not in found:
                self.before = [variables.copies(weight)[0].copy() for weight in self.model.weights]
                if self.step == 0:
                    found["initial_weight"] = _largest(self.before)
                found["weight_before"] = _largest(self.before)

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            """Note the first step after which anything is not finite."""
            self.step += 1
            loss = float((logs or {}).get("loss", 0.0))
            if self.step == 1:
                found["first_loss"] = loss
            if "step" not in found:
                bad = list(_bad_variables(self.model, logs or {}))
                if bad:
                    found.update(step=self.step, bad=bad)
                else:
                    found["last_loss"] = loss

    return Watcher()


def _bad_variables(net: Any, logs: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every kind of state that is not finite now, the first variable of each, with replica and aggregation."""
    for role, group in variables.by_role(net).items():
        for variable in group:
            held = variables.copies(variable)
            wrong = [n for n, copy in enumerate(held) if not np.isfinite(variables.as_float(copy)).all()]
            if wrong:
                yield {**variables.facts_of(role, variable), "replica": wrong[0], "replicas": len(held)}
                break
    for name, value in model.numbers(logs).items():
        if not np.isfinite(value):
            yield {"role": "log", "path": name, "replica": 0, "replicas": 1}
            break


def _largest(arrays: list[Any]) -> float:
    return max((float(np.max(np.abs(variables.as_float(a)), initial=0.0)) for a in arrays), default=0.0)


def _replay(request: dict[str, Any], trial: dict[str, Any], built: Any, watcher: Any) -> Iterator[dict[str, Any]]:
    """Run forward, loss, gradients of the bad step for each replica's share of its batch."""
    arguments = built.arguments
    found = built.facts["diagnosis"]
    step = found.get("step") or found.get("raised_in_step")
    if step is None or watcher.before is None or not hasattr(arguments.get("x"), "shape"):
        return
    library = built.library
    library.utils.set_random_seed(request["seed"])
    net = model.call(built.case.model, trial)
    for weight, value in zip(net.weights, watcher.before):  # noqa: B905 - Python 3.9
        weight.assign(value)
    size = int(arguments.get("batch_size") or 32)
    steps = -(-len(arguments["x"]) // size)
    start = (step - 1) % steps * size
    for replica, rows in enumerate(_shares(start, min(start + size, len(arguments["x"])), trial["replicas"])):
        yield {"replica": replica, "rows": len(rows), **_replay_share(library, net, built, arguments, rows)}


def _shares(start: int, stop: int, replicas: int) -> list[Any]:
    """How a strategy splits a batch: equal pieces, the last ones smaller or empty."""
    piece = -(-(stop - start) // replicas)
    return [np.arange(min(start + n * piece, stop), min(start + (n + 1) * piece, stop)) for n in range(replicas)]


def _replay_share(library: Any, net: Any, built: Any, arguments: dict[str, Any], rows: Any) -> dict[str, Any]:
    import tensorflow as tf

    x, y = (np.asarray(arguments[name])[rows] for name in ("x", "y"))
    told: dict[str, Any] = {"input_shape": list(x.shape)}
    try:
        with _first_bad_layer(library, told), tf.GradientTape(persistent=True) as tape:
            output = net(tf.convert_to_tensor(x), training=True)
            loss = tf.reduce_sum(tf.cast(_loss(net, x, y, output), "float32"))
            scaled = net.optimizer.scale_loss(loss) if hasattr(net.optimizer, "scale_loss") else loss
        told["loss"] = float(loss)
        names = [str(getattr(v, "path", v.name)) for v in net.trainable_variables]
        raw = [variables.raw_variable(v) for v in net.trainable_variables]
        told["gradient"] = _first_bad(names, tape.gradient(loss, raw))
        told["scaled_gradient"] = _first_bad(names, tape.gradient(scaled, raw))
    except Exception as error:
        told["error"] = f"{type(error).__name__}: {_one_line(str(error))}"
    bad = not np.isfinite(told.get("loss", 0.0)) or any(told.get(k) for k in ("layer", "gradient"))
    told.update(_first_bad_operation(net, built.case.__file__, x, y) if bad else {})
    return told


def _loss(net: Any, x: Any, y: Any, output: Any) -> Any:
    return net.compute_loss(x=x, y=y, y_pred=output, sample_weight=None)


def _first_bad(names: list[str], gradients: list[Any]) -> str | None:
    for name, gradient in zip(names, gradients):  # noqa: B905 - Python 3.9
        if gradient is not None and not np.isfinite(variables.as_float(np.asarray(gradient))).all():
            return name
    return None


@contextlib.contextmanager
def _first_bad_layer(library: Any, told: dict[str, Any]) -> Iterator[None]:
    """Note the first layer, innermost first, whose output is not finite."""
    kind = library.layers.Layer
    original = kind.__call__

    def watched(layer: Any, *args: Any, **kwargs: Any) -> Any:
        output = original(layer, *args, **kwargs)
        if "layer" not in told:
            for part in output if isinstance(output, (tuple, list)) else [output]:
                values = variables.as_float(part)
                if values.size and not np.isfinite(values).all():
                    told["layer"] = str(layer.name)
                    told["layer_kind"] = type(layer).__name__
                    told["layer_dtype"] = str(getattr(part, "dtype", ""))
                    break
        return output

    kind.__call__ = watched
    try:
        yield
    finally:
        kind.__call__ = original


def _first_bad_operation(net: Any, case_file: str, x: Any, y: Any) -> dict[str, Any]:
    """Name the operation that makes the first non-finite tensor, and the line of the case that asks for it."""
    import tensorflow as tf

    tf.debugging.enable_check_numerics()
    try:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.cast(_loss(net, x, y, net(tf.convert_to_tensor(x), training=True)), "float32"))
        tape.gradient(loss, [variables.raw_variable(v) for v in net.trainable_variables])
    except tf.errors.InvalidArgumentError as error:
        named = re.search(r'op "(\w+)"', str(error))
        lines = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == case_file]
        line = f"line {lines[-1].lineno}: {lines[-1].line}" if lines else ""
        return {"operation": named.group(1) if named else "", "line": line}
    except Exception:
        return {}
    finally:
        tf.debugging.disable_check_numerics()
    return {}


def _one_line(text: str) -> str:
    return _LINE.sub(" ", text)[:500]
