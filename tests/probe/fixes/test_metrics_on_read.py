"""Variables with the aggregation "sum", which only metrics have, are summed when they are read."""

from __future__ import annotations

import pytest

from harness.probe.fixes import metrics_on_read


@pytest.mark.parametrize(("aggregation", "synchronization"), [("sum", "ON_READ"), ("mean", "AUTO"), ("none", "AUTO")])
def test_metrics_are_told_apart_by_their_aggregation(backend, aggregation, synchronization):
    assert metrics_on_read.apply()[0] == "applied"
    variable = backend.variable(aggregation)
    variable._initialize([1.0, 2.0])
    settings = variable._value.settings
    assert settings["synchronization"].name == synchronization
    assert settings["aggregation"].name == aggregation.upper(), "the aggregation stays"
    assert (settings["dtype"], settings["trainable"], settings["name"]) == ("float32", True, "v")
    assert variable._value.value == [1.0, 2.0]


def test_an_initializer_is_called_when_the_variable_is_made(backend):
    metrics_on_read.apply()
    variable = backend.variable("sum", shape=(3,))
    variable._initialize_with_initializer(lambda shape, dtype: [dtype] * shape[0])
    assert variable._value.value == ["float32"] * 3
    assert variable._value.settings["synchronization"].name == "ON_READ"


@pytest.mark.parametrize(
    ("release", "reason"),
    [
        ({"maps": True, "synchronizes": True}, "this release has synchronization of its own"),
        ({"maps": False}, "in this release no aggregation reaches tf.Variable, so metrics cannot be told apart"),
    ],
)
def test_other_releases_have_nothing_to_patch(backend, release, reason):
    backend.release(**release)
    assert metrics_on_read.apply() == ("absent", reason)
    assert not hasattr(backend.variable, "_initialize")
