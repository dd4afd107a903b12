"""The choice of devices, with a stand-in for TensorFlow that has the devices of one machine."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from harness.probe.refusals import Refused
from harness.probe.training import devices


class Machine:
    """What TensorFlow says of a machine; like it, devices cannot be split once they are in use."""

    def __init__(self, gpus: int = 0, *, in_use: bool = False) -> None:
        self.devices = {"GPU": [f"gpu {n}" for n in range(gpus)], "CPU": ["cpu 0"]}
        self.in_use = in_use
        self.split: tuple[str, list[float | None]] | None = None
        self.config = SimpleNamespace(
            list_physical_devices=self.devices.__getitem__,
            LogicalDeviceConfiguration=lambda memory_limit=None: memory_limit,
            set_logical_device_configuration=self.divide,
        )
        self.distribute = SimpleNamespace(
            MirroredStrategy=lambda names: ("mirrored", names),
            cluster_resolver=SimpleNamespace(TPUClusterResolver=self.resolve),
        )
        self.errors = SimpleNamespace(OpError=ArithmeticError)

    def divide(self, device: str, slices: list[float | None]) -> None:
        if self.in_use:
            raise RuntimeError("Virtual devices cannot be modified after being initialized")
        self.split = device, slices

    def resolve(self) -> None:
        raise ValueError("Please provide a TPU Name to connect to.")


@pytest.fixture
def machine(monkeypatch):
    """Puts a machine in the place of TensorFlow's."""

    def put(*args, **kwargs):
        made = Machine(*args, **kwargs)
        monkeypatch.setitem(sys.modules, "tensorflow", made)
        return made

    return put


@pytest.mark.parametrize(("gpus", "name"), [(0, "CPU:0"), (1, "GPU:0"), (4, "GPU:0")])
def test_without_a_strategy_it_is_the_first_device(machine, gpus, name):
    made = machine(gpus)
    assert devices.make("none", 1) == (None, {"choice": "one device", "names": [name]})
    assert made.split is None


def test_enough_gpus_are_used_as_they_are(machine):
    made = machine(3)
    strategy, facts = devices.make("mirrored", 2)
    assert strategy == ("mirrored", ["GPU:0", "GPU:1"])
    assert facts == {"choice": "physical GPUs", "names": ["GPU:0", "GPU:1"]}
    assert made.split is None


def test_one_gpu_is_split_and_each_part_has_its_memory(machine):
    made = machine(1)
    _, facts = devices.make("mirrored", 2)
    assert facts == {"choice": "logical GPU devices", "names": ["GPU:0", "GPU:1"]}
    assert made.split == ("gpu 0", [devices.LOGICAL_GPU_MEMORY_MB] * 2)


def test_without_a_gpu_the_cpu_is_split(machine):
    made = machine()
    strategy, facts = devices.make("mirrored", 3)
    assert facts == {"choice": "logical CPU devices", "names": ["CPU:0", "CPU:1", "CPU:2"]}
    assert strategy == ("mirrored", facts["names"])
    assert made.split == ("cpu 0", [None] * 3)


def test_devices_in_use_cannot_be_split(machine):
    machine(in_use=True)
    with pytest.raises(Refused, match="the CPU cannot be split into 2 logical devices: Virtual devices cannot be"):
        devices.make("mirrored", 2)


def test_without_a_tpu_there_is_no_tpu_strategy(machine):
    machine()
    with pytest.raises(Refused, match="no TPU answers: Please provide a TPU Name"):
        devices.make("tpu", 8)


def test_a_strategy_of_several_processes_is_refused(machine):
    machine()
    with pytest.raises(Refused, match="'multi_worker' is not a strategy of one process"):
        devices.make("multi_worker", 2)
