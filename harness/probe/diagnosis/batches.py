"""The batch that a training step had, found again after the training, as nested arrays."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..training import model, variables


class CannotRepeatError(Exception):
    """The step cannot be repeated, mostly because its batch cannot be known; the text says why."""


def batch_of(built: model.Built, step: int) -> tuple[Any, ...]:
    """The batch of a step, from 1: (x,), (x, y) or (x, y, sample_weight), each nested arrays.

    Raises:
        CannotRepeatError: the batches have no order that could be known, or are of a kind that is not known.
    """
    arguments = built.load_data() if hasattr(built.arguments.get("x"), "__next__") else built.arguments
    x: Any = arguments.get("x")
    if variables.steps_per_call(built.net) > 1:
        raise CannotRepeatError("several steps are executed in one call: set steps_per_execution=1 to see which is bad")
    if _is_arrays(x):
        return _batch_of_arrays(built.library, arguments, step)
    if hasattr(x, "__getitem__") and hasattr(x, "__len__"):
        if arguments.get("shuffle"):
            raise CannotRepeatError("fit shuffles the batches: set shuffle=False")
        return _unpacked(x[(step - 1) % len(x)])
    if not hasattr(x, "__iter__"):
        raise CannotRepeatError(f"x is a {type(x).__name__}")
    first, again = _nth(built, arguments, step), _nth(built, arguments, step)
    if not _equal(first, again):
        raise CannotRepeatError("the dataset gives other batches each time: give its shuffle a seed or leave it out")
    return first


def _nth(built: model.Built, arguments: dict[str, Any], step: int) -> tuple[Any, ...]:
    """The batch of a step from what can only be iterated; a dataset that ends begins anew with each epoch."""
    x = arguments["x"]
    if hasattr(x, "__next__"):
        endless: Iterator[Any] = iter(built.load_data()["x"])
    else:
        endless = itertools.chain.from_iterable(itertools.repeat(x))
    found = next(itertools.islice(endless, step - 1, step), None)
    if found is None:
        raise CannotRepeatError("the data ends before the bad step")
    return _unpacked(found)


def _unpacked(element: Any) -> tuple[Any, ...]:
    parts = element if isinstance(element, tuple) else (element,)
    return tuple(each(np.asarray, part) for part in parts if part is not None)


def _batch_of_arrays(library: Any, arguments: dict[str, Any], step: int) -> tuple[Any, ...]:
    if arguments.get("shuffle"):
        raise CannotRepeatError("fit shuffles the samples: set shuffle=False")
    if arguments.get("steps_per_epoch"):
        raise CannotRepeatError("steps_per_epoch beside arrays: leave it out")
    count = int(rows(arguments["x"]) * (1.0 - float(arguments.get("validation_split") or 0.0)))
    size = int(arguments.get("batch_size") or 32)
    start = (step - 1) % -(-count // size) * size
    floatx = library.config.floatx() if hasattr(library, "config") else "float32"

    def cut(array: Any) -> Any:
        part = np.asarray(array)[start : min(start + size, count)]
        return part.astype(floatx) if part.dtype.kind == "f" else part  # as fit does

    return tuple(each(cut, arguments[name]) for name in model.DATA if arguments.get(name) is not None)


def _is_arrays(value: Any) -> bool:
    found = list(leaves(value))
    return bool(found) and all(hasattr(one, "shape") and hasattr(one, "__getitem__") for one in found)


def each(function: Callable[[Any], Any], value: Any) -> Any:
    """Apply a function to every leaf of nested dicts, lists and tuples."""
    if isinstance(value, dict):
        return {key: each(function, part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(each(function, part) for part in value)
    return function(value)


def leaves(value: Any) -> Iterator[Any]:
    """The arrays in nested dicts, lists and tuples."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from leaves(part)
    elif value is not None:
        yield value


def _equal(one: Any, other: Any) -> bool:
    pairs = itertools.zip_longest(leaves(one), leaves(other))
    return all(a is not None and b is not None and a.dtype == b.dtype and a.tobytes() == b.tobytes() for a, b in pairs)


def rows(x: Any) -> int:
    """How many samples an input has."""
    first = next(leaves(x))
    if not getattr(first, "shape", ()):
        raise CannotRepeatError("the batch has no samples that could be split")
    return int(first.shape[0])
