"""Reports on fixes: whole files, and that no text from outside gets through as anything but text."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest

from harness import codec
from harness.domain.fixes.grades import FixReport, FixResult, Grade, Graded
from harness.reporting.fixes import fix_report
from tests.examples import HOSTILE
from tests.golden.test_reports import golden
from tests.reporting import examples


def hostile(fixes=1):
    """The report of every day with a hostile text in every place that holds text from outside."""
    long = HOSTILE + "x" * 100_000
    report = examples.fix_report(fixes)
    graded = Graded(
        version=HOSTILE,
        grade=Grade.MASKS,
        reason=long,
        reference={HOSTILE: math.nan},
        without={HOSTILE: math.inf},
        patched={HOSTILE: -math.inf},
        by_symptom={"nonfinite-metric": ("bad", "good")},
    )
    names = [HOSTILE] * fixes
    return replace(
        report,
        title=long,
        question=replace(report.question, case=HOSTILE, package=HOSTILE, strategy=HOSTILE),
        environment=replace(report.environment, python=HOSTILE, platform=HOSTILE),
        fixes=tuple(FixResult(name=name, sentence=long, releases=(graded, graded)) for name in names),
        workarounds=(long,),
        control=HOSTILE,
        timing={HOSTILE: 1.0},
        reproduce=f"harness verify-fix '{HOSTILE}'",
    )


def printed(report, width=200):
    return examples.printed(fix_report.terminal(report, Path("reports/run")), width)


class TestGolden:
    def test_json(self, snapshot):
        assert fix_report.json_text(examples.fix_report()) == golden(snapshot, "json")

    @pytest.mark.parametrize("fixes", [1, 4])
    def test_markdown_full_of_hostile_text(self, snapshot, fixes):
        assert fix_report.markdown(hostile(fixes)) == golden(snapshot, "md")

    @pytest.mark.parametrize("fixes", [1, 4])
    def test_terminal(self, snapshot, fixes):
        assert printed(examples.fix_report(fixes)) == golden(snapshot, "txt")


class TestJson:
    @pytest.mark.parametrize("report", [examples.fix_report(), examples.fix_report(5), hostile(), hostile(4)])
    def test_it_is_read_back_as_it_was(self, report):
        text = fix_report.json_text(report)
        assert fix_report.json_text(codec.loads(FixReport, text)) == text

    def test_it_holds_no_bare_nan(self):
        def refuse(constant):
            raise AssertionError(constant)

        json.loads(fix_report.json_text(hostile()), parse_constant=refuse)


class TestHostileText:
    @pytest.mark.parametrize("fixes", [1, 4])
    @pytest.mark.parametrize("width", [40, 80, 200])
    def test_nothing_moves_the_cursor_of_a_terminal(self, fixes, width):
        text = printed(hostile(fixes), width)
        assert not [c for c in text if (ord(c) < 32 and c != "\n") or 0x7F <= ord(c) < 0xA0 or c == "\u202e"]

    @pytest.mark.parametrize("fixes", [1, 4])
    def test_nothing_becomes_markup_or_a_mention(self, fixes):
        text = re.sub(r"`[^`\n]*`", "", fix_report.markdown(hostile(fixes)).split("```")[0].replace(r"\`", ""))
        assert not re.search(r"(?<!\\)<(script|img)", text)
        assert "@maintainer" not in text
        assert not re.search(r"(?<!\\)\*\*bold", text)

    def test_a_row_of_the_table_stays_a_row(self):
        rows = [line for line in fix_report.markdown(hostile()).splitlines() if line.startswith("|")]
        assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {7}

    @pytest.mark.parametrize("fixes", [1, 4])
    def test_no_report_grows_with_a_long_text(self, fixes):
        assert len(fix_report.markdown(hostile(fixes))) < 20_000


class TestCells:
    @pytest.mark.parametrize(
        ("outcomes", "shown"),
        [
            ({"wrong-metric": ("bad", "bad"), "exception": ("good", "bad")}, "wrong-metric, exception"),
            ({"wrong-metric": ("bad", "good"), "exception": ("good", "good")}, "healthy"),
            ({"wrong-metric": ("bad", "skip"), "exception": ("good", "good")}, "cannot be told"),
            ({"wrong-metric": ("bad", "skip")}, "cannot be told"),
            ({}, "cannot be told"),
        ],
    )
    def test_a_cell_of_the_sweep_calls_nothing_healthy_that_was_not_decided(self, outcomes, shown):
        assert fix_report.cell(outcomes, 1) == shown

    def test_a_release_that_was_not_graded_shows_its_grade(self):
        report = examples.fix_report(4)
        blocked = Graded(version="3.9.1", grade=Grade.INCONCLUSIVE, reason="cannot be installed")
        fixes = tuple(replace(fix, releases=(*fix.releases, blocked)) for fix in report.fixes)
        assert "inconclusive" in fix_report.markdown(replace(report, fixes=fixes))
        assert "inconclusive" in printed(replace(report, fixes=fixes))


def test_the_files_by_name():
    report = examples.fix_report()
    assert fix_report.texts(report) == {
        "report.json": fix_report.json_text(report),
        "report.md": fix_report.markdown(report),
    }


def test_the_control_is_named():
    assert "Control: 3.6.0 is the last good release before the range.\n" in printed(examples.fix_report())
    assert "Control:" not in printed(replace(examples.fix_report(), control=""))


def test_the_causes_of_a_sweep_stand_in_both_reports():
    cause = "nonfinite-metric on 3.9.0 hangs on the key sum"
    report = examples.fix_report(4)
    assert cause in printed(report)
    assert cause in fix_report.markdown(report).replace("\\", "")
