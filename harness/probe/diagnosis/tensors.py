"""Which operation makes the first tensor that is not finite, and which line of the case asks for it.

TensorFlow calls back after every operation that runs eagerly. Two things are noted: the first operation whose
inputs are finite and whose output is not, and the first that makes NaN of inputs without NaN. They differ where
infinity is made in one place and becomes NaN in another, as in a softmax over a row of -inf.
"""

from __future__ import annotations

import contextlib
import linecache
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..training import variables

_STATE = ("ReadVariableOp", "ResourceGather")  # they read a variable's value; nothing is computed
_RANK = {"": 0, "inf": 1, "nan": 2}


class OperationRecorder:
    """Notes two of the operations that run, each as (operation, line of the case), None while there is none.

    Attributes:
        first_nonfinite: The first whose inputs are finite and whose output is not.
        first_nan: The first that makes NaN of inputs without NaN.
    """

    def __init__(self, case_file: str) -> None:
        self.first_nonfinite: tuple[str, str] | None = None
        self.first_nan: tuple[str, str] | None = None
        self._case_file = case_file
        self._lines: dict[int, int] = {}  # by the identity of an output: the line of the case that asked for it
        self._alive: list[Any] = []  # an identity is one only while its tensor lives

    def __call__(
        self, op_type: Any, inputs: Sequence[Any], attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None
    ) -> None:
        """Note one operation; called by TensorFlow."""
        if graph is not None or (self.first_nonfinite and self.first_nan):
            return
        name = op_type.decode() if isinstance(op_type, bytes) else str(op_type)
        line, backward = self._where()
        if backward:
            line = next((self._lines[id(one)] for one in inputs if id(one) in self._lines), line)
        after = state(outputs)
        if after and name not in _STATE:
            before = state(inputs)
            if not before and self.first_nonfinite is None:
                self.first_nonfinite = (name, self._text(line))
            if after == "nan" and before != "nan" and self.first_nan is None:
                self.first_nan = (name, self._text(line))
        for one in outputs:
            self._lines[id(one)] = line
            self._alive.append(one)

    def _where(self) -> tuple[int, bool]:
        """The innermost line of the case, 0 without one, and whether a gradient is being computed."""
        frame, line, backward = sys._getframe(2), 0, False
        while frame is not None:
            code = frame.f_code
            if not line and code.co_filename == self._case_file:
                line = frame.f_lineno
            backward = backward or code.co_filename.endswith("backprop.py")
            frame = frame.f_back  # type: ignore[assignment]
        return line, backward

    def _text(self, line: int) -> str:
        return f"line {line}: {linecache.getline(self._case_file, line).strip()}" if line else ""


def state(tensors: Sequence[Any]) -> str:
    """Return the worst of what the tensors hold: "nan", "inf" or "" when all is finite."""
    return max((_state(one) for one in tensors), key=_RANK.__getitem__, default="")


def _state(tensor: Any) -> str:
    dtype = getattr(tensor, "dtype", None)
    if not (getattr(dtype, "is_floating", False) or getattr(dtype, "is_complex", False)):
        return ""
    try:
        values = np.asarray(tensor)
    except (TypeError, ValueError, NotImplementedError):
        return ""
    values = values if values.dtype.kind in "fc" else variables.as_float(values)
    if np.isnan(values).any():
        return "nan"
    return "" if np.isfinite(values).all() else "inf"


@contextlib.contextmanager
def record_operations(case_file: str) -> Iterator[OperationRecorder]:
    """Record the operations within the block; where TensorFlow cannot call back, nothing is noted."""
    recorder = OperationRecorder(case_file)
    try:
        from tensorflow.python.framework import op_callbacks
    except ImportError:
        yield recorder
        return
    op_callbacks.add_op_callback(recorder)
    try:
        yield recorder
    finally:
        op_callbacks.remove_op_callback(recorder)
