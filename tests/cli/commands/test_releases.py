"""``harness releases``: the timeline as the harness sees it."""

from __future__ import annotations

import json

from harness.cli.commands.releases import describe
from harness.domain.releases.companions import Interpreter
from harness.domain.releases.release import Order, stable_timeline
from tests.offline import PUBLISHED, Offline, harness

__all__ = ["harness"]

PYTHONS = [Interpreter(version="3.11.7", path="/a"), Interpreter(version="3.12.1", path="/b")]


def rows(order: Order = Order.VERSION) -> dict[str, dict[str, object]]:
    made = stable_timeline(PUBLISHED, first=None, last="latest", order=order)
    return {str(row["version"]): row for row in describe(made, PYTHONS)}


def test_every_release_of_the_range_has_a_row_those_left_out_too():
    assert list(rows()) == ["3.5.0", "3.6.0rc0", "3.6.0", "3.6.1", "3.7.0", "3.9.9", "3.10.0"]


def test_each_says_whether_it_is_usable_here_or_why_not():
    found = rows()
    assert found["3.5.0"]["usable"] == "yes, on Python 3.11, 3.12"
    assert found["3.6.0rc0"]["usable"] == "left out: pre-release"
    assert found["3.6.1"]["usable"] == "left out: yanked: forgot a file"
    assert found["3.10.0"]["usable"] == "no: no Python >=3.20 here"


def test_date_requires_python_and_the_yanked_reason_are_those_of_the_index():
    found = rows()
    assert (found["3.5.0"]["date"], found["3.5.0"]["requires_python"]) == ("2024-01-01", ">=3.9")
    assert (found["3.6.1"]["yanked"], found["3.5.0"]["yanked"]) == ("forgot a file", None)


def test_by_date_the_order_is_that_of_publication():
    assert [v for v in rows(Order.DATE) if v in ("3.7.0", "3.9.9", "3.10.0")] == ["3.7.0", "3.10.0", "3.9.9"]


def test_json_and_table_tell_the_same(harness: Offline):
    harness.publish()
    told = json.loads(harness("releases", "--from", "3.6.0", "--json").out)
    assert (told["package"], told["order"]) == ("keras", "version")
    assert [row["version"] for row in told["releases"]] == ["3.6.0", "3.6.1", "3.7.0", "3.9.9", "3.10.0"]
    table = harness("releases", "--from", "3.6.0").out
    assert "keras: 4 releases, 1 left out" in table
    for row in told["releases"]:
        (line,) = [line for line in table.splitlines() if f" {row['version']} " in line]
        assert row["usable"] in line
