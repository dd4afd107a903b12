"""The aggregation "sum" becomes NONE, and no other changes."""

from __future__ import annotations

from harness.probe.fixes import aggregation_sum_to_none
from tests.probe.fixes.conftest import HEALTHY


def test_sum_becomes_none_and_no_other_changes(backend):
    assert backend.mapping == HEALTHY
    assert aggregation_sum_to_none.apply()[0] == "applied"
    assert backend.mapping == {**HEALTHY, "sum": "NONE"}


def test_twice_is_as_good_as_once(backend):
    aggregation_sum_to_none.apply()
    aggregation_sum_to_none.apply()
    assert backend.mapping == {**HEALTHY, "sum": "NONE"}


def test_a_release_that_maps_nothing_stays_as_it_is(backend):
    backend.release(maps=False)
    assert aggregation_sum_to_none.apply()[0] == "absent"
    assert not hasattr(backend.variable, "_map_aggregation")
