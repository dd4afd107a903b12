"""Where runs lie: a new folder is never one that is taken, and a run is found by its path and by its id."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.adapters.storage import journal
from harness.adapters.storage.home import Home
from harness.adapters.storage.run_folders import RunFolders
from harness.domain.errors import UsageError
from tests.adapters.samples import entry, header


@pytest.fixture
def runs(home: Home) -> RunFolders:
    return RunFolders(home)


def test_a_folder_that_is_taken_gets_a_number(runs: RunFolders, tmp_path: Path) -> None:
    assert runs.unused(tmp_path / "run") == tmp_path / "run"
    (tmp_path / "run").mkdir()
    (tmp_path / "run-2").mkdir()
    assert runs.unused(tmp_path / "run") == tmp_path / "run-3"


def test_a_run_is_found_by_its_path_and_by_its_id(runs: RunFolders) -> None:
    Path("reports/run").mkdir(parents=True)
    assert runs.locate(Path("run")) == Path("reports/run")
    assert runs.locate(Path("reports/run")) == Path("reports/run")
    assert runs.locate(Path("gone")) == Path("gone")


def test_a_folder_of_that_name_goes_before_an_id(runs: RunFolders) -> None:
    Path("reports/run").mkdir(parents=True)
    Path("run").mkdir()
    assert runs.locate(Path("run")) == Path("run")


def test_a_run_that_was_begun_can_be_read_and_gone_on_with(runs: RunFolders, tmp_path: Path) -> None:
    folder = tmp_path / "reports" / "run"
    with runs.begin(folder, header()) as begun:
        begun.record(entry())
    with runs.resume(folder, header()) as resumed:
        assert [found.release for found in resumed.entries()] == ["1.0"]
    asked, entries = runs.read(folder)
    assert asked == header()
    assert [found.release for found in entries] == ["1.0"]


def test_a_run_that_asked_something_else_is_not_gone_on_with(runs: RunFolders, tmp_path: Path) -> None:
    with runs.begin(tmp_path / "run", header()):
        pass
    with pytest.raises(UsageError, match="releases"):
        runs.resume(tmp_path / "run", header("1.0", "1.1", "1.2"))


def test_the_runs_below_a_folder_are_those_with_a_journal(runs: RunFolders, tmp_path: Path) -> None:
    for name in ("b", "a"):
        with runs.begin(tmp_path / "run" / name, header()):
            pass
    (tmp_path / "run" / "kept").mkdir()
    (tmp_path / "run" / journal.NAME).touch()
    assert runs.below(tmp_path / "run") == [tmp_path / "run/a", tmp_path / "run/b"]


def test_a_folder_that_cannot_be_written_is_refused_and_nothing_is_made(runs: RunFolders, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot be written"):
        runs.check(tmp_path / "file" / "run")
    runs.check(tmp_path / "new" / "run")
    assert not (tmp_path / "new").exists()


def test_what_a_finished_search_ran_is_recalled(runs: RunFolders) -> None:
    assert runs.recall(header()) == ()
    runs.remember(header(), (("1.0", 0), ("1.1", 0)))
    assert runs.recall(header()) == (("1.0", 0), ("1.1", 0))
