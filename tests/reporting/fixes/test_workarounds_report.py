"""Reports on workarounds and claims: whole tables, safe text, both numbers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from harness import codec
from harness.domain.fixes.workarounds import WorkaroundReport
from harness.reporting.fixes import workarounds_report
from tests.examples import HOSTILE
from tests.reporting import examples

TEXTS = ["an epsilon inside the logarithm", HOSTILE]


def shown(report: WorkaroundReport, width: int = 200) -> str:
    return examples.printed(workarounds_report.terminal(report, Path("reports/run")), width)


@pytest.mark.parametrize("text", TEXTS)
class TestEveryReport:
    def test_every_row_of_a_table_has_the_cells_of_its_head(self, text):
        rows = workarounds_report.markdown(examples.workarounds_report(text)).splitlines()
        tables = re.split(r"\n(?!\|)", "\n".join(rows))
        widths = [[len(re.findall(r"(?<!\\)\|", row)) for row in t.splitlines() if row.startswith("|")] for t in tables]
        assert sum(len(set(table)) == 1 for table in widths if table) == sum(bool(table) for table in widths)

    def test_nobody_is_mentioned(self, text):
        assert not re.search(r"@\w", workarounds_report.markdown(examples.workarounds_report(text)))

    @pytest.mark.parametrize("width", [40, 200])
    def test_the_terminal_is_safe(self, text, width):
        output = shown(examples.workarounds_report(text), width)
        assert not [c for c in output if ord(c) < 32 and c != "\n"]

    def test_the_json_is_read_back_as_it_was(self, text):
        written = workarounds_report.json_text(examples.workarounds_report(text))
        again = codec.loads(WorkaroundReport, written)
        assert workarounds_report.json_text(again) == written
        assert json.loads(written)["rows"][0]["cells"][0]["graded"]["without"] == {"loss": "nan"}


def test_the_terminal_shows_both_tables_and_how_to_ask_again():
    output = shown(examples.workarounds_report())
    assert re.search(r"log_epsilon +│ fault=silent_log +│ yes +│ yes / no +│", output)
    assert re.search(r"nothing +│ the defaults +│ cannot be told +│ cannot be told", output)
    assert "on one replica it is the same case without its fault" in " ".join(output.split())
    assert re.search(r"the TPU is not affected +│ not testable here", output)
    assert output.splitlines()[-1] == "Again:   harness remedies stft_loss --release 3.9.0 --replicas 1,2"


def test_both_numbers_of_a_claim_stand_in_the_report():
    assert "refuted (loss NaN; reference loss 0.087251)" in workarounds_report.markdown(examples.workarounds_report())


def test_the_files_by_name():
    report = examples.workarounds_report()
    assert workarounds_report.texts(report) == {
        "report.json": workarounds_report.json_text(report),
        "report.md": workarounds_report.markdown(report),
    }
