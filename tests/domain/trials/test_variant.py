"""A name for each way of running a case."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.domain.trials.variant import REFERENCE, Variant

VARIANTS = st.builds(
    Variant,
    replicas=st.integers(1, 8),
    strategy=st.sampled_from(["none", "mirrored", "multi-worker", "tpu"]),
    fix=st.none() | st.sampled_from(["metrics-on-read", "no-aggregation"]),
    policy=st.none() | st.sampled_from(["float32", "mixed_float16"]),
    watched=st.booleans(),
    options=st.lists(
        st.tuples(st.sampled_from(["fault", "remedy"]), st.sampled_from(["on", "off"])),
        max_size=2,
        unique_by=lambda o: o[0],
    ).map(tuple),
).filter(lambda v: v.strategy != "none" or v.replicas == 1)  # without a strategy there is one replica


@pytest.mark.parametrize(
    ("variant", "label"),
    [
        (REFERENCE, "reference"),
        (Variant(replicas=1, strategy="mirrored"), "1 replicas"),
        (Variant(replicas=4, strategy="mirrored"), "4 replicas"),
        (Variant(replicas=2, strategy="multi-worker"), "multi-worker, 2 replicas"),
        (Variant(replicas=2, strategy="mirrored", fix="metrics-on-read"), "2 replicas, fix metrics-on-read"),
        (Variant(options=(("fault", "on"), ("remedy", "clip"))), "reference, fault=on, remedy=clip"),
        (Variant(policy="float32", watched=True), "reference, float32, watched"),
    ],
)
def test_a_label_reads_like_the_command_that_was_meant(variant, label):
    assert variant.label == label


@given(st.sets(VARIANTS, max_size=20))
def test_labels_are_unique_within_a_case(variants):
    """Two trials that differ in anything are told apart by their labels in every report."""
    assert len({variant.label for variant in variants}) == len(variants)
