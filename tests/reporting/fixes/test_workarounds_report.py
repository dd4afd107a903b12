"""Reports on remedies and claims: whole tables, safe text, both numbers."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest
from rich.console import Console

from harness import codec
from harness.domain.fixes.workarounds import WorkaroundReport
from harness.reporting.fixes import workarounds_report
from tests.examples import HOSTILE
from tests.reporting import examples

TEXTS = ["an epsilon inside the logarithm", HOSTILE]


def shown(report: WorkaroundReport, width: int = 200) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    workarounds_report.show(report, Path("reports/run"), console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("text", TEXTS)
class TestEveryReport:
    def test_every_row_of_a_table_has_the_cells_of_its_head(self, text):
        rows = workarounds_report.markdown(examples.remedies_report(text)).splitlines()
        tables = re.split(r"\n(?!\|)", "\n".join(rows))
        widths = [[len(re.findall(r"(?<!\\)\|", row)) for row in t.splitlines() if row.startswith("|")] for t in tables]
        assert sum(len(set(table)) == 1 for table in widths if table) == sum(bool(table) for table in widths)

    def test_nobody_is_mentioned(self, text):
        assert not re.search(r"@\w", workarounds_report.markdown(examples.remedies_report(text)))

    @pytest.mark.parametrize("width", [40, 200])
    def test_the_terminal_is_safe(self, text, width):
        told = shown(examples.remedies_report(text), width)
        assert not [c for c in told if ord(c) < 32 and c != "\n"]

    def test_the_json_is_read_back_as_it_was(self, text):
        written = workarounds_report.json_text(examples.remedies_report(text))
        again = codec.loads(WorkaroundReport, written)
        assert workarounds_report.json_text(again) == written
        assert json.loads(written)["rows"][0]["cells"][0]["graded"]["without"] == {"loss": "nan"}


def test_the_terminal_shows_both_tables_and_how_to_ask_again():
    told = shown(examples.remedies_report())
    assert re.search(r"log_epsilon +│ fault=silent_log +│ yes +│ yes / no +│", told)
    assert re.search(r"nothing +│ the defaults +│ cannot be told +│ cannot be told", told)
    assert "on one replica it is the same case without its fault" in " ".join(told.split())
    assert re.search(r"the TPU is not affected +│ not testable here", told)
    assert told.splitlines()[-1] == "Again:   harness remedies stft_loss --release 3.9.0 --replicas 1,2"


def test_both_numbers_of_a_claim_stand_in_the_report():
    assert "refuted (loss NaN; reference loss 0.087251)" in workarounds_report.markdown(examples.remedies_report())


def test_reports_are_written_whole(tmp_path):
    workarounds_report.write_all(examples.remedies_report(), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.json", "report.md"]
