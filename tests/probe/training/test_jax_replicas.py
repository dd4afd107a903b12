"""Devices of JAX, with a stand-in that has those which its flag asks for; what it trains is measured with real Keras."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace

import pytest

from harness.probe.refusals import Refused
from harness.probe.training import jax_replicas


@pytest.fixture
def world(monkeypatch):
    """Puts JAX and Keras in place; JAX that was used before has one device whatever the flag says."""

    def put(*, used: bool = False, distribution: bool = True):
        def devices(kind: str = "cpu"):
            flag = os.environ["XLA_FLAGS"].rpartition("=")[2]
            return [SimpleNamespace(platform=kind)] * (1 if used else int(flag))

        placed: list[list[str]] = []
        parts = SimpleNamespace(DataParallel=lambda devices: devices, set_distribution=placed.append)
        keras = SimpleNamespace(distribution=parts) if distribution else SimpleNamespace()
        monkeypatch.setitem(sys.modules, "jax", SimpleNamespace(devices=devices))
        monkeypatch.setitem(sys.modules, "keras", keras)
        return placed

    monkeypatch.setenv("XLA_FLAGS", f"--xla_own=1 {jax_replicas.FLAG}7")
    return put


def test_the_reference_has_one_device(world):
    placed = world()
    assert jax_replicas.replication("none", 1).facts == {"choice": "one device", "names": ["cpu:0"]}
    assert (placed, os.environ["XLA_FLAGS"]) == ([], f"--xla_own=1 {jax_replicas.FLAG}1")


def test_several_replicas_are_devices_of_the_host(world):
    placed = world()
    made = jax_replicas.replication("mirrored", 2)
    assert placed == [["cpu:0", "cpu:1"]]
    assert made.facts["choice"] == "host platform devices, keras.distribution.DataParallel"
    on_both = SimpleNamespace(_value=SimpleNamespace(addressable_shards=(1, 2)))
    made.built(SimpleNamespace(weights=[on_both]))
    with pytest.raises(Refused, match=r"lies on 1 device\(s\), not on 2"):
        made.built(SimpleNamespace(weights=[SimpleNamespace(_value=SimpleNamespace(addressable_shards=(1,)))]))


def test_devices_that_are_not_there_are_refused(world):
    world(used=True)
    with pytest.raises(Refused, match=r"JAX has 1 cpu device\(s\), and 2 are needed"):
        jax_replicas.replication("mirrored", 2)


def test_a_keras_without_distribution_is_refused(world):
    world(distribution=False)
    with pytest.raises(Refused, match=r"no keras\.distribution\.DataParallel"):
        jax_replicas.replication("mirrored", 2)
