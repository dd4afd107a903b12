"""What the variables of a model hold, replica by replica.

``get_weights()`` and ``numpy()`` of a mirrored variable show the first replica's copy only; here every copy
is read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

SAMPLE = 64  # values of each variable that are kept of a large model
METRIC_LIMIT = 256  # values of one metric: a score per class
VARIABLE_LIMIT = 400  # variables that are described one by one; ResNet50 with Adam has 642 optimizer variables


def copies(variable: Any) -> list[Any]:
    """Return the value of each replica's copy as an array."""
    raw = raw_variable(variable)
    parts = getattr(raw, "values", None)
    if isinstance(parts, (tuple, list)):
        return [np.asarray(part) for part in parts]
    if getattr(raw, "is_fully_replicated", False):  # an array of JAX that lies on several devices
        return [np.asarray(shard.data) for shard in raw.addressable_shards]
    return [_tensor(raw) if callable(getattr(raw, "detach", None)) else np.asarray(raw)]


def _tensor(tensor: Any) -> Any:
    """A tensor of PyTorch as an array; NumPy has no bfloat16."""
    plain = tensor.detach().cpu()
    return (plain.float() if str(plain.dtype) == "torch.bfloat16" else plain).numpy()


def raw_variable(variable: Any) -> Any:
    """Return the framework's variable behind a Keras one (Keras 3 wraps it, tf-keras does not)."""
    return getattr(variable, "_value", variable) if hasattr(variable, "_value") else variable


def named_weights(model: Any) -> Iterator[tuple[str, Any]]:
    """Yield (unique path, variable) for trainable and non-trainable weights."""
    seen: dict[str, int] = {}
    for weight in model.weights:
        path = str(getattr(weight, "path", None) or weight.name)
        seen[path] = seen.get(path, 0) + 1
        yield (path if seen[path] == 1 else f"{path}#{seen[path]}"), weight


@dataclass(frozen=True)
class InitialWeights:
    """The weights of a model before training: a hash of all of them, and a sample of each."""

    digest: str
    samples: dict[str, Any]


def initial_weights(model: Any) -> InitialWeights:
    """Note the weights as they are now; the hash is "" while the model has none."""
    hashed = hashlib.sha256()
    samples = {}
    for name, weight in named_weights(model):
        first = copies(weight)[0]
        hashed.update(np.ascontiguousarray(first).tobytes())
        samples[name] = sample(as_float(first))
    return InitialWeights(hashed.hexdigest()[:16] if samples else "", samples)


