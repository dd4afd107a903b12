"""The journal of nights on a real disk: torn lines, killed nights, two at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.adapters.storage.nightly_journal import NAME, Busy, FileNightlyJournal, only_one
from harness.domain.errors import UsageError
from tests.nights import START, bad, good


def test_what_was_ended_is_read_back_the_same(tmp_path: Path) -> None:
    book = FileNightlyJournal(tmp_path)
    for night in (bad(1), good(0)):
        book.begin(night.night, night.moment)
        book.end(night)
    assert list(FileNightlyJournal(tmp_path).records()) == [good(0), bad(1)]
    assert FileNightlyJournal(tmp_path).killed() == ()


def test_of_two_nights_on_one_day_the_later_one_counts(tmp_path: Path) -> None:
    book = FileNightlyJournal(tmp_path)
    book.end(good(0))
    book.end(bad(0))
    assert list(FileNightlyJournal(tmp_path).records()) == [bad(0)]


def test_a_night_that_was_killed_is_known_and_says_nothing(tmp_path: Path) -> None:
    FileNightlyJournal(tmp_path).begin("2024-11-01", START)
    book = FileNightlyJournal(tmp_path)
    assert book.killed() == ("2024-11-01",)
    assert list(book.records()) == []


@given(st.data())
def test_a_journal_cut_anywhere_keeps_every_whole_line_and_goes_on(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("state")
    book = FileNightlyJournal(folder)
    for night in (good(0), bad(1)):
        book.end(night)
    content = (folder / NAME).read_bytes()
    cut = data.draw(st.integers(0, len(content)))
    (folder / NAME).write_bytes(content[:cut])
    whole = content[:cut].count(b"\n")
    assert len(FileNightlyJournal(folder).records()) == whole
    FileNightlyJournal(folder).end(good(5))
    assert list(FileNightlyJournal(folder).records()) == [*[good(0), bad(1)][:whole], good(5)]


def test_a_line_of_somebody_else_is_refused_with_its_number(tmp_path: Path) -> None:
    FileNightlyJournal(tmp_path).end(good(0))
    with (tmp_path / NAME).open("a") as file:
        file.write('{"night": 5}\n')
    with pytest.raises(UsageError, match="damaged in line 2"):
        FileNightlyJournal(tmp_path)


def test_one_night_at_a_time(tmp_path: Path) -> None:
    with only_one(tmp_path), pytest.raises(Busy, match="another night"):
        only_one(tmp_path)
    with only_one(tmp_path):
        pass
