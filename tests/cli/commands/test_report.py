"""``harness report``: the reports again from the journal alone, as they were printed the first time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.toy_runs import Harness, repro, words_of

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
