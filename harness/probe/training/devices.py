"""Which devices a trial gets: real GPUs, one GPU split, or logical CPU devices; TPU and several workers apart."""

from __future__ import annotations

from typing import Any

from ..refusals import Refused

LOGICAL_GPU_MEMORY_MB = 1024  # each slice of a split GPU; the cases of this project need far less


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
