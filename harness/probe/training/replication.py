"""How a trial comes to several replicas: each backend has a module that is asked for a `Replication`."""

from __future__ import annotations

import contextlib
import importlib
from typing import Any

from ..refusals import Refused

MODULES = {
    "tensorflow": ".devices",
    "jax": ".jax_replicas",
    "torch": ".torch_replicas",
}
"""The module of each backend; imported late, because it imports the framework."""


class Replication:
    """One device and no strategy: the reference. What a backend does otherwise, it overrides.

    Attributes:
        facts: What the trial runs on.
        divides: Whether each process trains on its own part of the data.
    """

    divides = False

    def __init__(self, choice: str, names: list[str]) -> None:
        self.facts: dict[str, Any] = {"choice": choice, "names": names}

    def scope(self) -> contextlib.AbstractContextManager[Any]:
        """Where the model is built."""
        return contextlib.nullcontext()

    def built(self, net: Any) -> None:
        """Take the compiled model."""

    def share(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments of ``fit`` in this process."""
        return arguments

    def combined(self, values: dict[str, float]) -> dict[str, float]:
        """Metrics of all processes as one."""
        return values

    def copies(self, array: Any) -> list[Any]:
        """One variable as every process has it, this one's copy first; asked for in every process alike."""
        return [array]

    def finish(self) -> None:
        """The training is over; only the process that writes the facts returns."""


def make(backend: str, strategy: str, replicas: int) -> Replication:
    """Configure devices for a trial.

    Args:
        backend: Backend of Keras.
        strategy: As the case names it; ``none`` is one device.
        replicas: Number of replicas.

    Raises:
        Refused: it cannot be had on this machine, or not with this backend.
    """
    if backend != "tensorflow" and strategy not in ("none", "mirrored"):
        raise Refused(f"the strategy {strategy!r} is one of TensorFlow: the backend {backend} has none of that name")
    module = importlib.import_module(MODULES[backend], __package__)
    made: Replication = module.replication(strategy, replicas)
    return made
