"""What a terminal shows at the end of a search."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.domain.findings.finding import Finding
from harness.reporting.bisection import terminal_report
from tests.golden.test_reports import golden
from tests.reporting import examples
from tests.reporting.examples import printed


def shown(finding: Finding, width: int = 200) -> str:
    return printed(terminal_report.terminal(finding, Path("reports/run")), width)


def rows(text: str, version: str) -> list[list[str]]:
    """The cells of every row about a version; the first two tables have the version in their first or third column."""
    cut = [[cell.strip() for cell in line.strip("│ \n").split("│")] for line in text.splitlines() if "│" in line]
    return [cells for cells in cut if cells[0] == version]


def test_a_row_per_release_with_verdict_symptoms_numbers_and_reason():
    text = shown(examples.everyday())
    assert rows(text, "3.5.0")[0][1:4] == ["2024-08-12", "good", ""]
    assert rows(text, "3.8.0")[0][2:6] == [
        "bad",
        "nonfinite-metric",
        "loss 0.0872513, mae 0.24108",
        "loss NaN, mae inf",
    ]
    assert rows(text, "3.9.0")[0][2] == "not run"
    assert rows(text, "3.9.1")[0][2] == "skip"
    assert "cannot be installed: no wheel for 3.11" in rows(text, "3.9.1")[0][-1]


def test_answer_caveats_time_place_and_command_stand_below():
    text = shown(examples.everyday())
    tail = text[text.index("exception begins 3.6.0 -> 3.7.0;") :].splitlines()
    assert tail[-1] == "Again:   harness bisect identity --from 3.5.0 --to 3.10.0"
    assert tail[-2] == "Reports: reports/run/report.md, report.json, report.html, junit.xml"
    assert tail[-3] == "Time (sum over jobs): index 0.4 s, resolve 3.2 s, build 2.2 min, import 42.5 s, trials 18.0 s"
    assert "  - 3.9.0 was not run." in tail


def test_transitions_say_what_is_not_confirmed():
    text = shown(examples.everyday())
    assert "0.9500, not confirmed" in text
    assert "3.7.0: hidden by exception" in text


def test_without_transitions_there_is_no_table_of_them():
    assert "untested between" not in shown(replace(examples.everyday(), transitions=()))


@pytest.mark.parametrize("width", [40, 80, 200])
def test_no_text_from_outside_moves_the_cursor_or_styles_anything(width):
    """Neither escapes of the terminal nor markup of the table library get through."""
    text = shown(examples.hostile(), width)
    assert not [c for c in text if ord(c) < 32 and c != "\n"]
    assert not [c for c in text if 0x7F <= ord(c) < 0xA0 or c == "\u202e"]


def test_square_brackets_are_text_not_markup():
    finding = replace(examples.everyday(), reproduce="harness bisect '[bold]x[/bold]'")
    assert "harness bisect '[bold]x[/bold]'" in shown(finding)


def test_a_finer_search_stands_with_its_cause_below_the_answer():
    text = " ".join(shown(examples.staged()).split())
    assert "keras-nightly: nonfinite-metric ends in the nightlies." in text
    assert "Add synchronization (#21072)); keras/src/metrics/metric.py +12 -3, logo.png" in text


@pytest.mark.parametrize("finding", [examples.everyday, examples.staged])
def test_the_whole_report(finding, snapshot):
    assert shown(finding(), 160) == golden(snapshot, "txt")


def test_printed_values_have_a_column_where_there_are_any():
    finding = examples.everyday()
    assert "value" not in shown(finding).splitlines()[2]
    first, *others = finding.releases
    text = shown(replace(finding, releases=(replace(first, value="7.4"), *others)))
    assert rows(text, "3.5.0")[0][3:5] == ["", "7.4"]
