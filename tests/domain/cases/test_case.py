"""What a case says of itself."""

from __future__ import annotations

import pytest

from harness.domain.cases.case import DEFAULT_TOLERANCE, Claim, Level, Tolerance, Workaround
from harness.domain.cases.shapes.runners import Runner
from harness.domain.cases.symptoms import Symptom
from tests.examples import case

BLOCK = "# /// script\n# [tool.harness]\n# title = {!r}\n# ///\n"


class TestDigest:
    """Two cases with one digest ask the same; what is said about the answer is no part of the question."""

    @pytest.mark.parametrize(
        "changes",
        [
            {"title": "other"},
            {"path": "b.py"},
            {"origin": ("https://example.org/1",)},
            {"claims": (Claim(says="s", predicts="good"),)},
            {"workarounds": (Workaround(name="w", title="t"),)},
            {"fixes": ("metrics-on-read",)},
            {"text": BLOCK.format("other") + "x = 1\n"},
        ],
        ids=lambda changes: next(iter(changes)),
    )
    def test_what_leaves_it(self, changes):
        assert case(**{"text": BLOCK.format("t") + "x = 1\n", **changes}).digest == case(text="x = 1\n").digest

    @pytest.mark.parametrize(
        "changes",
        [
            {"text": "x = 2\n"},
            {"level": Level.SCRIPT},
            {"package": "tf-keras"},
            {"companions": ("numpy",)},
            {"data_packages": ("mlxtend",)},
            {"expects": Symptom.TIMEOUT},
            {"replicas": 4},
            {"strategy": "tpu"},
            {"timeout_seconds": 5.0},
            {"repeats": 3},
            {"seed": 8},
            {"tolerance": Tolerance(metric=0.5)},
            {"fit": {"epochs": 2}},
            {"parameters": {"fault": ("none",)}},
            {"runner": Runner.PYTEST},
            {"node": "test_x"},
            {"arguments": ("--n", "5")},
            {"beside_digest": "0"},
        ],
        ids=lambda changes: next(iter(changes)),
    )
    def test_what_changes_it(self, changes):
        assert case(**{"text": "x = 1\n", **changes}).digest != case(text="x = 1\n").digest

    def test_it_is_that_of_the_first_version_where_nothing_new_is_said(self):
        """Else every journal written before would ask another question."""
        assert case(level=Level.SCRIPT, text="x = 1\n").digest == "7616bd7178f5664f"

    def test_a_test_is_named_with_its_file(self):
        assert (case(path="t.py").word, case(path="t.py", node="test_x").word) == ("t.py", "t.py::test_x")

    def test_the_order_of_a_table_leaves_it(self):
        tables = {"epochs": 2, "batch_size": 8}, {"batch_size": 8, "epochs": 2}
        assert len({case(fit=table).digest for table in tables}) == 1


@pytest.mark.parametrize(("package", "module"), [("Keras_Nightly", "keras"), ("my-package", "my_package")])
def test_the_import_name_is_that_of_the_package_under_test(package, module):
    assert case(package=package).import_name == module


@pytest.mark.parametrize(
    ("package", "companions", "uses"),
    [
        ("keras", ("TensorFlow==2.18.1",), True),
        ("tensorflow", (), True),
        ("tf-nightly", (), True),
        ("keras", ("tensorflow-cpu==2.18.1",), True),
        ("keras", ("jax",), False),
        ("toy", (), False),
    ],
)
def test_it_uses_the_framework_when_that_is_under_test_or_a_companion(package, companions, uses):
    assert case(package=package, companions=companions).uses_framework is uses


def test_the_default_tolerance_is_one_in_a_thousand():
    assert case().tolerance == Tolerance(metric=DEFAULT_TOLERANCE, weights=DEFAULT_TOLERANCE)
    assert pytest.approx(1e-3) == DEFAULT_TOLERANCE
