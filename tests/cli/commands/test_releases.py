"""``harness releases``: the timeline as the harness sees it."""

from __future__ import annotations

import json

from tests.offline import Offline, harness

__all__ = ["harness"]


def test_json_and_table_tell_the_same(harness: Offline):
    harness.publish()
    read = json.loads(harness("releases", "--from", "3.6.0", "--json").out)
    assert (read["package"], read["order"]) == ("keras", "version")
    assert [row["version"] for row in read["releases"]] == ["3.6.0", "3.6.1", "3.7.0", "3.9.9", "3.10.0"]
    table = harness("releases", "--from", "3.6.0").out
    assert "keras: 4 releases, 1 left out" in table
    for row in read["releases"]:
        (line,) = [line for line in table.splitlines() if f" {row['version']} " in line]
        assert row["usable"] in line
