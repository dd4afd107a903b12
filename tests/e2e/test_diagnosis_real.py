"""`harness diagnose` names the right boundary for every fault of the cases, on real Keras.

All trials of one case share a process tree, and all cases share the environments of three releases. The unwatched
trial and the one on one replica only add evidence; one row per case has them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from harness.adapters.storage import case_files
from harness.cli.progress import Terminal
from harness.domain.diagnosis.diagnosis import Boundary, Diagnosis
from harness.domain.trials.variant import Variant
from harness.jobs import diagnosis
from harness.jobs.preparation import find_release
from harness.jobs.protocols import Services
from harness.jobs.requests import DiagnoseRequest
from harness.jobs.trials import prepare_release
from harness.services import open_services
from tests.test_architecture import ROOT

pytestmark = [pytest.mark.real, pytest.mark.timeout(3600)]

PINS = ("tensorflow==2.19.1",)
LATEST = "3.15.1"
PATIENCE = 900  # seconds for a trial: on a busy machine the deadlines of the cases are no boundary of a training
DATA, COMPUTE, OPTIMISATION, METRIC_STATE, NONE = list(Boundary)[:5]


@dataclass(frozen=True, kw_only=True)
class Row:
    """One diagnosis and what it has to say."""

    case: str
    boundary: Boundary
    says: str = ""
    next: str = ""
    settings: str = ""
    policy: str = ""
    replicas: int = 2
    release: str = LATEST
    controlled: bool = False

    def __str__(self) -> str:
        words = (self.case, self.release, self.settings, self.policy, f"x{self.replicas}")
        return " ".join(word for word in words if word)

    @property
    def variant(self) -> Variant:
        """The trial that is diagnosed."""
        case = replace(case_files.read(self.case), replicas=self.replicas)
        return diagnosis.plain_variant(case, self.request)

    @property
    def request(self) -> DiagnoseRequest:
        """What the command makes of its options."""
        settings = tuple(self.settings.split())
        return DiagnoseRequest(
            case=self.case, release=self.release, settings=settings, policy=self.policy or None, pins=PINS
        )


STFT = [
    Row(
        case="stft_loss",
        boundary=COMPUTE,
        says="step 1, replica 1: loss is nan, in RealDiv (line ",
        next="add an epsilon to the denominator",
    ),
    Row(
        case="stft_loss",
        settings="silent=target norm_epsilon=1e-5",
        boundary=COMPUTE,
        says="step 1, replica 1: loss is inf, in Log (line ",
        next="add an epsilon inside the logarithm",
    ),
    Row(
        case="stft_loss",
        settings="silent=target log_epsilon=1e-5",
        boundary=COMPUTE,
        says="step 1, replica 1: loss is inf, in RealDiv (line ",
        next="add an epsilon to the denominator",
    ),
    Row(
        case="stft_loss",
        settings="log_epsilon=1e-5 norm_epsilon=1e-5",
        boundary=COMPUTE,
        says="step 1, replica 1: gradient of sequential/conv1d/kernel, in SqrtGrad (line ",
        next="put a floor under the root",
    ),
    Row(case="stft_loss", settings="silent=none", boundary=NONE),
    Row(
        case="empty_replica",
        boundary=DATA,
        says="step 9 leaves replica 1 without samples, and it raises tensorflow.",
        next="drop the last incomplete batch",
    ),
    Row(case="empty_replica", replicas=1, boundary=NONE, says="in 9 steps"),
    Row(case="empty_replica", settings="clips=64", boundary=NONE, says="in 8 steps"),
    Row(
        case="scalar_loss",
        boundary=NONE,
        says="nothing became non-finite in 8 steps; but it is not what one replica trains: wrong-",
        next="harness bisect scalar_loss",
        controlled=True,
    ),
    Row(case="scalar_loss", settings="loss=average_loss", boundary=NONE),
    Row(case="scalar_loss", settings="loss=none", boundary=NONE),
    Row(case="loss_outside_scope", boundary=NONE, says="in 8 steps"),
    Row(case="loss_outside_scope", settings="loss=inside", boundary=NONE, says="in 8 steps"),
    Row(
        case="stft_window",
        boundary=COMPUTE,
        says="raises ValueError: Dimensions must be equal, but are 48 and 64",
        next="mend the line named above",
    ),
    Row(case="stft_window", settings="window=frame", boundary=NONE),
]

ATTENTION = [
    Row(
        case="attention_mask",
        boundary=COMPUTE,
        says="step 18, replica 1: forward pass, output of Attention attention (float16), in AddV2 (line ",
        next='give layer attention dtype="float32"',
        controlled=True,
    ),
    Row(
        case="attention_mask",
        settings="mask=infinite",
        boundary=COMPUTE,
        says="step 1, replica 1: forward pass, output of Attention attention (float16), NaN in Softmax (line ",
        next="mask with a large finite number",
    ),
    Row(case="attention_mask", settings="empty_texts=none", boundary=NONE),
    Row(
        case="loss_scaling_skipped",
        settings="skipped=scaling",
        boundary=OPTIMISATION,
        says="nothing became non-finite in 48 steps; but the step never calls optimizer.scale_loss",
        next="differentiate optimizer.scale_loss(loss)",
    ),
    Row(
        case="loss_scaling_skipped",
        boundary=OPTIMISATION,
        says="hands scaled gradients to the inner optimizer, so they are never divided by the scale (256)",
        next="call apply of the loss-scale optimizer itself",
    ),
    Row(case="loss_scaling_skipped", settings="skipped=none", boundary=NONE),
]

MIXED = [
    Row(
        case="mixed_precision",
        boundary=OPTIMISATION,
        says="and without it is finite; LossScaleOptimizer asks the first replica only, whose gradients are finite",
        next="start it lower: LossScaleOptimizer(initial_scale=2**8)",
        controlled=True,
    ),
    Row(case="mixed_precision", replicas=1, boundary=NONE, says="in 40 steps"),
    Row(case="mixed_precision", settings="outlier=none", boundary=NONE),
    Row(
        case="nonfinite_data",
        boundary=DATA,
        says="x is not finite in 1 sample, first in number 20 (from 0); first seen in step 1: replica 1, forward pass",
        next="drop or repair these samples",
    ),
    Row(
        case="nonfinite_data",
        settings="value=inf",
        boundary=DATA,
        says="x is not finite in 1 sample, first in number 20 (from 0); first seen in step 1: replica 1, forward pass",
    ),
    Row(case="nonfinite_data", settings="value=none", boundary=NONE),
    Row(
        case="wrong_unit",
        boundary=DATA,
        says="times the next and does not fit float16 (largest 65504)",
        next="normalise the feature named above",
    ),
    Row(
        case="wrong_unit",
        policy="float32",
        boundary=DATA,
        says="times the next; before step 2 the largest weight grew",
        next="normalise the feature named above",
    ),
    Row(case="wrong_unit", settings="scale=none", boundary=NONE),
    Row(
        case="high_rate",
        boundary=OPTIMISATION,
        says="the training diverges",
        next="divide the learning rate by ten",
    ),
    Row(
        case="high_rate",
        settings="rate=eight_times",
        boundary=OPTIMISATION,
        says="the training diverges",
        next="divide the learning rate by ten",
    ),
    Row(case="high_rate", settings="rate=right", boundary=NONE),
    Row(
        case="fixed_loss_scale",
        boundary=OPTIMISATION,
        says="step 1, replica 0: gradient of sequential/dense/kernel with loss scaling, and without it is finite",
        next="lower the loss scale",
    ),
    Row(case="fixed_loss_scale", policy="float32", boundary=NONE),
    Row(case="fixed_loss_scale", settings="scale=2**8", boundary=NONE),
    Row(case="fixed_loss_scale", settings="scale=dynamic", replicas=1, boundary=NONE),
]

RESNET = [
    Row(
        case="resnet_bce",
        boundary=COMPUTE,
        says="step 1, replica 1: loss is inf, in Log (line ",
        next="give the last layer",
        controlled=True,
    ),
    Row(case="resnet_bce", settings="loss=builtin_float16", boundary=NONE),
    Row(case="resnet_bce", settings="bright=none loss=builtin kind=float64", boundary=NONE),
    Row(case="resnet_bce", settings="bright=none loss=builtin", boundary=NONE),
    Row(case="training_false", boundary=NONE),
    Row(case="training_false", settings="normalization=frozen", boundary=NONE),
]

IDENTITY = [
    Row(
        case="identity",
        release="3.9.0",
        boundary=METRIC_STATE,
        says="replica 0: loss/count (aggregation SUM, synchronization ON_WRITE) is not finite while weights",
        next="harness verify-fix identity --fix metrics-on-read --from 3.9.0 --to 3.9.0",
        controlled=True,
    ),
    Row(case="identity", release="3.9.0", replicas=1, boundary=NONE, says="in 256 steps"),
    Row(case="identity", release="3.10.0", boundary=NONE),
    Row(case="identity", boundary=NONE),
]

ROWS = [*MIXED, *STFT, *ATTENTION, *RESNET, *IDENTITY]


@pytest.fixture(scope="module")
def services() -> Iterator[Services]:
    with open_services() as made:
        yield made


@pytest.fixture(scope="module")
def diagnosed(services):
    """A diagnosis by its row; all rows of one case on one release are run at once."""
    groups = defaultdict(list)
    for row in ROWS:
        groups[row.case, row.release].append(row)
    done: dict[Row, Diagnosis] = {}

    def of(row: Row) -> Diagnosis:
        if row not in done:
            case = replace(case_files.read(row.case), timeout_seconds=PATIENCE)
            listener = Terminal()
            release = find_release(services, case.package, row.release, listener, where="--release")
            environment = prepare_release(services, [case], release, row.request, listener)
            for bare in (True, False):
                rows = [one for one in groups[row.case, row.release] if one.controlled is not bare]
                variants = [one.variant for one in rows]
                found = diagnosis.diagnoses(services.trials(), environment, case, row.release, variants, bare=bare)
                for one, told in zip(rows, found, strict=True):
                    word = case_files.callable_as(case)
                    written = diagnosis.complete_command(told.next_change, word, row.release, one.variant)
                    done[one] = replace(told, next_change=written)
        return done[row]

    return of


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_the_boundary(diagnosed, row):
    found = diagnosed(row)
    assert found.boundary is row.boundary, found
    assert row.says in found.sentence, found
    assert row.next in found.next_change, found


def test_each_value_of_a_fault_is_in_the_table():
    """The fault of a case is its first parameter, at its default where a row does not set it."""
    for name in {row.case for row in ROWS} - {"identity"}:
        fault, values = next(iter(case_files.read(name).parameters.items()))
        settings = [dict(word.split("=") for word in row.settings.split()) for row in ROWS if row.case == name]
        tried = {one.get(fault, values[0]) for one in settings}
        assert tried == set(values), name


@pytest.mark.parametrize("row", [row for row in ROWS if row.controlled], ids=str)
def test_watching_changes_no_number(diagnosed, row):
    assert diagnosed(row).disturbance == ""


def test_what_float32_and_one_replica_do_is_evidence(diagnosed):
    (grows,) = (row for row in ROWS if row.case == "attention_mask" and not row.settings)
    assert "in float32: stays finite" in diagnosed(grows).evidence
    (broken,) = (row for row in ROWS if row.boundary is METRIC_STATE)
    assert "on one replica: stays finite" in diagnosed(broken).evidence


OWN = """
# /// script
# dependencies = ["keras", "tensorflow"]
# [tool.harness]
# title = "a vector of length 0"
# timeout_seconds = 600
# ///
import keras
import numpy as np
import tensorflow as tf


