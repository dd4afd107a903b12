"""Watch one training, then repeat its first bad step piece by piece to find where the first bad value appears.

While it trains, a callback only reads: it keeps the weights before each step and notes the first step after which
something is not finite. That step is repeated afterwards (`step_replay`), so this cannot change what was observed.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..training import model, variables
from . import batches, step_replay

_LINE = re.compile(r"\s+")


def run(request: dict[str, Any], trial: dict[str, Any], facts: dict[str, Any], enter: Callable[[str], None]) -> None:
    """Run one watched trial of a model case; fills ``facts["diagnosis"]``."""
    timed = model.stopwatch(facts["durations"], enter)
    built = model.prepare(request, trial, facts, timed)
    found: dict[str, Any] = {"arrays": list(describe_data(built.arguments))}
    facts["diagnosis"] = found
    found["compute_dtype"], found["compute_max"] = _compute_dtype(built.net)
    found["optimizer"] = type(getattr(built.net, "optimizer", None)).__name__
    watcher = _watcher(built.library, found)
    try:
        model.train(built, timed, more_callbacks=[watcher])
    except Exception:
        if not watcher.trained:
            found["raised_in_step"] = watcher.step + 1
        raise
    finally:
        found["steps"] = watcher.step
        found["weights_finite"] = bool(facts.get("weights", {}).get("finite", True))
        started = time.monotonic()  # no stage of its own: a training that raised ended in "train"
        _repeat_bad_step(request, trial, built, watcher)
        facts["durations"]["replay"] = time.monotonic() - started


def describe_data(arguments: dict[str, Any], whose: str = "") -> Iterator[dict[str, Any]]:
    """For each array of ``fit`` (or of one batch): finite, the first row that is not, and the range of its values."""
    for name in ("x", "y", "sample_weight"):
        for part, array in _arrays(name, arguments.get(name)):
            values = array.astype("float64")
            finite = np.isfinite(values)
            rows = np.flatnonzero(~finite.reshape(len(values), -1).all(axis=1)) if values.size else np.zeros(0, int)
            good = np.abs(values[finite])
            yield {
                "name": part + whose,
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
        if array.ndim and (array.dtype.kind in "fiub" or array.dtype.name == "bfloat16"):
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
        trained = False
        before: step_replay.StateBefore | None = None

        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
            """Keep the weights as they are before the step."""
            with model.reading_model():
                if "step" not in found:
                    self.before = _before(self.model)
                    found["weight_before"] = _largest(self.before.weights)
                    found.setdefault("initial_weight", found["weight_before"])
                    found["loss_scale"] = self.before.loss_scale

        def on_train_end(self, logs: Any = None) -> None:
            """Note that what is raised from now on is raised elsewhere."""
            self.trained = True

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            """Note the first step after which anything is not finite."""
            with model.reading_model():
                self.step += variables.steps_per_call(self.model)
                loss = float((logs or {}).get("loss", 0.0))
                found.setdefault("first_loss", loss)
                if "step" not in found:
                    bad = list(_bad_variables(self.model, logs or {}))
                    found.update({"step": self.step, "bad": bad} if bad else {"last_loss": loss})

    return Watcher()


def _bad_variables(net: Any, logs: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every kind of state that is not finite now, the first variable of each, with replica and aggregation."""
    for role, group in variables.by_role(net).items():
        for variable in group:
            copies = variables.copies(variable)
            wrong = [n for n, copy in enumerate(copies) if not np.isfinite(variables.as_float(copy)).all()]
            if wrong:
                yield {**variables.facts_of(role, variable), "replica": wrong[0], "replicas": len(copies)}
                break
    for name, value in model.numbers(logs).items():
        if not np.isfinite(value):
            yield {"role": "log", "path": name, "replica": 0, "replicas": 1}
            break


def _largest(arrays: list[Any]) -> float:
    return max((float(np.max(np.abs(variables.as_float(a)), initial=0.0)) for a in arrays), default=0.0)


def _before(net: Any) -> step_replay.StateBefore:
    return step_replay.StateBefore([variables.copies(weight)[0].copy() for weight in net.weights], _loss_scale(net))


def _loss_scale(net: Any) -> float | None:
    """The scale that a loss-scale optimizer has found so far; None where the scale is fixed or there is none."""
    scale = getattr(getattr(net, "optimizer", None), "dynamic_scale", None)
    return None if scale is None else float(variables.as_float(variables.copies(scale)[0]))


def _repeat_bad_step(request: dict[str, Any], trial: dict[str, Any], built: model.Built, watcher: Any) -> None:
    """Repeat the bad step; where that cannot be done, the reason is noted as a fact and the trial goes on."""
    found = built.facts["diagnosis"]
    step = found.get("step") or found.get("raised_in_step")
    if step is None and not hasattr(getattr(built.net, "optimizer", None), "inner_optimizer"):
        return  # nothing is wrong, and no loss scaling that could be used wrongly
    why_not = ""
    before = watcher.before or _before(built.net)  # it may have raised on its way to the first step
    try:
        batch = batches.batch_of(built, step or watcher.step)
        if not found["arrays"]:
            found["arrays"] = list(describe_data(dict(zip(model.DATA, batch)), f" of step {step or watcher.step}"))  # noqa: B905
        shares = list(step_replay.shares(request, trial, built, batch, before))
        found["scaling"] = next((share["scaling"] for share in shares if share.get("scaling")), "")
        found["shares"] = shares if step else []
    except batches.CannotRepeatError as reason:
        why_not = str(reason)
    except Exception as error:
        why_not = f"{type(error).__name__}: {_LINE.sub(' ', str(error))[:300]}"
    found["not_replayed"] = why_not if step else ""
