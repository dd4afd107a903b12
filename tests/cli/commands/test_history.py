"""``harness history``: nights and bad periods of a case, made anew from the journal each time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.cli import main
from tests.cli.commands.test_nightly import state
from tests.nights import BAD, bad, fixed, good, record


def test_history_shows_nights_and_bad_periods(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(state(tmp_path, good(0), bad(1), record(2, BAD), fixed(3)))
    assert main.run(["history", "identity", "--state", folder]) == 0
    shown = capsys.readouterr().out
    assert "4 nights, the last one first" in shown
    assert "bad from 2024-11-02 (3.7.0.dev2024110203) to 2024-11-03 (3.7.0.dev2024110303), 2 nights" in shown
    assert main.run(["history", "identity", "--state", folder, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["bad_periods"][0]["nights"] == 2
    assert main.run(["history", "identiti", "--state", folder]) == 2
    assert "known: identity" in capsys.readouterr().err
    assert main.run(["history", "identity", "--state", str(tmp_path / "none")]) == 2


def test_a_case_that_was_always_good_has_no_bad_period(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(state(tmp_path, good(0), good(1)))
    assert main.run(["history", "identity", "--state", folder]) == 0
    assert "No bad period." in capsys.readouterr().out


def test_a_period_that_goes_on_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(state(tmp_path, good(0), bad(1)))
    assert main.run(["history", "identity", "--state", folder]) == 0
    assert "and still on 2024-11-02, 1 nights" in capsys.readouterr().out


def test_a_state_without_nights_says_what_to_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["history", "identity", "--state", str(tmp_path)]) == 2
    assert "harness nightly" in capsys.readouterr().err
