"""The probe in an environment with real Keras and TensorFlow: devices, canary, fixes, and a step repeated.

One request holds all trials, so the framework is imported once and all tests share one process tree.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

import harness
from harness import codec
from harness.domain.trials.observation import Observation
from tests.e2e.running import LONGEST

pytestmark = [pytest.mark.real, pytest.mark.timeout(1800)]

PROBE = Path(harness.__file__).parent / "probe"
RELEASE, TENSORFLOW = "3.9.2", "tensorflow==2.18.1"
LOCATE = """
# /// script
# dependencies = ["keras", "tensorflow", "numpy"]
# [tool.harness]
# title = "where the environment is"
# ///
import sys

print(sys.executable)
"""
CASE = """
import keras
import numpy as np
import tensorflow as tf


def data():
    x = np.ones((8, 1), "float32")
    x[6] = 0.0
    return x, x


def model(fault="none"):
    def loss(y_true, y_pred):
        if fault == "log":
            return tf.math.log(y_true) * y_pred
        if fault == "root":
            return tf.sqrt(y_true * y_pred)
        return (y_pred - y_true) ** 2

    net = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, use_bias=False, name="only")])
    net.compile(optimizer=keras.optimizers.SGD(0.01), loss=loss)
    return net
"""
PLAIN: dict[str, Any] = {"kind": "model", "strategy": "mirrored", "replicas": 2, "options": {}, "timeout_seconds": 120}
FIXES = {
    "aggregation_sum_to_none": {},
    "metrics_on_read": {},
    "no_aggregation": {},
    "mapping": {"key": "sum", "value": "ONLY_FIRST_REPLICA"},
}
TRIALS: dict[str, dict[str, Any]] = {
    "canary": {"kind": "canary", "timeout_seconds": 120},
    "alone": {**PLAIN, "strategy": "none", "replicas": 1},
    "mirrored": PLAIN,
    "tpu": {**PLAIN, "strategy": "tpu"},
    "log": {**PLAIN, "kind": "diagnosis", "options": {"fault": "log"}},
    "root": {**PLAIN, "kind": "diagnosis", "options": {"fault": "root"}},
    **{
        name: {**PLAIN, "fix": {"name": name, "path": str(PROBE / "fixes" / f"{name}.py"), "options": options}}
        for name, options in FIXES.items()
    },
}


def executable(folder: Path) -> str:
    """The interpreter of the environment, which the harness builds or has built before."""
    case = folder / "locate.py"
    case.write_text(LOCATE)
    command = [sys.executable, "-m", "harness", "run", str(case), "--release", RELEASE, "--with", TENSORFLOW, "--json"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=LONGEST)
    assert done.returncode == 0, done.stderr
    return str(json.loads(done.stdout)[-1]["observation"]["output"]).strip()


def served(folder: Path) -> None:
    """Serve one request with all trials."""
    (folder / "results").mkdir(parents=True)
    (folder / "case.py").write_text(CASE)
    request = {
        "parent": os.getpid(),
        "imports": ["numpy", "tensorflow", "keras"],
        "import_name": "keras",
        "results": str(folder / "results"),
        "case": str(folder / "case.py"),
        "seed": 0,
        "fit": {"batch_size": 8, "epochs": 1},
        "paths": [],
        "trials": [{"id": name, **trial} for name, trial in TRIALS.items()],
    }
    (folder / "request.json").write_text(json.dumps(request))
    command = [executable(folder), "-I", str(PROBE / "__main__.py"), str(folder / "request.json")]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=LONGEST, cwd=folder)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def observed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Observation]:
    """The observation of each trial; several workers of one run of the tests share them."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "probe-real"
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            served(folder)
    results = folder / "results"
    return {name: codec.loads(Observation, (results / f"{name}.json").read_bytes()) for name in TRIALS}


def metric_variables(observation: Observation) -> set[tuple[str | None, str | None]]:
    """Aggregation and synchronization of the variables that "sum" is meant for."""
    return {(v.aggregation, v.synchronization) for v in observation.variables if v.role == "metric"}


def test_the_canary_trains(observed):
    assert observed["canary"].ending.kind.value == "finished"
    assert 0 < observed["canary"].final["loss"] < 100


def test_one_device_and_two_logical_ones(observed):
    alone, mirrored = observed["alone"], observed["mirrored"]
    assert alone.devices is not None
    assert mirrored.devices is not None
    assert alone.devices.choice == "one device"
    assert len(mirrored.devices.names) == 2
    assert {len(v.copies) for v in mirrored.variables if v.role == "metric" and not v.shape} == {2}
    assert {len(v.copies) for v in alone.variables if v.role == "metric" and not v.shape} == {1}


def test_the_same_data_and_the_same_initial_weights(observed):
    alone, mirrored = observed["alone"], observed["mirrored"]
    assert alone.data_digest == mirrored.data_digest != ""
    assert alone.weights is not None
    assert mirrored.weights is not None
    assert alone.weights.initial_digest == mirrored.weights.initial_digest != ""
    assert (alone.iterations, mirrored.iterations) == (1, 1)


def test_without_a_tpu_the_trial_is_refused(observed):
    assert observed["tpu"].ending.kind.value == "refused"
    assert "no TPU answers" in (observed["tpu"].ending.message or "")


@pytest.mark.parametrize(
    ("fix", "expected"),
    [
        ("mirrored", ("SUM", "ON_WRITE")),
        ("aggregation_sum_to_none", ("NONE", "ON_WRITE")),
        ("no_aggregation", ("NONE", "ON_WRITE")),
        ("metrics_on_read", ("SUM", "ON_READ")),
        ("mapping", ("ONLY_FIRST_REPLICA", "ON_WRITE")),
    ],
)
def test_what_a_fix_makes_of_the_variables_of_metrics(observed, fix, expected):
    assert metric_variables(observed[fix]) == {expected}
    found = observed[fix].fix
    assert (found.outcome if found else "") == ("" if fix == "mirrored" else "applied")


@pytest.mark.parametrize(
    ("fault", "operation", "line"),
    [("log", "Log", "return tf.math.log(y_true) * y_pred"), ("root", "SqrtGrad", "return tf.sqrt(y_true * y_pred)")],
)
def test_the_bad_step_is_repeated_and_names_operation_and_line(observed, fault, operation, line):
    facts = observed[fault].diagnosis
    assert facts is not None
    assert (facts.step, facts.not_replayed) == (1, "")
    healthy, wrong = facts.shares
    assert (healthy.operation, wrong.operation) == (None, operation)
    assert (wrong.line or "").endswith(line)
    assert wrong.gradient == "sequential/only/kernel"
    assert math.isfinite(wrong.loss or 0.0) is (fault == "root")
