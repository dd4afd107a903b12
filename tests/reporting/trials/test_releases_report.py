"""The releases of a package: the table and the JSON say the same."""

from __future__ import annotations

import json

from harness.domain.releases.listing import ListedRelease, Listing
from harness.domain.releases.release import Order
from harness.reporting.trials.releases_report import COLUMNS, json_text, terminal
from tests.examples import HOSTILE
from tests.reporting.examples import printed


def listed(version: str, **changes: str | None) -> ListedRelease:
    given: dict[str, str | None] = {"date": None, "requires_python": None, "yanked": None, **changes}
    usable = given.pop("usable", None) or "yes, on Python 3.11"
    return ListedRelease(version=version, usable=usable, **given)


LISTING = Listing(
    package="keras",
    order=Order.DATE,
    releases=(
        listed("3.5.0", date="2024-01-01", requires_python=">=3.9"),
        listed("3.6.1", yanked="forgot a file", usable="left out: yanked: forgot a file"),
    ),
    left_out=1,
)


def test_the_title_counts_what_is_searched_and_what_is_left_out():
    text = printed(terminal(LISTING))
    assert text.splitlines()[0].strip() == "keras: 1 releases, 1 left out"
    assert all(name in text for name in COLUMNS)


def test_every_release_has_a_row_with_what_is_known():
    rows = [line for line in printed(terminal(LISTING)).splitlines() if line.startswith("│")]
    found = [[cell.strip() for cell in row.strip("│").split("│")] for row in rows]
    assert found == [
        ["3.5.0", "2024-01-01", ">=3.9", "", "yes, on Python 3.11"],
        ["3.6.1", "", "", "forgot a file", "left out: yanked: forgot a file"],
    ]


def test_json_has_every_field_and_null_for_what_is_not_known():
    read = json.loads(json_text(LISTING))
    assert (read["package"], read["order"]) == ("keras", "date")
    assert read["releases"][0] == {
        "version": "3.5.0",
        "date": "2024-01-01",
        "requires_python": ">=3.9",
        "yanked": None,
        "usable": "yes, on Python 3.11",
    }


def test_the_reason_of_a_yank_is_text():
    hostile = Listing(
        package="keras", order=Order.VERSION, releases=(listed("1.0", yanked=HOSTILE, usable=HOSTILE),), left_out=1
    )
    text = printed(terminal(hostile), 80)
    assert not [c for c in text if c != "\n" and (ord(c) < 32 or 0x7F <= ord(c) < 0xA0)]
    assert json.loads(json_text(hostile))["releases"][0]["version"] == "1.0"
