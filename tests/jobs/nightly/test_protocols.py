"""The real journal of nights and the tools of a night are what their protocols ask for."""

from __future__ import annotations

from pathlib import Path

from harness.adapters.storage.nightly_journal import FileNightlyJournal
from harness.jobs.nightly.case_runs import ReleaseFixChecker, SearchNarrower, SlotRunner
from harness.jobs.nightly.protocols import CaseRunner, FixChecker, Narrower, NightlyJournal
from harness.jobs.nightly.replay import ReplayRunner
from tests.nights import START, good


def journal(folder: Path) -> NightlyJournal:
    """mypy holds the journal on disk to the protocol."""
    return FileNightlyJournal(folder)


def tools(
    slot: SlotRunner, replayed: ReplayRunner, search: SearchNarrower, released: ReleaseFixChecker
) -> tuple[CaseRunner, CaseRunner, Narrower, FixChecker]:
    """mypy holds the tools of a night to their protocols."""
    return slot, replayed, search, released


def test_a_night_that_is_over_is_read_again(tmp_path: Path) -> None:
    made = journal(tmp_path)
    night = good(0)
    made.begin(night.night, START)
    assert made.records() == ()
    made.end(night)
    assert [record.night for record in made.records()] == [night.night]
    assert [record.night for record in journal(tmp_path).records()] == [night.night]
