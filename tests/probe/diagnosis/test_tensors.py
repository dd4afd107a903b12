"""The operation that makes the first value that is not finite, and the line that asks for it."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from harness.probe.diagnosis import tensors
from tests.probe.diagnosis import small_framework
from tests.probe.diagnosis.small_framework import Tensor, log, operation

NAN, INF = float("nan"), float("inf")


def tensor(*values: float) -> Tensor:
    return Tensor(np.array(values, "float32"))


@pytest.fixture
def framework(monkeypatch):
    return small_framework.library(monkeypatch)


class TestState:
    @pytest.mark.parametrize(
        ("values", "expected"),
        [
            ((), ""),
            ((tensor(1.0),), ""),
            ((tensor(1.0), tensor(-INF)), "inf"),
            ((tensor(INF), tensor(NAN), tensor(1.0)), "nan"),
            ((tensor(INF, NAN),), "nan"),
            ((Tensor(np.array([complex(1, INF)])),), "inf"),
            ((Tensor(np.array([2**62])),), ""),
        ],
    )
    def test_the_worst_counts(self, values, expected):
        assert tensors.state(values) == expected

    def test_what_has_no_floating_type_is_never_wrong(self):
        assert tensors.state([object(), None, np.array([NAN])]) == ""

    def test_what_cannot_be_read_is_never_wrong(self):
        """The tensors of a graph have no values."""

        class Symbolic:
            dtype = SimpleNamespace(is_floating=True)

            def __array__(self, dtype=None, copy=None):
                raise NotImplementedError

        assert tensors.state([Symbolic()]) == ""


class TestOperations:
    def test_infinity_and_nan_may_come_from_two_places(self, framework):
        with tensors.record_operations(__file__) as found:
            infinite = log(tensor(0.0))
            infinite - infinite
        assert found.first_nonfinite == ("Log", "line " + self.line_of("infinite = log(tensor(0.0))"))
        assert found.first_nan == ("Sub", "line " + self.line_of("infinite - infinite"))

    def line_of(self, text: str) -> str:
        lines = [line.strip() for line in open(__file__, encoding="utf-8")]  # noqa: PTH123, SIM115
        return f"{lines.index(text) + 1}: {text}"

    def test_nan_at_once_is_both(self, framework):
        with tensors.record_operations(__file__) as found:
            log(tensor(-1.0))
        assert found.first_nonfinite == found.first_nan
        assert found.first_nan is not None

    def test_what_comes_after_the_first_is_not_noted(self, framework):
        with tensors.record_operations(__file__) as found:
            log(tensor(-1.0))
            tensor(1.0) / tensor(0.0)
        assert {made[0] for made in (found.first_nonfinite, found.first_nan) if made} == {"Log"}

    def test_an_operation_on_what_is_not_finite_already_is_not_the_first(self, framework):
        with tensors.record_operations(__file__) as found:
            tensor(INF) * tensor(2.0)
        assert (found.first_nonfinite, found.first_nan) == (None, None)

    def test_reading_a_variable_makes_nothing(self, framework):
        with tensors.record_operations(__file__) as found:
            operation("ReadVariableOp", lambda _: np.array([NAN], "float32"), tensor(1.0))
        assert (found.first_nonfinite, found.first_nan) == (None, None)

    def test_a_finite_computation_leaves_nothing(self, framework):
        with tensors.record_operations(__file__) as found:
            log(tensor(1.0))
        assert (found.first_nonfinite, found.first_nan) == (None, None)

    def test_without_a_line_of_the_case_the_operation_is_named_alone(self, framework):
        with tensors.record_operations("/no/such/case.py") as found:
            log(tensor(0.0))
        assert found.first_nonfinite == ("Log", "")

    def test_a_gradient_has_the_line_of_the_operation_that_it_belongs_to(self, framework, tmp_path):
        """A gradient is computed long after the forward pass, where no line of it is on the stack any more."""
        with tensors.record_operations(__file__) as found:
            root = operation("Sqrt", np.sqrt, tensor(0.0))
            backprop = compile("made = backward(root)", "/tensorflow/backprop.py", "exec")
            half = tensor(0.5)
            exec(backprop, {"root": root, "backward": lambda one: operation("SqrtGrad", np.divide, half, one)})
        assert found.first_nonfinite == (
            "SqrtGrad",
            "line " + self.line_of('root = operation("Sqrt", np.sqrt, tensor(0.0))'),
        )

    def test_operations_that_are_built_into_a_graph_are_not_read(self):
        recorder = tensors.OperationRecorder(__file__)
        recorder("Log", (), (), (tensor(INF),), graph=object())
        assert recorder.first_nonfinite is None


def test_after_the_block_nothing_is_called_back(framework):
    with pytest.raises(ZeroDivisionError), tensors.record_operations(__file__):
        raise ZeroDivisionError
    assert small_framework.CALLBACKS == []


def test_where_tensorflow_cannot_call_back_nothing_is_noted(framework, monkeypatch):
    monkeypatch.delattr(sys.modules["tensorflow.python.framework"], "op_callbacks")
    with tensors.record_operations(__file__) as found:
        log(tensor(0.0))
    assert found.first_nonfinite is None
