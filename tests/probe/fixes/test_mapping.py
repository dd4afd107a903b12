"""One key of the mapping changes: every one that a sweep tries."""

from __future__ import annotations

import pytest

from harness.adapters.trials import fixes
from harness.probe.fixes import mapping
from tests.probe.fixes.conftest import HEALTHY


@pytest.mark.parametrize("value", fixes.VALUES)
@pytest.mark.parametrize("key", fixes.KEYS)
def test_one_key_changes_and_no_other(backend, key, value):
    assert mapping.apply(key, value) == ("applied", f"_map_aggregation: {key} -> {value}")
    assert backend.mapping == {**HEALTHY, key: value}


def test_a_value_that_there_is_not_is_an_error_and_changes_nothing(backend):
    with pytest.raises(AttributeError):
        mapping.apply("sum", "MEDIAN")
    assert backend.mapping == HEALTHY


def test_a_release_that_maps_nothing_stays_as_it_is(backend):
    backend.release(maps=False)
    assert mapping.apply("sum", "NONE") == ("absent", "this release has no _map_aggregation")
