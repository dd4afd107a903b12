"""Reports of a night: one row per case and word, bounded summaries, at most ten annotations."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest

from harness.domain.nightly.alerts import NightlyHistory, nightly_history
from harness.domain.nightly.nights import CaseNight, NightRecord
from harness.domain.verdicts.verdict import Outcome
from harness.reporting.nightly import junit_report, night_report, replay_report
from tests.nights import BAD, GOOD, NAN, bad, broken, fixed, good, look, record


def last(*nights: NightRecord) -> NightlyHistory:
    return nightly_history(nights)


def many(day: int, count: int, shown: CaseNight) -> NightRecord:
    return replace(record(day), cases=tuple(replace(shown, case=f"case_{n}") for n in range(count)))


HEALTHY = CaseNight(case="", nightly=(GOOD,), control=(GOOD,))
SICK = CaseNight(case="", nightly=(BAD, BAD, BAD), control=(GOOD, GOOD))


@pytest.mark.parametrize(
    ("nights", "headline", "code"),
    [
        ([good(0)], "all as expected", ""),
        ([good(0), bad(1)], "1 new", "failure"),
        ([good(0), bad(1), record(2, BAD)], "1 still bad", "failure"),
        ([good(0), bad(1), fixed(2)], "1 fixed", "failure"),
        ([broken(0)], "infrastructure", "error"),
        ([record(0, look(None, blocked="the canary is red"))], "1 insufficient data", "skipped"),
        ([good(0), record(1, BAD, GOOD, BAD)], "1 flaky", "skipped"),
        ([replace(good(0), stale_days=9)], "the index has no recent build", ""),
    ],
)
def test_headline_and_junit(nights: list[NightRecord], headline: str, code: str) -> None:
    told = nightly_history(nights)
    assert night_report.headline(told.nights[-1]) == headline
    root = ElementTree.fromstring(junit_report.render(told.nights[-1]))
    results = [child.tag for element in root.iter("testcase") for child in element]
    assert results == ([code] if code else [])


def test_a_recorded_symptom_is_as_expected_and_its_reason_is_said() -> None:
    excused = CaseNight(case="identity", nightly=(BAD,), control=(GOOD,), expected={NAN: "under review"})
    told = nightly_history([replace(record(0, BAD), cases=(excused,))])
    (row,) = night_report.rows(told.nights[0])
    assert (row.word.value, row.reason) == ("as expected", "recorded: under review")


def test_the_markdown_says_what_happened_and_escapes_it() -> None:
    hostile = look(Outcome.BAD, "<img src=x> @everyone | cell")
    told = nightly_history([good(0), record(1, hostile, hostile, hostile)])
    text = night_report.markdown(told.nights[-1], told.open_alarms)
    assert text.startswith("# Night of 2024-11-02: 1 new\n")
    assert "\\<img" in text
    assert "@everyone" not in text
    assert "Open alarms:" in text


def test_a_broken_night_says_that_nothing_was_judged() -> None:
    told = nightly_history([broken(0)])
    assert "Nothing was judged: the package index does not answer" in night_report.markdown(told.nights[0], ())


def test_the_json_reads_back() -> None:
    told = nightly_history([good(0), bad(1)])
    assert '"word": "new"' in night_report.json_text(told.nights[-1], told.open_alarms)


def test_a_job_summary_stays_under_its_limit_and_says_so() -> None:
    told = nightly_history([many(0, 300, HEALTHY), many(1, 300, SICK)])
    text = night_report.summary(told.nights[-1], told.open_alarms, limit=5_000)
    assert len(text.encode()) < 5_000
    assert "does not fit" in text
    whole = night_report.summary(told.nights[-1], told.open_alarms)
    assert whole == night_report.markdown(told.nights[-1], told.open_alarms)


def test_at_most_ten_annotations_and_none_can_end_its_line() -> None:
    told = nightly_history([many(0, 30, HEALTHY), many(1, 30, SICK)])
    lines = night_report.workflow_commands(told.nights[-1])
    assert len(lines) == 10
    assert lines[0].startswith("::error title=case_0%3A new::")
    assert "and 21 more" in lines[-1]
    assert all("\n" not in line for line in lines)
    assert night_report.workflow_commands(nightly_history([good(0)]).nights[0]) == []
    assert night_report.workflow_commands(nightly_history([broken(0)]).nights[0])[0].startswith(
        "::warning title=nightly::"
    )


def test_a_replay_says_what_was_run_and_what_was_taken_over() -> None:
    taken = replace(GOOD, inferred=True)
    told = nightly_history([good(0), record(1, taken), good(2), bad(3), record(4, BAD), fixed(5)])
    text = replay_report.markdown(told)
    assert "really run: 5; taken over from two equal neighbours: 1." in text
    assert "| 2024-11-04 | 3.7.0.dev2024110403 | new |" in text
    assert text.count("| fixed |") >= 1
