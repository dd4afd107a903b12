"""What a terminal shows at the end of a search."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.domain.cases.symptoms import Symptom
from harness.domain.findings.changes.changed_lines import ChangedLines
from harness.domain.findings.finding import Finding
from harness.domain.findings.transition import Kind, Untested
from harness.domain.verdicts.reasons import recorded
from harness.reporting.bisection import terminal_report
from tests.golden.test_reports import golden
from tests.reporting import examples
from tests.reporting.examples import printed


def shown(finding: Finding, width: int = 200) -> str:
    return printed(terminal_report.terminal(finding, Path("reports/run")), width)


def row(text: str, version: str) -> list[str]:
    """The words of the row of a release."""
    return next(line.split() for line in text.splitlines() if line.split()[:1] == [version])


def test_the_order_is_answer_ribbons_transitions_releases():
    text = shown(examples.everyday(), 80)
    parts = [
        "exception begins 3.6.0 -> 3.7.0;",
        "-> Upgrade keras to 3.10.0",
        "one character per release",
        "1. exception begins",
        "2024-08-12",
    ]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert places[0] == 0


def test_one_line_per_symptom_and_one_character_per_release():
    text = shown(examples.everyday(), 80)
    (ribbon,) = [line for line in text.splitlines() if line.startswith("nonfinite-metric  ")]
    assert ribbon.split()[1] == "..?X-?X."
    assert ". good, X bad, ? skip, - not run" in " ".join(text.split())


def test_a_row_per_release_with_verdict_numbers_and_the_number_of_its_reason():
    text = shown(examples.everyday())
    assert row(text, "3.5.0") == ["3.5.0", "2024-08-12", "good", "0.0872513", "0.0872514"]
    assert row(text, "3.8.0") == ["3.8.0", "2025-01-07", "bad", "0.0872513", "NaN", "[2]"]
    assert row(text, "3.9.0") == ["3.9.0", "2025-03-04", "not", "run"]
    assert row(text, "3.9.1") == ["3.9.1", "skip", "[3]"]
    assert text.count("cannot be installed: no wheel for 3.11") == 1


@pytest.mark.parametrize("finding", [examples.everyday, examples.staged])
def test_at_80_columns_no_row_is_broken(finding):
    text = shown(finding(), 80)
    rows = [line for line in text.splitlines() if line.strip().startswith("3.") and "20" in line and "->" not in line]
    assert all(len(line) <= 80 for line in rows)
    assert all("…" not in line for line in rows)


def test_many_releases_that_were_not_run_have_no_row():
    releases = tuple(replace(examples.everyday().releases[4], version=f"{n}.0") for n in range(100))
    text = shown(replace(examples.everyday(), releases=releases, transitions=()))
    assert "100 releases were not run and have no row." in text
    assert "one character per stretch" in text


def test_time_place_and_command_stand_last():
    tail = shown(examples.everyday()).splitlines()
    assert tail[-1] == "Again:   harness bisect identity --from 3.5.0 --to 3.10.0"
    assert tail[-2] == "Reports: reports/run/report.md, report.json, report.html, junit.xml"
    assert tail[-3] == "Time (sum over jobs): index 0.4 s, resolve 3.2 s, build 2.2 min, import 42.5 s, trials 18.0 s"
    assert "  - 3.9.0 was not run." in tail


def test_transitions_say_what_is_not_confirmed_and_what_lies_between():
    text = shown(examples.everyday())
    assert "0.9500, not confirmed" in text
    assert "3.7.0: hidden by exception" in text


def test_many_reasons_between_two_sides_are_cut():
    one = examples.everyday().transitions[1]
    between = tuple(Untested(version=f"{n}.0", reason=recorded(f"reason {n}")) for n in range(9))
    text = shown(replace(examples.everyday(), transitions=(replace(one, untested=between),)))
    assert "and 3 more reasons in report.html" in text


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
    first, *others = finding.releases
    text = shown(replace(finding, releases=(replace(first, value="7.4"), *others)))
    (row,) = [line for line in text.splitlines() if line.split()[:1] == ["3.5.0"]]
    assert row.split()[1:4] == ["2024-08-12", "good", "7.4"]
    assert "7.4" not in shown(finding)


def test_the_lines_behind_a_transition_are_shown_as_a_diff_that_is_cut_where_it_is_long():
    one = ChangedLines(
        symptom=Symptom.EXCEPTION,
        kind=Kind.REGRESSION,
        last_before="3.6.0",
        first_after="3.7.0",
        diff="--- a/keras/a.py\n+x = '[bold]'\n" + "+y\n" * terminal_report.MOST_LINES,
        files=("keras/a.py",),
        hunks=1,
        backward="it is gone",
    )
    text = shown(replace(examples.everyday(), changed_lines=(one,)))
    assert "1 hunk in keras/a.py" in text
    assert "    +x = '[bold]'\n" in text
    assert text.count("    +y\n") == terminal_report.MOST_LINES - 2
    assert "and 2 more lines in report.md" in text