def data():
    x = np.random.default_rng(0).normal(size=(40, 3)).astype("float32")
    x[25] = 0.0
    left, right = x[:, :1], x[:, 1:]
    return {"x": tf.data.Dataset.from_tensor_slices(((left, right), x[:, :1])).batch(8)}


def model():
    left, right = keras.Input((1,)), keras.Input((2,))
    joined = keras.layers.Concatenate()([left, right])
    scaled = keras.layers.Dense(3, use_bias=False, name="first")(joined)
    length = keras.layers.Lambda(lambda v: tf.sqrt(tf.reduce_sum(v**2, -1, keepdims=True)))(scaled)
    net = keras.Model([left, right], keras.layers.Dense(1)(length))
    net.compile(optimizer="sgd", loss="mse")
    return net
"""


def test_a_case_of_ones_own_outside_the_repository(tmp_path):
    """Two inputs, a dataset, no switches: what the repository's cases do not have."""
    path = tmp_path / "my_case.py"
    path.write_text(OWN)
    command = [sys.executable, "-m", "harness", "diagnose", str(path), "--release", LATEST, "--json"]
    command += [word for pin in PINS for word in ("--with", pin)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["boundary"] == "compute"
    assert found["sentence"].startswith("step 4, replica 0: gradient of first/kernel, in SqrtGrad (line ")
    assert found["next_change"].startswith("put a floor under the root")
    assert found["disturbance"] == ""
    assert ROOT not in path.parents