def sample(values: Any) -> Any:
    """Return at most `SAMPLE` values, evenly spaced."""
    flat = values.ravel()
    return flat[:: max(1, -(-flat.size // SAMPLE))]


def data_digest(data: Any) -> str:
    """Hash the arrays in nested data; "" when there is something else in it, which could only be read once."""
    hashed = hashlib.sha256()
    try:
        for array in _arrays(data):
            hashed.update(f"{array.dtype} {array.shape}".encode())
            hashed.update(np.ascontiguousarray(array).tobytes())
    except TypeError:
        return ""
    return hashed.hexdigest()[:16]


def _arrays(data: Any) -> Iterator[Any]:
    if isinstance(data, np.ndarray) and data.dtype != object:
        yield data
    elif isinstance(data, (dict, list, tuple)):
        for part in data.values() if isinstance(data, dict) else data:
            yield from _arrays(part)
    elif data is not None:
        raise TypeError(type(data).__name__)


def floats(value: Any) -> list[float]:
    """Return a metric's values as floats; none for what is no number."""
    if value is None or isinstance(value, (str, bytes)):
        return []
    try:
        return [float(part) for part in np.asarray(value).ravel()[:METRIC_LIMIT]]
    except (TypeError, ValueError):
        return []


def weights(
    model: Any, initial: InitialWeights | None, small: int, of_all: Callable[[Any], list[Any]] = lambda one: [one]
) -> dict[str, Any]:
    """Describe the weights: finite on all replicas, norms, differences between copies, values (a sample if many).

    `of_all` returns one copy as every process of the training has it.
    """
    arrays = [(name, [part for one in copies(weight) for part in of_all(one)]) for name, weight in named_weights(model)]
    before = initial.samples if initial else {}
    numeric = [(name, [as_float(copy) for copy in parts]) for name, parts in arrays]
    count = sum(parts[0].size for _, parts in arrays)
    spreads = {name: max(_distance(part, parts[0]) for part in parts) for name, parts in numeric}
    return {
        "count": count,
        "finite": all(bool(np.isfinite(part).all()) for _, parts in numeric for part in parts),
        "initial_digest": initial.digest if initial else "",
        "values": {n: (p[0].ravel() if count <= small else sample(p[0])).tolist() for n, p in numeric},
        "norms": {name: float(np.linalg.norm(parts[0].ravel())) for name, parts in numeric},
        "replica_spread": max(spreads.values(), default=0.0),
        "spreads": {name: spread for name, spread in spreads.items() if spread > 0},
        "moved": {n: _distance(sample(p[0]), before[n]) for n, p in numeric if n in before},
    }


def _distance(one: Any, other: Any) -> float:
    """Return the largest absolute difference; infinite where the shapes differ."""
    return float(np.max(np.abs(one - other), initial=0.0)) if one.shape == other.shape else float("inf")


def first_nonfinite(model: Any, small: int) -> tuple[str, float]:
    """Return (name, value) of the first weight that is not finite, or ("", 0.0); large models are skipped."""
    if model.count_params() > small:
        return "", 0.0
    for name, weight in named_weights(model):
        for copy in copies(weight):
            wrong = as_float(copy)[~np.isfinite(as_float(copy))]
            if wrong.size:
                return name, float(wrong[0])
    return "", 0.0


def by_role(model: Any) -> dict[str, list[Any]]:
    """Metric, model and optimizer variables."""
    optimizer = getattr(model, "optimizer", None)
    found = getattr(optimizer, "variables", [])
    return {
        "metric": [v for metric in model.metrics for v in metric.variables],
        "model": list(model.weights),
        "optimizer": list(found() if callable(found) else found),
    }


def describe(model: Any) -> list[dict[str, Any]]:
    """Describe all variables: dtype, aggregation, synchronization, copies of scalars."""
    return [facts_of(role, v) for role, group in by_role(model).items() for v in group[:VARIABLE_LIMIT]]


def iterations(model: Any) -> int | None:
    """Return the optimizer's step counter."""
    counter = getattr(getattr(model, "optimizer", None), "iterations", None)
    return None if counter is None else int(copies(counter)[0])


def steps_per_call(model: Any) -> int:
    """How many training steps one call of the graph makes: a number in Keras 3, a variable in tf-keras."""
    number = getattr(model, "steps_per_execution", None)
    return 1 if number is None else int(copies(number)[0])


def facts_of(role: str, variable: Any) -> dict[str, Any]:
    """Describe one variable."""
    raw = raw_variable(variable)
    shape = [int(size) for size in variable.shape]
    return {
        "path": str(getattr(variable, "path", None) or variable.name),
        "role": role,
        "dtype": str(getattr(raw.dtype, "name", raw.dtype)).replace("torch.", ""),
        "shape": shape,
        "keras_aggregation": _keras_aggregation(variable, raw),
        "aggregation": _name(getattr(raw, "aggregation", None)),
        "synchronization": _name(getattr(raw, "synchronization", None)),
        "copies": [float(as_float(copy).ravel()[0]) for copy in copies(variable)] if not shape else [],
    }


def _keras_aggregation(variable: Any, raw: Any) -> str | None:
    """Return what Keras itself says; absent before 3.7.0 and in tf-keras."""
    value = None if raw is variable else getattr(variable, "aggregation", None)
    return None if value is None else str(value)


def _name(value: Any) -> str | None:
    return None if value is None else str(getattr(value, "name", value))


def as_float(values: Any) -> Any:
    """Return the array as float64 (bfloat16 and integers included)."""
    try:
        return np.asarray(values).astype("float64")
    except (TypeError, ValueError):
        return np.zeros(0)
