"""Every aggregation becomes NONE."""

from __future__ import annotations

from harness.probe.fixes import no_aggregation
from tests.probe.fixes.conftest import HEALTHY


def test_every_aggregation_becomes_none(backend):
    assert no_aggregation.apply()[0] == "applied"
    assert backend.mapping == dict.fromkeys(HEALTHY, "NONE")


def test_a_release_that_maps_nothing_stays_as_it_is(backend):
    backend.release(maps=False)
    assert no_aggregation.apply() == ("absent", "this release has no _map_aggregation: it behaves so already")
    assert not hasattr(backend.variable, "_map_aggregation")
