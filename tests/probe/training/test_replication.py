"""Which module of which backend is asked for replicas."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from harness.probe.refusals import Refused
from harness.probe.training import replication


def test_one_device_changes_nothing():
    one = replication.Replication("one device", ["cpu"])
    with one.scope():
        one.built(None)
    arguments = {"x": [1]}
    assert one.share(arguments) is arguments
    assert one.combined({"loss": 0.5}) == {"loss": 0.5}
    assert one.copies("array") == ["array"]
    one.finish()
    assert one.facts == {"choice": "one device", "names": ["cpu"]}


@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_other_strategies_are_tensorflow_s(backend):
    with pytest.raises(Refused, match=f"'tpu' is one of TensorFlow: the backend {backend}"):
        replication.make(backend, "tpu", 8)


def test_tensorflow_has_its_strategy_and_a_model_outside_of_it_is_refused(monkeypatch):
    config = SimpleNamespace(list_physical_devices=lambda kind: ["gpu 0", "gpu 1"] if kind == "GPU" else [])
    distribute = SimpleNamespace(MirroredStrategy=lambda names: SimpleNamespace(scope=lambda: names))
    monkeypatch.setitem(sys.modules, "tensorflow", SimpleNamespace(config=config, distribute=distribute))
    made = replication.make("tensorflow", "mirrored", 2)
    assert str(made.scope()) == "['GPU:0', 'GPU:1']"
    made.built(SimpleNamespace(distribute_strategy=SimpleNamespace(num_replicas_in_sync=2)))
    with pytest.raises(Refused, match=r"trains on 1 replica\(s\), not on 2"):
        made.built(SimpleNamespace(distribute_strategy=SimpleNamespace(num_replicas_in_sync=1)))
