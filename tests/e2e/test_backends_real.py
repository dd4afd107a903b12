"""Replicas of real Keras on JAX and PyTorch: the case that is bad on TensorFlow equals its reference there."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from harness.adapters.index.find_links import local_versions
from tests.e2e.running import LONGEST

pytestmark = [pytest.mark.real, pytest.mark.timeout(1800)]


@pytest.mark.parametrize(
    ("backend", "framework", "choice"),
    [
        ("jax", "jax==0.5.3", "host platform devices, keras.distribution.DataParallel"),
        ("torch", "torch>=2", "processes with gloo, DistributedDataParallel"),
    ],
)
def test_the_metrics_of_two_replicas_equal_those_of_one(backend, framework, choice):
    if backend == "torch" and not any(version.local == "cpu" for version in local_versions("torch")):
        pytest.skip("torch for the CPU is not among this machine's wheels, and its index is not the usual one")
    words = ["run", "identity", "--release", "3.9.2", "--backend", backend, "--with", framework, "--with", "numpy<2.3"]
    done = subprocess.run(
        [sys.executable, "-m", "harness", *words, "--json"],
        check=False,
        capture_output=True,
        text=True,
        timeout=LONGEST,
    )
    assert done.returncode == 0, done.stderr
    reference, several = (trial["observation"] for trial in json.loads(done.stdout))
    assert several["devices"]["choice"] == choice
    assert reference["final"]["loss"] == pytest.approx(several["final"]["loss"], rel=1e-4)
    assert several["weights"]["values"] == {
        name: pytest.approx(values, rel=1e-4) for name, values in reference["weights"]["values"].items()
    }
