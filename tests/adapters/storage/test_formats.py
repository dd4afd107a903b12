"""Journals of every format that was ever written are read as they were meant; those of a later one are refused.

The runs in ``first_version`` were written by version 0.1.0 and cut down to a few releases; their answers here are
what ``harness report`` of that version says of them.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import codec
from harness.adapters.storage import formats, journal, nightly_journal
from harness.adapters.storage.journal import FileJournal
from harness.adapters.storage.nightly_journal import FileNightlyJournal
from harness.domain.cases.case import Case
from harness.domain.errors import UsageError
from harness.domain.findings.run import RunHeader
from harness.domain.trials.entry import Entry
from tests.adapters.samples import entry, header
from tests.nights import good
from tests.toy_runs import Harness

FIRST_VERSION = Path(__file__).parent / "first_version"
ANSWERS: dict[str, tuple[dict[str, list[str]], list[tuple[str, str, str, str]]]] = {
    "ema_overwrite": (
        {
            "3.16.0.dev2026101104": ["exception"],
            "3.16.0.dev2026101204": ["exception"],
            "3.16.0.dev2026101304": [],
        },
        [("exception", "recovery", "3.16.0.dev2026101204", "3.16.0.dev2026101304")],
    ),
    "identity": (
        {
            "3.6.0": ["wrong-metric", "wrong-weights"],
            "3.7.0": ["nonfinite-metric", "wrong-weights"],
            "3.9.2": ["nonfinite-metric"],
            "3.10.0": [],
        },
        [
            ("nonfinite-metric", "regression", "3.6.0", "3.7.0"),
            ("nonfinite-metric", "recovery", "3.9.2", "3.10.0"),
            ("wrong-metric", "recovery", "3.6.0", "3.10.0"),
            ("wrong-weights", "recovery", "3.7.0", "3.9.2"),
        ],
    ),
    "identity_fix": (
        {"3.6.0": [], "3.7.0": ["nonfinite-metric"]},
        [("nonfinite-metric", "regression", "3.6.0", "3.7.0")],
    ),
}


@pytest.fixture(params=sorted(ANSWERS))
def first_run(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A run of the first version, in a folder that may be written."""
    return Path(shutil.copytree(FIRST_VERSION / request.param, tmp_path / request.param))


def raw(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / journal.NAME).read_text(encoding="utf-8").splitlines()]


def test_a_run_of_the_first_version_is_answered_as_before(first_run: Path, harness_run: Harness) -> None:
    done = harness_run("report", str(first_run), "--json")
    assert done.code == 0
    report = json.loads(done.out)
    symptoms, transitions = ANSWERS[first_run.name]
    assert {one["version"]: one["symptoms"] for one in report["releases"]} == symptoms
    found = [(t["symptom"], t["kind"], t["last_before"], t["first_after"]) for t in report["transitions"]]
    assert found == transitions


def test_nothing_of_a_first_journal_is_lost(first_run: Path) -> None:
    before, *entries = raw(first_run)
    now, read = journal.read(first_run)
    again = codec.to_json(RunHeader, now)
    assert kept(formats.from_first(before), again)
    assert kept(entries, [codec.to_json(Entry, one) for one in read])
    named = {field.name for field in fields(Case)}
    assert again["case"]["parameters" if "parameters" in named else "switches"] == before["case"]["switches"]
    assert kept(before["case"]["remedies"], again["case"]["workarounds" if "workarounds" in named else "remedies"])


def kept(before: object, now: object) -> bool:
    """Whether everything that was there is there still; new fields may come beside it."""
    if isinstance(before, dict) and isinstance(now, dict):
        return all(name in now and kept(value, now[name]) for name, value in before.items())
    if isinstance(before, list) and isinstance(now, list):
        return len(before) == len(now) and all(map(kept, before, now))
    return before == now


def test_a_run_of_the_first_version_is_resumed(first_run: Path) -> None:
    question, count = journal.read(first_run)[0].question, len(journal.read(first_run)[1])
    with FileJournal.resume(first_run, question) as again:
        again.record(entry())
    assert len(journal.read(first_run)[1]) == count + 1


def test_nights_of_the_first_version_are_read_and_go_on(tmp_path: Path) -> None:
    shutil.copy(FIRST_VERSION / "nights" / nightly_journal.NAME, tmp_path)
    nights = FileNightlyJournal(tmp_path)
    (record,) = nights.records()
    assert (record.nightly, record.control) == ("3.16.0.dev2026102704", "3.15.1")
    assert [night.case for night in record.cases] == ["ema_overwrite", "identity", "stft_loss"]
    assert record.watched[0].answer == "yes"
    nights.end(good(0))
    assert list(FileNightlyJournal(tmp_path).records()) == [good(0), record]


def test_new_journals_carry_the_format(tmp_path: Path) -> None:
    with FileJournal.begin(tmp_path, header()):
        pass
    FileNightlyJournal(tmp_path).end(good(0))
    assert raw(tmp_path)[0]["format"] == formats.FORMAT
    assert json.loads((tmp_path / nightly_journal.NAME).read_text(encoding="utf-8"))["format"] == formats.FORMAT


@pytest.mark.parametrize("name", [journal.NAME, nightly_journal.NAME])
def test_a_journal_of_a_newer_harness_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text('{"format": 3, "whatever": "comes"}\n')
    with pytest.raises(UsageError, match="newer version") as failure:
        journal.read(tmp_path) if name == journal.NAME else nightly_journal.read(tmp_path)
    assert failure.value.where == str(tmp_path / name)
    assert "update" in (failure.value.hint or "")


@pytest.mark.parametrize("number", ["0", "-1", "true", "null", '"2"', "1.5", "[]", "{}"])
def test_a_format_that_is_no_number_is_damage(tmp_path: Path, number: str) -> None:
    text = formats.dumps(RunHeader, header()).replace(f'"format": {formats.FORMAT}', f'"format": {number}', 1)
    (tmp_path / journal.NAME).write_text(text + "\n")
    with pytest.raises(UsageError, match="damaged: format"):
        journal.read(tmp_path)


def test_the_first_names_are_translated_and_nothing_else() -> None:
    values = {"switches": {"fault": ["a", "b"]}, "remedies": [], "name": "x"}
    known = {field.name for field in fields(Case)}
    made = formats.from_first({"case": values, "question": {"switches": 1}})
    assert set(made["case"]) <= known
    assert list(made["case"].values()) == list(values.values())
    assert made["question"] == {"switches": 1}


@given(
    st.dictionaries(
        st.sampled_from(["case", "question", "format"]), st.none() | st.integers() | st.text() | st.lists(st.none())
    )
)
def test_a_header_that_is_none_is_translated_to_itself(values: dict[str, Any]) -> None:
    assert formats.from_first(values) == values
