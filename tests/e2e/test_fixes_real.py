"""Fixes on real Keras: one broken release, one healthy one, and fixes that would like to be taken for a cure.

All fixes share one process tree per release, so the whole module costs two environments.
"""

from __future__ import annotations

import pytest

from tests.e2e.running import harness

pytestmark = [pytest.mark.real, pytest.mark.timeout(1800)]

TENSORFLOW = ("--with", "tensorflow==2.18.1")
BROKEN, HEALTHY = "3.9.2", "3.10.0"
NAMED = ("metrics-on-read", "aggregation-sum-to-none")
WRITTEN = {
    "does_nothing": 'def apply():\n    return "applied", "nothing at all"\n',
    "hides_nan": """
def apply():
    import tensorflow as tf
    from keras.src.metrics.reduction_metrics import Mean

    original = Mean.result

    def result(self):
        value = original(self)
        return tf.where(tf.math.is_finite(value), value, tf.zeros_like(value))

    Mean.result = result
    return "applied", "Mean.result: nan_to_num"
""",
    "raises": 'def apply():\n    raise RuntimeError("this fix raises")\n',
    "leaves": "import os\n\ndef apply():\n    os._exit(0)\n",
    "returns_junk": "def apply():\n    return 42\n",
    "takes_the_strategy_away": """
import contextlib

def apply():
    import tensorflow as tf

    tf.distribute.MirroredStrategy.scope = lambda self: contextlib.nullcontext()
    return "applied", "every model trains on one device"
""",
    "trains_less": """
def apply():
    import keras

    original = keras.Model.fit
    keras.Model.fit = lambda self, *args, **rest: original(self, *args, **{**rest, "steps_per_epoch": 8})
    return "applied", "eight steps are no overflow"
""",
}


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """One call for all fixes and both releases."""
    folder = tmp_path_factory.mktemp("fixes")
    words = [word for name in NAMED for word in ("--fix", name)]
    for name, text in WRITTEN.items():
        (folder / f"{name}.py").write_text(text)
        words += ["--fix", str(folder / f"{name}.py")]
    code, found, _ = harness(
        "verify-fix", "identity", *words, "--from", BROKEN, "--to", HEALTHY, *TENSORFLOW, output=folder / "run"
    )
    graded = {fix["name"]: {r["version"]: r for r in fix["releases"]} for fix in found["fixes"]}
    return code, graded, {fix["name"]: fix["sentence"] for fix in found["fixes"]}


GRADES = {
    "metrics-on-read": ("proven", "absent"),
    "aggregation-sum-to-none": ("masks", "breaks"),
    "does_nothing": ("no effect", "not reproduced"),
    "hides_nan": ("masks", "not reproduced"),
    "raises": ("breaks", "breaks"),
    "leaves": ("breaks", "breaks"),
    "returns_junk": ("inconclusive", "inconclusive"),
    "takes_the_strategy_away": ("inconclusive", "inconclusive"),
    "trains_less": ("no effect", "breaks"),
}
REASONS = {
    ("raises", BROKEN): "RuntimeError: this fix raises",
    ("raises", HEALTHY): "RuntimeError: this fix raises",
    ("leaves", BROKEN): "left with exit code 0 (while: fix)",
    ("returns_junk", BROKEN): "apply() returned 42, expected one of applied, absent, refused",
    ("takes_the_strategy_away", BROKEN): "the model trains on 1 replica(s), not on 2",
    ("trains_less", BROKEN): "evaluate.loss is nan",
    ("trains_less", HEALTHY): "without the fix it does not fail so, with it wrong-metric",
    ("does_nothing", BROKEN): "still there: nonfinite-metric",
    ("hides_nan", BROKEN): "nonfinite-metric is gone, but wrong-metric: loss is 0, reference 0.08",
    ("aggregation-sum-to-none", BROKEN): "nonfinite-metric is gone, but wrong-metric",
    ("aggregation-sum-to-none", HEALTHY): "without the fix it does not fail so, with it exception",
}


@pytest.mark.parametrize("name", GRADES)
def test_grades(report, name):
    _, graded, _ = report
    assert (graded[name][BROKEN]["grade"], graded[name][HEALTHY]["grade"]) == GRADES[name]


@pytest.mark.parametrize(("name", "version"), REASONS)
def test_reasons(report, name, version):
    _, graded, _ = report
    assert REASONS[name, version] in graded[name][version]["reason"]


def test_nothing_is_ever_proven_on_a_healthy_release(report):
    _, graded, _ = report
    assert "proven" not in {releases[HEALTHY]["grade"] for releases in graded.values()}


def test_the_cure_has_the_numbers_of_the_release_that_is_fixed(report):
    """To six digits: what upstream did in 3.10.0, applied to 3.9.2."""
    _, graded, _ = report
    cured, fixed = graded["metrics-on-read"][BROKEN]["patched"], graded["metrics-on-read"][HEALTHY]["without"]
    assert {name: f"{value:.6g}" for name, value in cured.items()} == {n: f"{v:.6g}" for n, v in fixed.items()}
    assert {"loss", "mae", "evaluate.loss", "evaluate.mae"} == set(cured)


def test_the_worst_grade_is_the_exit_code_and_the_sentence_says_where(report):
    code, _, sentences = report
    assert code == 7
    assert sentences["metrics-on-read"] == (
        "metrics-on-read cures 3.9.2; finds nothing to patch in 3.10.0: use it only where it cures."
    )


def test_a_fixed_release_is_proven(tmp_path):
    code, found, _ = harness(
        "verify-fix", "identity", "--fixed-in", HEALTHY, "--from", BROKEN, *TENSORFLOW, output=tmp_path / "run"
    )
    ((graded,),) = ([*fix["releases"]] for fix in found["fixes"])
    assert (code, graded["version"], graded["grade"]) == (0, HEALTHY, "proven")
    assert found["fixes"][0]["sentence"].startswith("keras 3.10.0 is proven against 3.9.2")
