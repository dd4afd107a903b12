"""Runs are begun, found, resumed and never written over."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.adapters.storage.home import Home
from harness.adapters.storage.run_folders import RunFolders
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import UsageError
from harness.domain.findings.changes.changed_lines import ChangedLines
from harness.domain.findings.transition import Kind
from tests.adapters.samples import entry, header


@pytest.fixture
def folders(home: Home) -> RunFolders:
    return RunFolders(home)


def test_a_run_is_begun_resumed_and_read(folders: RunFolders, tmp_path: Path) -> None:
    run = tmp_path / "reports/run"
    folders.check(run)
    assert not run.exists()
    with folders.begin(run, header()) as begun:
        begun.record(entry(repeat=0))
    with folders.resume(run, header()) as again:
        again.record(entry(repeat=1))
    found, entries = folders.read(run)
    assert found == header()
    assert [one.finished.trial.repeat for one in entries if one.finished] == [0, 1]


def test_another_question_does_not_go_on(folders: RunFolders, tmp_path: Path) -> None:
    with folders.begin(tmp_path / "run", header()):
        pass
    with pytest.raises(UsageError, match="question changed"):
        folders.resume(tmp_path / "run", header("1.0", "2.0"))


def test_a_folder_that_cannot_be_written_is_refused(folders: RunFolders, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="--output"):
        folders.check(tmp_path / "file/run")


def test_a_run_is_found_by_its_path_and_by_its_id(
    folders: RunFolders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("reports/identity").mkdir(parents=True)
    assert folders.locate(Path("identity")) == Path("reports/identity")
    assert folders.locate(Path("nosuch")) == Path("nosuch")
    Path("identity").mkdir()
    assert folders.locate(Path("identity")) == Path("identity")


def test_a_folder_that_exists_is_not_used_again(folders: RunFolders, tmp_path: Path) -> None:
    names = []
    for _ in range(3):
        chosen = folders.unused(tmp_path / "run")
        chosen.mkdir()
        names.append(chosen.name)
    assert names == ["run", "run-2", "run-3"]


def test_runs_below_a_folder_are_those_with_a_journal(folders: RunFolders, tmp_path: Path) -> None:
    (tmp_path / "night/empty").mkdir(parents=True)
    for name in ("b", "a"):
        with folders.begin(tmp_path / "night" / name, header()):
            pass
    assert folders.below(tmp_path / "night") == [tmp_path / "night/a", tmp_path / "night/b"]
    assert folders.below(tmp_path / "nosuch") == []


def test_the_runs_of_a_finished_search_are_recalled(folders: RunFolders) -> None:
    folders.remember(header(), (("1.0", 0), ("1.1", 0)))
    assert folders.recall(header()) == (("1.0", 0), ("1.1", 0))
    assert folders.recall(header("1.0", "2.0")) == ()


def test_lines_that_were_found_are_kept_and_a_damaged_file_says_so(folders: RunFolders, tmp_path: Path) -> None:
    found = (
        ChangedLines(
            symptom=Symptom.EXCEPTION, kind=Kind.REGRESSION, last_before="1.0", first_after="1.1", diff="+\u00e4\n"
        ),
    )
    assert folders.lines(tmp_path) == ()
    folders.keep_lines(tmp_path, found)
    assert folders.lines(tmp_path) == found
    (tmp_path / "lines.json").write_text("[{")
    with pytest.raises(UsageError, match="the lines that were found cannot be read"):
        folders.lines(tmp_path)
