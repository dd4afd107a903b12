"""``harness aggregation``: a row per release, or the same facts as JSON."""

from __future__ import annotations

import json

from tests.offline import Offline, harness

__all__ = ["harness"]


def test_a_release_whose_wheel_is_not_there_says_so_in_both_forms(harness: Offline):
    harness.publish()
    read = json.loads(harness("aggregation", "--from", "3.6.0", "--to", "3.7.0", "--json").out)
    assert [(facts["source"]["version"], facts["source"]["problem"]) for facts in read] == [
        ("3.6.0", "no wheel on the index"),
        ("3.7.0", "no wheel on the index"),
    ]
    assert all(facts["live"] is None for facts in read)
    table = harness("aggregation", "--from", "3.6.0", "--to", "3.7.0").out
    assert table.count("no wheel on the index") == 2
    assert "live metric" not in table


def test_an_unknown_version_is_refused(harness: Offline):
    harness.publish()
    lines = harness.refused("aggregation", "--from", "3.8.0", code=2)
    assert lines[:2] == ["harness: keras 3.8.0 is not on the index", "  where: --from"]
