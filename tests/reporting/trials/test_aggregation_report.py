"""Aggregation on the terminal: one row per release, a mapping in one cell, then where the mappings change."""

from __future__ import annotations

from harness.domain.releases.aggregation import ReleaseFacts, SourceFacts
from harness.reporting.trials.aggregation_report import LIVE_COLUMNS, SOURCE_COLUMNS, terminal
from tests.examples import HOSTILE
from tests.reporting.examples import printed

WORDS = {"none": "NONE", "sum": "SUM", "mean": "MEAN", "only_first_replica": "ONLY_FIRST_REPLICA"}


def facts(version: str, aggregation: dict[str, str] | None = None, **changes: object) -> ReleaseFacts:
    source = SourceFacts(
        version=version,
        aggregation=aggregation,
        passed=() if aggregation is None else ("aggregation",),
        metric={} if aggregation is None else {"aggregation": "sum"},
        problem=str(changes.pop("problem", "")),
    )
    live = changes.pop("live", None)
    assert live is None or isinstance(live, dict)
    return ReleaseFacts(source=source, live=live, **{name: str(value) for name, value in changes.items()})


def cells(text: str, version: str) -> list[str]:
    (row,) = [line for line in text.splitlines() if line.startswith(f"│ {version} ")]
    return [cell.strip() for cell in row.strip("│").split("│")]


def test_a_mapping_shows_the_keys_that_do_not_keep_their_name_and_counts_the_others():
    mean = WORDS | {"sum": "MEAN"}
    releases = [facts("3.5.0"), facts("3.6.0", WORDS, released="2024-10-03"), facts("3.7.0", mean)]
    text = printed(terminal("keras", releases, live=False))
    assert text.splitlines()[0].rstrip() == "aggregation in keras, read from the wheels"
    assert cells(text, "3.5.0") == ["3.5.0", "", "-", "-", "-", "-", "-"]
    assert cells(text, "3.6.0")[:3] == ["3.6.0", "2024-10-03", "all 4 to their own name"]
    assert cells(text, "3.7.0")[2:6] == ["sum->MEAN", "-", "aggregation", "aggregation=sum"]


def test_where_the_mapping_appears_and_changes_is_said_below():
    releases = [facts("3.5.0"), facts("3.6.0", WORDS), facts("3.7.0", WORDS | {"sum": "MEAN"})]
    below = printed(terminal("keras", releases, live=False)).rpartition("┘")[2]
    assert "3.6.0" in below
    assert "3.7.0" in below


def test_a_wheel_that_cannot_be_read_says_why_in_its_row():
    text = printed(terminal("keras", [facts("3.5.0", problem="no wheel on the index")], live=False))
    assert cells(text, "3.5.0")[2] == "no wheel on the index"


def test_live_variables_have_columns_of_their_own_only_when_they_were_trained():
    one = facts("3.6.0", WORDS, live={"metric": ["SUM/ON_READ"]}, disagreement="metric variables: the source says NONE")
    without = printed(terminal("keras", [one], live=False), 300)
    assert all(name in without for name in SOURCE_COLUMNS)
    assert not [name for name in LIVE_COLUMNS if name in without]
    shown = cells(printed(terminal("keras", [one], live=True), 300), "3.6.0")
    assert shown[-4:] == ["SUM/ON_READ", "-", "-", "metric variables: the source says NONE"]


def test_nothing_of_a_wheel_moves_the_cursor():
    hostile = facts("3.6.0", WORDS | {HOSTILE: HOSTILE}, live={"metric": [HOSTILE]}, disagreement=HOSTILE)
    text = printed(terminal("keras", [hostile], live=True), 120)
    assert not [c for c in text if c != "\n" and (ord(c) < 32 or 0x7F <= ord(c) < 0xA0)]
