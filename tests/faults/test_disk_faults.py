"""A disk that is full or cannot be written: a small file system in memory where that can be mounted."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.adapters.storage import journal
from tests.local_index import LocalIndex
from tests.toy_runs import Harness, repro, words_of

UNDISTURBED = ({"1.0": "good", "1.1": "good", "1.2": "skip", "1.3": "bad"}, [("regression", "1.1", "1.3")])


def mount(folder: Path, *options: str) -> bool:
    command = ["mount", "-t", "tmpfs", "-o", ",".join(options), "harness-test", str(folder)]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 kB."""
    folder = tmp_path / "small"
    folder.mkdir()
    if not mount(folder, "size=64k"):
        pytest.skip("a file system can be mounted by root only")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path, leave: int) -> Path:
    """Write a file that leaves only so many bytes."""
    state = os.statvfs(folder)
    ballast = folder / "ballast"
    ballast.write_bytes(b"x" * max(0, state.f_bavail * state.f_frsize - leave))
    return ballast


def grow(folder: Path) -> None:
    subprocess.run(["mount", "-o", "remount,size=400m", str(folder)], check=True)


@pytest.mark.parametrize("what", ["HARNESS_HOME", "UV_CACHE_DIR"])
def test_a_cache_on_a_full_disk(
    tmp_path: Path, harness_run: Harness, index: LocalIndex, small: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setenv(what, str(small))
    words = words_of(repro(tmp_path), "1.0", "1.3")
    stopped = harness_run(*words)
    assert stopped.code == 6
    assert "the disk is full" in stopped.err
    assert "try:" in stopped.err
    grow(small)
    found = harness_run(*words)
    assert (found.verdicts, found.transitions) == UNDISTURBED


@pytest.mark.parametrize("leave", [0, 4096, 12288, 20480])
def test_a_run_whose_folder_fills_up(
    tmp_path: Path, harness_run: Harness, index: LocalIndex, small: Path, leave: int
) -> None:
    """Wherever the disk becomes full - header, entry, report - the journal stays whole and the run can go on."""
    run = small / "run"
    words = words_of(repro(tmp_path), "1.0", "1.3")
    ballast = fill(small, leave)
    stopped = harness_run(*words, "--output", run)
    assert stopped.code == 6
    assert "the disk is full" in stopped.err
    known = journal.read(run)[1] if (run / journal.NAME).exists() and (run / journal.NAME).read_bytes() else None
    ballast.unlink()
    grow(small)
    found = harness_run(*words, *(("--output", run) if known is None else ("--resume", run)))
    assert (found.verdicts, found.transitions) == UNDISTURBED
    if known:
        assert journal.read(run)[1][: len(known)] == known


def test_an_output_folder_that_cannot_be_written(
    tmp_path: Path, harness_run: Harness, index: LocalIndex, small: Path
) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(small)], check=True)
    refused = harness_run(*words_of(repro(tmp_path), "1.0", "1.3", "--output", small / "run"))
    assert refused.code == 2
    assert "cannot be written" in refused.err
    assert "--output" in refused.err


def test_a_home_that_cannot_be_written(
    tmp_path: Path, harness_run: Harness, index: LocalIndex, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(small)], check=True)
    monkeypatch.setenv("HARNESS_HOME", str(small))
    refused = harness_run(*words_of(repro(tmp_path), "1.0", "1.3"))
    assert refused.code == 6
    assert "HARNESS_HOME" in refused.err
