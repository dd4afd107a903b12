"""What the variables of a model hold, replica by replica.

``get_weights()`` and ``numpy()`` of a mirrored variable show the first replica's copy only; here every copy
is read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np

VARIABLE_LIMIT = 400  # variables that are described one by one; ResNet50 with Adam has 642 optimizer variables


def copies(variable: Any) -> list[Any]:
    """Return the value of each replica's copy as an array."""
    raw = raw_variable(variable)
    parts = getattr(raw, "values", None)
    parts = parts if isinstance(parts, (tuple, list)) else [raw]
    return [np.asarray(part) for part in parts]


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


def digest(model: Any) -> str:
    """Hash the first copies of all weights."""
    hashed = hashlib.sha256()
    for _, weight in named_weights(model):
        hashed.update(np.ascontiguousarray(copies(weight)[0]).tobytes())
    return hashed.hexdigest()[:16]


def weights(model: Any, initial_digest: str, small: int) -> dict[str, Any]:
    """Describe the weights: finite on all replicas, norms, largest spread between copies, values if few."""
    held = [(name, copies(weight)) for name, weight in named_weights(model)]
    numeric = [(name, [as_float(copy) for copy in parts]) for name, parts in held]
    count = sum(parts[0].size for _, parts in held)
    spread = [float(np.max(np.abs(part - parts[0]), initial=0.0)) for _, parts in numeric for part in parts[1:]]
    return {
        "count": count,
        "finite": all(bool(np.isfinite(part).all()) for _, parts in numeric for part in parts),
        "initial_digest": initial_digest,
        "values": {name: parts[0].ravel().tolist() for name, parts in numeric} if count <= small else None,
        "norms": {name: float(np.linalg.norm(parts[0].ravel())) for name, parts in numeric},
        "replica_spread": max(spread, default=0.0),
    }


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


def facts_of(role: str, variable: Any) -> dict[str, Any]:
    """Describe one variable."""
    raw = raw_variable(variable)
    shape = [int(size) for size in variable.shape]
    return {
        "path": str(getattr(variable, "path", None) or variable.name),
        "role": role,
        "dtype": str(getattr(raw.dtype, "name", raw.dtype)),
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
