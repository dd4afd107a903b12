"""``harness report``: the reports again from the journal alone, as they were printed the first time."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from harness.adapters.storage import journal
from tests.toy_runs import VERDICTS, Harness, repro, words_of

pytestmark = pytest.mark.usefixtures("warm")


def test_json_and_tables_are_those_of_the_run(tmp_path: Path, harness_run: Harness) -> None:
    words = words_of(repro(tmp_path), "1.0", "1.3", "--output", tmp_path / "run")
    first = harness_run(*words)
    again = harness_run("report", tmp_path / "run", "--json")
    assert (again.code, again.out) == (0, first.out)
    tables = harness_run("report", tmp_path / "run")
    assert tables.code == 0
    assert "1.1 -> 1.3" in tables.out


def test_what_holds_no_run_is_refused(tmp_path: Path, harness_run: Harness) -> None:
    refused = harness_run("report", tmp_path)
    assert refused.code == 2
    assert "there is no run to read" in refused.err


def test_of_a_run_that_was_interrupted_anywhere_no_verdict_contradicts_its_runs(
    tmp_path: Path, harness_run: Harness
) -> None:
    """Good, bad, good: the last good release was called bad, and the recovery was hidden."""
    run = tmp_path / "run"
    harness_run(*words_of(repro(tmp_path), "1.0", "2.3", "--output", run))
    lines = (run / journal.NAME).read_bytes().splitlines(keepends=True)
    assert len(lines) > len(VERDICTS)
    for kept in range(1, len(lines) + 1):
        (run / journal.NAME).write_bytes(b"".join(lines[:kept]))
        found = harness_run("report", run, "--json")
        assert found.code == 0
        for row in found.report["releases"]:
            if row["verdict"] is not None:
                assert row["verdict"] == VERDICTS[row["version"]], (kept, row)
        known = [v for v in VERDICTS if found.verdicts[v] in ("good", "bad")]
        changes = [(a, b) for a, b in itertools.pairwise(known) if VERDICTS[a] != VERDICTS[b]]
        assert [(before, after) for _, before, after in found.transitions] == changes, kept
