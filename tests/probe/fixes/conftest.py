"""What the fixes patch, in the place of Keras and TensorFlow; ``tests/e2e/test_probe_real.py`` has the real ones."""

from __future__ import annotations

import sys
from enum import Enum
from types import ModuleType
from typing import Any

import pytest


class VariableAggregation(Enum):
    """TensorFlow's four ways to aggregate."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3


class VariableSynchronization(Enum):
    """Two of TensorFlow's ways to synchronize."""

    AUTO = 0
    ON_READ = 3


class TensorFlowVariable:
    """Keeps what it is made with, and makes its value as TensorFlow does."""

    def __init__(self, value: Any, **settings: Any) -> None:
        self.value = value() if callable(value) else value
        self.settings = settings


class Backend:
    """The backend's module `core`, with the class `Variable` of one generation of releases."""

    aggregations = ("none", "sum", "mean", "only_first_replica")

    def __init__(self) -> None:
        self.core = ModuleType("keras.src.backend.tensorflow.core")

    def release(self, *, maps: bool, synchronizes: bool = False) -> None:
        """Make the class anew: 3.7.0 to 3.9.2 map aggregations, 3.10.0 and later synchronizations too."""

        class Variable:
            """Keras's variable over one of TensorFlow."""

            def __init__(self, aggregation: str, shape: tuple[int, ...] = (2,)) -> None:
                self.aggregation, self._shape, self._dtype = aggregation, shape, "float32"
                self.trainable, self.name = True, "v"
                self._value: Any = None

        if maps:
            Variable._map_aggregation = lambda self, aggregation: {  # type: ignore[attr-defined]
                name: VariableAggregation[name.upper()] for name in Backend.aggregations
            }[aggregation]
        if synchronizes:
            Variable._map_synchronization = lambda self, name: VariableSynchronization.AUTO  # type: ignore[attr-defined]
        self.core.Variable = Variable  # type: ignore[attr-defined]

    @property
    def variable(self) -> Any:
        """The class as it is now."""
        return self.core.Variable

    @property
    def mapping(self) -> dict[str, str]:
        """What each aggregation becomes."""
        return {name: self.variable(name)._map_aggregation(name).name for name in self.aggregations}


HEALTHY = {"none": "NONE", "sum": "SUM", "mean": "MEAN", "only_first_replica": "ONLY_FIRST_REPLICA"}


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> Backend:
    """The backend of a release that maps aggregations."""
    made = Backend()
    made.release(maps=True)
    tensorflow = ModuleType("tensorflow")
    for kind in (VariableAggregation, VariableSynchronization):
        setattr(tensorflow, kind.__name__, kind)
    tensorflow.Variable = TensorFlowVariable  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tensorflow", tensorflow)
    for name in ("keras", "keras.src", "keras.src.backend", "keras.src.backend.tensorflow"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    sys.modules["keras.src.backend.tensorflow"].core = made.core  # type: ignore[attr-defined]
    return made
