"""What a case says of itself."""

from __future__ import annotations

import pytest

from harness.domain.cases.case import DEFAULT_TOLERANCE, Tolerance
from tests.examples import case


def test_the_digest_is_that_of_the_text_alone():
    assert case(text="a").digest == case(text="a", title="other", path="b.py").digest
    assert case(text="a").digest != case(text="a ").digest


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
