"""Reports of a night: one row per case and status, bounded summaries, at most ten annotations."""

from __future__ import annotations

from dataclasses import replace

import pytest
from syrupy.assertion import SnapshotAssertion

from harness.domain.nightly.alerts import NightlyHistory, nightly_history
from harness.domain.nightly.nights import CaseNight, NightRecord
from harness.domain.verdicts.verdict import Outcome
from harness.reporting.nightly import night_report
from tests.golden.test_reports import golden
from tests.nights import BAD, GOOD, NAN, bad, broken, fixed, good, look, record


def last(*nights: NightRecord) -> NightlyHistory:
    return nightly_history(nights)


def many(day: int, count: int, shown: CaseNight) -> NightRecord:
    return replace(record(day), cases=tuple(replace(shown, case=f"case_{n}") for n in range(count)))


HEALTHY = CaseNight(case="", nightly=(GOOD,), control=(GOOD,))
SICK = CaseNight(case="", nightly=(BAD, BAD, BAD), control=(GOOD, GOOD))


@pytest.mark.parametrize(
    ("nights", "headline"),
    [
        ([good(0)], "all as expected"),
        ([good(0), bad(1)], "1 new"),
        ([good(0), bad(1), record(2, BAD)], "1 still bad"),
        ([good(0), bad(1), fixed(2)], "1 fixed"),
        ([broken(0)], "infrastructure"),
        ([record(0, look(None, blocked="the canary is red"))], "1 insufficient data"),
        ([good(0), record(1, BAD, GOOD, BAD)], "1 flaky"),
        ([replace(good(0), stale_days=9)], "the index has no recent build"),
    ],
)
def test_the_headline(nights: list[NightRecord], headline: str) -> None:
    history = nightly_history(nights)
    assert night_report.headline(history.nights[-1]) == headline


def test_a_recorded_symptom_is_as_expected_and_its_reason_is_said() -> None:
    excused = CaseNight(case="identity", nightly=(BAD,), control=(GOOD,), expected={NAN: "under review"})
    history = nightly_history([replace(record(0, BAD), cases=(excused,))])
    (row,) = night_report.rows(history.nights[0])
    assert (row.status.value, row.reason) == ("as expected", "recorded: under review")


def test_the_markdown_says_what_happened_and_escapes_it() -> None:
    hostile = look(Outcome.BAD, "<img src=x> @everyone | cell")
    history = nightly_history([good(0), record(1, hostile, hostile, hostile)])
    text = night_report.markdown(history.nights[-1], history.open_alerts)
    assert text.startswith("# Night of 2024-11-02: 1 new\n")
    assert "\\<img" in text
    assert "@everyone" not in text
    assert "Open alerts:" in text


def test_a_broken_night_says_that_nothing_was_judged() -> None:
    history = nightly_history([broken(0)])
    assert "Nothing was judged: the package index does not answer" in night_report.markdown(history.nights[0], ())


def test_the_json_reads_back() -> None:
    history = nightly_history([good(0), bad(1)])
    assert '"status": "new"' in night_report.json_text(history.nights[-1], history.open_alerts)


def test_a_job_summary_stays_under_its_limit_and_says_so() -> None:
    history = nightly_history([many(0, 300, HEALTHY), many(1, 300, SICK)])
    text = night_report.summary(history.nights[-1], history.open_alerts, limit=5_000)
    assert len(text.encode()) < 5_000
    assert "does not fit" in text
    whole = night_report.summary(history.nights[-1], history.open_alerts)
    assert whole == night_report.markdown(history.nights[-1], history.open_alerts)


def test_at_most_ten_annotations_and_none_can_end_its_line() -> None:
    history = nightly_history([many(0, 30, HEALTHY), many(1, 30, SICK)])
    lines = night_report.workflow_commands(history.nights[-1])
    assert len(lines) == 10
    assert lines[0].startswith("::error title=case_0%3A new::")
    assert "and 21 more" in lines[-1]
    assert all("\n" not in line for line in lines)
    assert night_report.workflow_commands(nightly_history([good(0)]).nights[0]) == []
    assert night_report.workflow_commands(nightly_history([broken(0)]).nights[0])[0].startswith(
        "::warning title=nightly::"
    )


def test_the_whole_night(snapshot: SnapshotAssertion) -> None:
    history = nightly_history([good(0), replace(bad(1), notes=("mnist_cnn was left out",))])
    assert night_report.markdown(history.nights[-1], history.open_alerts) == golden(snapshot, "md")


def test_the_whole_json(snapshot: SnapshotAssertion) -> None:
    history = nightly_history([good(0), bad(1)])
    assert night_report.json_text(history.nights[-1], history.open_alerts) == golden(snapshot, "json")
