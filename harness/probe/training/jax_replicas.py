"""Several replicas on JAX: ``keras.distribution.DataParallel`` over GPUs, or over devices of the host's CPU."""

from __future__ import annotations

import os
from typing import Any

from ..refusals import Refused
from .replication import Replication

FLAG = "--xla_force_host_platform_device_count="


def replication(strategy: str, replicas: int) -> Replication:
    """Choose devices and set Keras's distribution before anything is built.

    Raises:
        Refused: there are too few devices, or this Keras has no ``DataParallel``.
    """
    wanted = 1 if strategy == "none" else replicas
    flags = [flag for flag in os.environ.get("XLA_FLAGS", "").split() if not flag.startswith(FLAG)]
    os.environ["XLA_FLAGS"] = " ".join([*flags, f"{FLAG}{wanted}"])  # read with the first operation
    import jax

    devices = jax.devices()
    if len(devices) < wanted:
        devices = jax.devices("cpu")
    kind = devices[0].platform
    if strategy == "none":
        return Replication("one device", [f"{kind}:0"])
    if len(devices) < wanted:
        raise Refused(f"JAX has {len(devices)} {kind} device(s), and {wanted} are needed: it was used before")
    names = [f"{kind}:{n}" for n in range(wanted)]
    _distribute(names)
    how = "host platform devices" if kind == "cpu" else f"physical {kind.upper()}s"
    return DataParallel(f"{how}, keras.distribution.DataParallel", names)


def _distribute(names: list[str]) -> None:
    import keras

    parallel = getattr(getattr(keras, "distribution", None), "DataParallel", None)
    if parallel is None:
        raise Refused("this Keras has no keras.distribution.DataParallel")
    keras.distribution.set_distribution(parallel(devices=names))


class DataParallel(Replication):
    """One process that lays each batch over its devices."""

    def built(self, net: Any) -> None:
        """Refuse a model that does not lie on every device: it would prove nothing about several."""
        held = [len(getattr(getattr(w, "_value", None), "addressable_shards", ())) for w in net.weights]
        if held and max(held) != len(self.facts["names"]):
            raise Refused(f"the model lies on {max(held)} device(s), not on {len(self.facts['names'])}")
