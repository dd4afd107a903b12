"""Several replicas on PyTorch: a process each on the CPU, ``DistributedDataParallel`` over gloo between them.

Keras trains with its own ``fit`` in every process, on that process's part of each batch; its forward pass goes
through the wrapper, which averages the gradients. Keras does not bring metrics together: here they are averaged.
"""

from __future__ import annotations

import datetime
import os
import tempfile
from typing import Any

from ..refusals import Refused
from .replication import Replication

ARRAYS = ("x", "y", "sample_weight")
PEER_SECONDS = 60.0  # that one process waits for another


def replication(strategy: str, replicas: int) -> Replication:
    """Become as many processes as there are replicas, which then all go the same way.

    Raises:
        Refused: this PyTorch has no gloo.
    """
    import torch
    from torch import distributed

    device = "cuda:0" if torch.cuda.is_available() else "cpu"
    if device == "cpu":
        torch.set_num_threads(1)  # of each replica, and of the reference alike
    if strategy == "none":
        return Replication("one device", [device])
    if device != "cpu" or not (distributed.is_available() and distributed.is_gloo_available()):
        raise Refused("replicas on PyTorch are processes on the CPU with gloo, which are not to be had here")
    meeting = os.path.join(tempfile.mkdtemp(), "meeting")  # noqa: PTH118
    rank = next((n for n in range(1, replicas) if os.fork() == 0), 0)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    distributed.init_process_group(
        "gloo",
        init_method=f"file://{meeting}",
        rank=rank,
        world_size=replicas,
        timeout=datetime.timedelta(seconds=PEER_SECONDS),
    )
    return DataParallel(rank, replicas)


class DataParallel(Replication):
    """One of the processes."""

    divides = True

    def __init__(self, rank: int, replicas: int) -> None:
        names = [f"cpu, process {n}" for n in range(replicas)]
        super().__init__("processes with gloo, DistributedDataParallel", names)
        self.rank, self.replicas = rank, replicas

    def built(self, net: Any) -> None:
        """Send the forward pass of each training step through the wrapper, whatever ``train_step`` does beside it."""
        import torch
        from torch.nn.parallel import DistributedDataParallel

        if not net.built:
            raise Refused("the model has no weights before it is trained: give it an input shape")
        wrapper = DistributedDataParallel(net)
        plain = type(net)
        inside = [False]
        told = bool(getattr(net, "_call_has_training_arg", True))

        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            if inside[0] or not torch.is_grad_enabled() or (told and not kwargs.get("training")):
                return plain.__call__(self, *args, **kwargs)
            inside[0] = True
            try:
                return wrapper(*args, **kwargs)
            finally:
                inside[0] = False

        object.__setattr__(net, "__class__", type(plain.__name__, (plain,), {"__call__": call}))

    def share(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """This process's rows of every batch."""
        import numpy as np

        if arguments.get("shuffle") or not all(isinstance(arguments[k], np.ndarray) for k in ARRAYS if k in arguments):
            raise Refused("only arrays that are not shuffled can be divided among processes")
        size, count = int(arguments.get("batch_size") or 32), len(arguments["x"])
        if size % self.replicas or count % size % self.replicas:
            raise Refused(f"batches of {size} of {count} samples cannot be divided among {self.replicas} processes")
        starts = range(0, count, size)
        parts = [np.array_split(np.arange(start, min(start + size, count)), self.replicas) for start in starts]
        rows = np.concatenate([part[self.rank] for part in parts])
        own = {name: arguments[name][rows] for name in ARRAYS if arguments.get(name) is not None}
        return {**arguments, **own, "batch_size": size // self.replicas}

    def combined(self, values: dict[str, float]) -> dict[str, float]:
        """The mean over the processes: their parts are of one size."""
        every = self._gathered(values)
        return {name: sum(one[name] for one in every) / len(every) for name in values}

    def copies(self, array: Any) -> list[Any]:
        """As every process has it, this one's first."""
        every = self._gathered(array)
        return [every[self.rank], *every[: self.rank], *every[self.rank + 1 :]]

    def finish(self) -> None:
        """Leave, unless this process writes the facts."""
        from torch import distributed

        distributed.barrier()
        if self.rank:
            os._exit(0)

    def _gathered(self, value: Any) -> list[Any]:
        from torch import distributed

        every: list[Any] = [None] * self.replicas
        distributed.all_gather_object(every, value)
        return every
