"""The tiny training that comes first, with small libraries that train for real, or fail to."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from harness.probe.refusals import Refused
from harness.probe.training import canary


class Line:
    """y = w * x, trained by plain gradient descent."""

    def __init__(self, rate: float) -> None:
        self.rate, self.weight = rate, 0.0

    def compile(self, optimizer: str, loss: str) -> None:
        assert (optimizer, loss) == ("sgd", "mse")

    def fit(self, x, y, batch_size, epochs, verbose):
        losses = []
        for start in range(0, len(x), batch_size):
            inputs, targets = x[start : start + batch_size].astype(float), y[start : start + batch_size]
            error = self.weight * inputs - targets
            losses.append(float(np.mean(error**2)))
            self.weight -= self.rate * float(np.mean(2 * error * inputs))
        return SimpleNamespace(history={"loss": [float(np.mean(losses))]})


def library(rate: float) -> SimpleNamespace:
    layers = SimpleNamespace(Input=lambda shape: shape, Dense=lambda units: units)
    return SimpleNamespace(layers=layers, Sequential=lambda _: Line(rate))


@pytest.fixture
def run(monkeypatch):
    """Run the canary with a library; returns the facts and the stages that were entered."""

    def with_library(module):
        monkeypatch.setitem(sys.modules, "small_library", module)
        facts: dict[str, Any] = {}
        stages: list[str] = []
        canary.run({"import_name": "small_library"}, {}, facts, stages.append)
        return facts, stages

    return with_library


def test_one_weight_is_trained_for_two_steps(run):
    facts, stages = run(library(0.25))
    assert facts == {"final": {"loss": pytest.approx((1.0 + 0.25) / 2)}}
    assert stages == ["import", "load", "train"]


def test_what_lies_below_is_imported_first_and_refused_where_that_fails(monkeypatch, tmp_path):
    (tmp_path / "small_below.py").write_text("raise OSError('libsmall.so')")
    monkeypatch.syspath_prepend(str(tmp_path))
    stages: list[str] = []
    request = {"import_name": "small_library", "prerequisites": ["small_below"]}
    with pytest.raises(Refused, match="cannot be imported: import small_below: OSError: libsmall"):
        canary.run(request, {}, {}, stages.append)
    assert stages == ["import"]


def test_it_has_the_backend_of_the_case(run, monkeypatch):
    monkeypatch.setenv("KERAS_BACKEND", "tensorflow")
    monkeypatch.setitem(sys.modules, "small_library", SimpleNamespace())
    canary.run({"import_name": "small_library", "backend": "jax"}, {}, {}, lambda _: None)
    assert os.environ["KERAS_BACKEND"] == "jax"


def test_a_loss_that_is_not_finite_is_a_failure(run):
    with pytest.raises(ArithmeticError, match="the loss of a tiny one-replica training is inf"):
        run(library(float("inf")))


def test_keras_may_lie_inside_another_library(run):
    assert run(SimpleNamespace(keras=library(0.25)))[0] == run(library(0.25))[0]


def test_a_package_that_trains_nothing_has_been_imported_and_that_has_to_do(run):
    assert run(SimpleNamespace())[0] == {}


def test_what_the_library_raises_is_not_caught(run):
    broken = library(0.25)
    del broken.layers.Dense
    with pytest.raises(AttributeError):
        run(broken)
