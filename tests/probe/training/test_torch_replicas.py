"""The division of data and the bringing together of numbers among the processes of PyTorch."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from harness.probe.refusals import Refused
from harness.probe.training.torch_replicas import DataParallel, replication


def processes(count: int) -> list[DataParallel]:
    return [DataParallel(rank, count) for rank in range(count)]


@pytest.mark.parametrize(("count", "size", "replicas"), [(8, 4, 2), (10, 4, 2), (12, 6, 3), (4, 64, 2)])
def test_together_the_processes_see_every_batch_of_the_reference(count, size, replicas):
    x = np.arange(count)
    parts = [one.share({"x": x, "y": -x, "batch_size": size, "shuffle": False}) for one in processes(replicas)]
    own = size // replicas
    for batch in range(-(-count // size)):
        seen = np.concatenate([part["x"][batch * own : (batch + 1) * own] for part in parts])
        assert sorted(seen) == list(x[batch * size : (batch + 1) * size])
    assert all((part["y"] == -part["x"]).all() and part["batch_size"] == own for part in parts)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"x": np.zeros(8), "batch_size": 3}, "batches of 3 of 8 samples"),
        ({"x": np.zeros(9), "batch_size": 4}, "batches of 4 of 9 samples"),
        ({"x": np.zeros(8), "shuffle": True}, "not shuffled"),
        ({"x": iter(())}, "only arrays"),
    ],
)
def test_what_cannot_be_divided_is_refused(arguments, why):
    with pytest.raises(Refused, match=why):
        DataParallel(0, 2).share(arguments)


def test_numbers_are_averaged_and_copies_come_from_every_process(monkeypatch):
    gathered = {0: [{"loss": 1.0}, {"loss": 3.0}], 1: ["own", "other"]}
    monkeypatch.setattr(DataParallel, "_gathered", lambda _, value: gathered[0 if isinstance(value, dict) else 1])
    one, two = processes(2)
    assert one.combined({"loss": 1.0}) == {"loss": 2.0}
    assert (one.copies("own"), two.copies("other")) == (["own", "other"], ["other", "own"])


def test_without_gloo_there_are_no_processes(monkeypatch):
    distributed = SimpleNamespace(is_available=lambda: False)
    threads: list[int] = []
    cuda = SimpleNamespace(is_available=lambda: False)
    torch = SimpleNamespace(cuda=cuda, distributed=distributed, set_num_threads=threads.append)
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "torch.distributed", distributed)
    assert replication("none", 1).facts == {"choice": "one device", "names": ["cpu"]}
    assert threads == [1]
    with pytest.raises(Refused, match="gloo"):
        replication("mirrored", 2)
