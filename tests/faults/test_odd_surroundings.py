"""Folders that cannot be used, outputs that nobody takes, names that no file system takes: a message, no traceback."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.adapters.storage import journal, run_cache
from tests.local_index import LocalIndex
from tests.toy_runs import Child, Harness, repro, words_of

UNDISTURBED = {"1.0": "good", "1.1": "good", "1.2": "skip", "1.3": "bad"}


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a line of a shell in which ``$H`` is the harness."""
    environment = {**os.environ, "H": f"{sys.executable} -m harness"}
    command = ["bash", "-c", line]
    return subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder, env=environment)


def test_locks_that_cannot_be_taken(
    tmp_path: Path, harness_run: Harness, index: LocalIndex, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = words_of(repro(tmp_path), "1.0", "1.3", "--fresh")
    assert harness_run(*words).verdicts == UNDISTURBED
    for lock in (isolated / "locks").iterdir():
        lock.unlink()
        lock.mkdir()
    stopped = harness_run(*words)
    assert stopped.code == 6
    assert "cannot write" in stopped.err
    assert "try:" in stopped.err
    shutil.rmtree(isolated / "locks")
    (isolated / "locks").write_text("")
    assert harness_run(*words).code == 6


def test_an_answer_that_cannot_be_remembered_is_an_answer(
    tmp_path: Path, harness_run: Harness, index: LocalIndex, isolated: Path
) -> None:
    isolated.mkdir(exist_ok=True)
    (isolated / run_cache.FOLDER).write_text("in the way")
    found = harness_run(*words_of(repro(tmp_path), "1.0", "1.3", "--output", tmp_path / "run"))
    assert (found.code, found.verdicts) == (0, UNDISTURBED)
    assert "warning: the answer is complete, but the next search cannot be as fast: cannot write" in found.err
    assert (tmp_path / "run" / "report.md").exists()


@pytest.mark.parametrize("name", ["n" * 243, "\u00fc" * 120, "a\udcff", "two\nlines"])
@pytest.mark.usefixtures("warm")
def test_a_case_of_any_name(tmp_path: Path, harness_run: Harness, name: str) -> None:
    case = repro(tmp_path)
    path = tmp_path / f"{name}.py"
    case.path.rename(path)
    found = harness_run("bisect", path, "--from", "1.0", "--to", "1.3", "--json")
    assert (found.code, found.verdicts) == (0, UNDISTURBED)
    (folder,) = (tmp_path / "reports").iterdir()
    for report in ("report.md", "report.html", "junit.xml", "report.json"):
        assert (folder / report).read_text(encoding="utf-8")
    assert harness_run("report", folder, "--json").report == found.report


@pytest.mark.usefixtures("warm")
def test_a_journal_that_is_removed_during_the_run(tmp_path: Path, harness_run: Harness) -> None:
    run = tmp_path / "run"
    body = f"import pathlib\npathlib.Path({str(run / journal.NAME)!r}).unlink(missing_ok=True)"
    found = harness_run(*words_of(repro(tmp_path, body=body), "1.0", "1.3", "--output", run, "--jobs", "1"))
    assert (found.code, found.verdicts) == (0, UNDISTURBED)
    assert "was removed during the run; it was written again, and nothing is lost" in found.err
    assert harness_run("report", run, "--json").report == found.report


@pytest.mark.usefixtures("warm")
def test_a_journal_that_a_folder_has_replaced(tmp_path: Path, harness_run: Harness) -> None:
    run = tmp_path / "run"
    path = str(run / journal.NAME)
    body = f"os.unlink({path!r}) if os.path.isfile({path!r}) else None\nos.makedirs({path!r}, exist_ok=True)"
    stopped = harness_run(*words_of(repro(tmp_path, body=body), "1.0", "1.3", "--output", run))
    assert stopped.code == 6
    assert "has taken the place of the journal" in stopped.err
    refused = harness_run("report", run)
    assert refused.code == 2


def test_a_home_whose_name_is_no_text(tmp_path: Path, harness_run: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_HOME", os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe"))
    refused = harness_run(*words_of(repro(tmp_path), "1.0", "1.3"))
    assert refused.code == 2
    assert "the name of the cache folder is not UTF-8" in refused.err
    assert "set HARNESS_HOME" in refused.err


@pytest.mark.parametrize("blocks", [0, 1, 16, 10_000])
def test_a_limit_on_the_size_of_files_is_no_skip(tmp_path: Path, index: LocalIndex, blocks: int) -> None:
    """In blocks of 1024 bytes."""
    words = " ".join(words_of(repro(tmp_path), "1.0", "1.3", "--output", tmp_path / "run"))
    stopped = shell(
        f"export PYTHONDONTWRITEBYTECODE=1; ulimit -f {blocks}; $H {words} | cat; exit ${{PIPESTATUS[0]}}", tmp_path
    )
    assert stopped.returncode == 6
    assert f"this session allows no file larger than {blocks * 1024} bytes" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    assert "skip" not in stopped.stderr
    assert "try:" in stopped.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux's")
@pytest.mark.usefixtures("warm")
class TestOutput:
    """What happens to what is printed never decides on the answer."""

    def test_a_full_disk_behind_the_answer(self, tmp_path: Path) -> None:
        words = " ".join(words_of(repro(tmp_path), "1.0", "1.3", "--output", tmp_path / "run"))
        done = shell(f"$H {words} > /dev/full", tmp_path)
        assert done.returncode == 6
        assert "the answer cannot be printed: No space left on device" in done.stderr
        assert "Traceback" not in done.stderr
        assert (tmp_path / "run" / "report.md").exists()

    def test_a_full_disk_behind_the_progress(self, tmp_path: Path) -> None:
        words = " ".join(words_of(repro(tmp_path), "1.0", "1.3"))
        done = shell(f"$H {words} 2> /dev/full", tmp_path)
        assert done.returncode == 0
        assert '"1.3"' in done.stdout

    @pytest.mark.parametrize("reader", ["head -1", "true", "head -c 1"])
    def test_a_reader_that_leaves(self, tmp_path: Path, reader: str) -> None:
        words = " ".join(words_of(repro(tmp_path), "1.0", "1.3", "--output", tmp_path / "run"))
        done = shell(f"$H {words} 2>&1 | {reader} > /dev/null; exit ${{PIPESTATUS[0]}}", tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert (tmp_path / "run" / "report.md").exists()


@pytest.mark.usefixtures("warm")
def test_a_harness_that_is_interrupted_says_how_to_go_on(tmp_path: Path) -> None:
    """The guarded output prints what it should when the work ends early, too."""
    case = repro(tmp_path)
    case.hold.touch()
    child = Child(words_of(case, "1.0", "1.3", "--output", tmp_path / "run"), tmp_path)
    child.until(case.ran)
    child.kill(signal.SIGINT)
    ended = child.end()
    assert ended.code == 130
    assert "--resume" in ended.err
