"""Replicas on TensorFlow: real GPUs, one GPU split, or logical CPU devices; TPU and several workers apart."""

from __future__ import annotations

import contextlib
from typing import Any

from ..refusals import Refused
from .replication import Replication

LOGICAL_GPU_MEMORY_MB = 1024  # each slice of a split GPU; the cases of this project need far less


class Strategy(Replication):
    """A strategy of ``tf.distribute``: one process, and copies of each variable that TensorFlow keeps equal."""

    def __init__(self, strategy: Any, facts: dict[str, Any], replicas: int) -> None:
        super().__init__(facts["choice"], facts["names"])
        self._strategy, self._replicas = strategy, replicas

    def scope(self) -> contextlib.AbstractContextManager[Any]:
        """The scope of the strategy, where there is one."""
        found: contextlib.AbstractContextManager[Any] = (
            contextlib.nullcontext() if self._strategy is None else self._strategy.scope()
        )
        return found

    def built(self, net: Any) -> None:
        """A model that was built outside the scope trains on one device, and proves nothing about a strategy."""
        strategy = getattr(net, "distribute_strategy", None)
        seen = getattr(strategy, "num_replicas_in_sync", self._replicas)
        if seen != self._replicas:
            raise Refused(
                f"the model trains on {seen} replica(s), not on {self._replicas}: model() must build and compile it, "
                "inside the scope that it is called in"
            )


def replication(strategy: str, replicas: int) -> Replication:
    """Configure devices and build the strategy; raises as `make` does."""
    return Strategy(*make(strategy, replicas), replicas)


def make(strategy: str, replicas: int) -> tuple[Any, dict[str, Any]]:
    """Configure devices and build the strategy.

    Returns:
        The strategy (None for ``none``) and the facts of the choice: `choice` and `names`.

    Raises:
        Refused: the strategy cannot be had on this machine.
    """
    import tensorflow as tf

    if strategy == "none":
        return None, {"choice": "one device", "names": [_default_device(tf)]}
    if strategy == "mirrored":
        choice, names = _mirrored_devices(tf, replicas)
        return tf.distribute.MirroredStrategy(names), {"choice": choice, "names": names}
    if strategy == "tpu":
        return _tpu(tf)
    raise Refused(f"the strategy {strategy!r} is not a strategy of one process")


def _default_device(tf: Any) -> str:
    return "GPU:0" if tf.config.list_physical_devices("GPU") else "CPU:0"


def _mirrored_devices(tf: Any, replicas: int) -> tuple[str, list[str]]:
    gpus = tf.config.list_physical_devices("GPU")
    if len(gpus) >= replicas:
        return "physical GPUs", [f"GPU:{n}" for n in range(replicas)]
    kind, devices = ("GPU", gpus) if gpus else ("CPU", tf.config.list_physical_devices("CPU"))
    slices = [
        tf.config.LogicalDeviceConfiguration(memory_limit=LOGICAL_GPU_MEMORY_MB)
        if kind == "GPU"
        else tf.config.LogicalDeviceConfiguration()
        for _ in range(replicas)
    ]
    try:
        tf.config.set_logical_device_configuration(devices[0], slices)
    except (RuntimeError, ValueError) as error:
        raise Refused(f"the {kind} cannot be split into {replicas} logical devices: {error}") from error
    return f"logical {kind} devices", [f"{kind}:{n}" for n in range(replicas)]


def _tpu(tf: Any) -> tuple[Any, dict[str, Any]]:
    """Connect to the TPU with its whole initialisation; without it the first operation hangs."""
    try:
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver()
        tf.config.experimental_connect_to_cluster(resolver)
        tf.tpu.experimental.initialize_tpu_system(resolver)
    except (ValueError, RuntimeError, tf.errors.OpError) as error:
        raise Refused(f"no TPU answers: {error}") from error
    names = [device.name for device in tf.config.list_logical_devices("TPU")]
    return tf.distribute.TPUStrategy(resolver), {"choice": "TPU", "names": names}
