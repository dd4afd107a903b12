"""``harness reproduce``: the same numbers are 0, others are 3."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.adapters.storage import journal
from harness.adapters.storage.checksums import marked, unmarked
from harness.cli.commands.reproduce import OTHER_NUMBERS
from tests.toy_runs import Harness, repro, words_of

pytestmark = pytest.mark.usefixtures("warm")


@pytest.fixture
def run(tmp_path: Path, harness_run: Harness) -> Path:
    """A finished run over two releases."""
    harness_run(*words_of(repro(tmp_path), "1.0", "1.1", "--output", tmp_path / "run"))
    return tmp_path / "run"


def test_the_same_trial_gives_the_same(run: Path, harness_run: Harness) -> None:
    again = harness_run("reproduce", run, "--release", "1.1")
    assert again.code == 0
    assert "Environment: the same lock, interpreter and platform. Numbers: the same." in again.out
    (trial,) = json.loads(harness_run("reproduce", run, "--release", "1.1", "--json").out)
    assert trial["trial"]["release"] == "1.1"


def test_another_ending_than_the_recorded_one_has_its_exit_code(run: Path, harness_run: Harness) -> None:
    path = run / journal.NAME
    text = path.read_text()
    assert '"kind": "exited"' in text, "else this test shows nothing"
    lines = [unmarked(line).decode() for line in text.encode().splitlines()]
    path.write_text("\n".join(marked(line.replace('"kind": "exited"', '"kind": "raised"')) for line in lines) + "\n")
    again = harness_run("reproduce", run, "--release", "1.1")
    assert again.code == OTHER_NUMBERS
    assert "differs" in again.out
    assert "Numbers: not the same." in again.out


def test_a_release_that_was_not_tried_names_those_that_were(run: Path, harness_run: Harness) -> None:
    refused = harness_run("reproduce", run, "--release", "2.0")
    assert refused.code == 2
    known = refused.err.partition("releases with trials: ")[2]
    assert sorted(known.strip().split(", ")) == ["1.0", "1.1"]
