"""Observations: facts only, and a name for each way of running a case."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.observations import REFERENCE, Variant
from tests.examples import observation

NAMES = st.sampled_from(["loss", "mae", "accuracy", "val_loss"])
NUMBERS = st.dictionaries(NAMES, st.floats())
VARIANTS = st.builds(
    Variant,
    replicas=st.integers(1, 8),
    strategy=st.sampled_from(["none", "mirrored", "multi-worker", "tpu"]),
    fix=st.none() | st.sampled_from(["metrics-on-read", "no-aggregation"]),
    options=st.lists(
        st.tuples(st.sampled_from(["fault", "remedy"]), st.sampled_from(["on", "off"])),
        max_size=2,
        unique_by=lambda o: o[0],
    ).map(tuple),
).filter(lambda v: v.strategy != "none" or v.replicas == 1)  # without a strategy there is one replica


def test_numbers_are_those_of_fit_and_below_them_those_of_evaluate():
    seen = observation({"loss": 1.0, "mae": 2.0}, evaluated={"loss": 3.0})
    assert list(seen.numbers.items()) == [("loss", 1.0), ("mae", 2.0), ("evaluate.loss", 3.0)]


@given(final=NUMBERS, evaluated=NUMBERS)
def test_no_number_hides_another(final, evaluated):
    """A metric of ``evaluate`` never stands in for the one of ``fit`` with the same name."""
    assert len(observation(final, evaluated=evaluated).numbers) == len(final) + len(evaluated)


@given(final=NUMBERS, evaluated=NUMBERS)
def test_nonfinite_numbers_are_nan_and_both_infinities(final, evaluated):
    """Each number is either finite or named, and none is both."""
    seen = observation(final, evaluated=evaluated)
    named = set(seen.nonfinite_numbers)
    assert named == {n for n, value in seen.numbers.items() if math.isnan(value) or math.isinf(value)}


@pytest.mark.parametrize(
    ("variant", "label"),
    [
        (REFERENCE, "reference"),
        (Variant(replicas=1, strategy="mirrored"), "1 replicas"),
        (Variant(replicas=4, strategy="mirrored"), "4 replicas"),
        (Variant(replicas=2, strategy="multi-worker"), "multi-worker, 2 replicas"),
        (Variant(replicas=2, strategy="mirrored", fix="metrics-on-read"), "2 replicas, fix metrics-on-read"),
        (Variant(options=(("fault", "on"), ("remedy", "clip"))), "reference, fault=on, remedy=clip"),
    ],
)
def test_a_label_reads_like_the_command_that_was_meant(variant, label):
    assert variant.label == label


@given(st.sets(VARIANTS, max_size=20))
def test_labels_are_unique_within_a_case(variants):
    """Two trials that differ in anything are told apart by their labels in every report."""
    assert len({variant.label for variant in variants}) == len(variants)
