"""replay.md: what was run, what was taken over, and what the monitor would have said when."""

from __future__ import annotations

from dataclasses import replace

from syrupy.assertion import SnapshotAssertion

from harness.domain.nightly.alerts import NightlyHistory, nightly_history
from harness.reporting.nightly import replay_report
from tests.golden.test_reports import golden
from tests.nights import BAD, GOOD, bad, broken, fixed, good, record

TAKEN_OVER = replace(GOOD, inferred=True)


def history() -> NightlyHistory:
    return nightly_history([good(0), record(1, TAKEN_OVER), good(2), bad(3), record(4, BAD), fixed(5), broken(6)])


def test_the_whole_replay(snapshot: SnapshotAssertion) -> None:
    assert replay_report.markdown(history()) == golden(snapshot, "md")


def test_it_counts_what_was_run_and_what_was_taken_over() -> None:
    text = replay_report.markdown(history())
    assert "really run: 5; taken over from two equal neighbours: 1." in text
    assert "The longest stretch taken over: 1 builds." in text
    assert "| 2024-11-04 | 3.7.0.dev2024110403 | new |" in text
    assert "Alerts opened: 1, of these 0 for an index without a recent build." in text


def test_equal_nights_are_one_row() -> None:
    rows = replay_report.markdown(nightly_history([good(n) for n in range(9)])).splitlines()
    assert [row for row in rows if row.startswith("| identity | ")] == [
        "| identity | 2024-11-01 to 2024-11-09 (9) | 3.7.0.dev2024110103 to 3.7.0.dev2024110903 | as expected |  | 9 | 0 |"
    ]


def test_the_file_by_its_name() -> None:
    assert replay_report.texts(history()) == {"replay.md": replay_report.markdown(history())}
