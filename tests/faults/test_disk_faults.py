"""A disk that is full or cannot be written: a small file system in memory where that can be mounted."""

from __future__ import annotations

import os
import resource
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
    tmp_path: Path, harness_run: Harness, built: LocalIndex, small: Path, leave: int
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


@pytest.fixture
def tight(
    small: Path, tmp_path: Path, harness_run: Harness, index: LocalIndex, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A home on a small disk, with room for now; 1.0 and 1.3 are built."""
    grow(small)
    monkeypatch.setenv("HARNESS_HOME", str(small / "home"))
    (small / "home").mkdir()
    return small


@pytest.mark.parametrize("leave", [0, 12_288, 1 << 20])
def test_a_home_that_is_full_before_a_step_blames_no_release(
    tmp_path: Path, harness_run: Harness, tight: Path, leave: int
) -> None:
    run = tmp_path / "run"
    case = repro(tmp_path)
    first = harness_run(*words_of(case, "1.0", "1.0", "--output", tmp_path / "first"))
    assert first.verdicts == {"1.0": "good"}
    ballast = fill(tight, leave)
    stopped = harness_run(*words_of(case, "1.0", "1.3", "--output", run))
    assert stopped.code == 6
    assert "the disk is full" in stopped.err
    known = journal.read(run)[1] if (run / journal.NAME).exists() else []
    assert not [one for one in known if one.untestable and one.release != "1.2"]
    ballast.unlink()
    found = harness_run(*words_of(case, "1.0", "1.3", *(("--resume", run) if (run / journal.NAME).exists() else ())))
    assert (found.verdicts, found.transitions) == UNDISTURBED


def test_a_trial_that_fills_the_disk_is_neither_bad_nor_kept(tmp_path: Path, harness_run: Harness, tight: Path) -> None:
    """What it wrote stays there, so there is no room for another try: the search stops.

    With one job: of two trials at once, each would empty the other's file when it opens it.
    """
    ballast, no = str(tight / "ballast"), str(tight / "no")
    body = f"if not os.path.exists({no!r}): open({ballast!r}, 'wb').write(bytes(500_000_000))"
    case = repro(tmp_path, body=body)
    stopped = harness_run(*words_of(case, "1.0", "1.3", "--output", tmp_path / "run", "--jobs", "1"))
    assert stopped.code == 6
    assert "the disk is full" in stopped.err
    assert not list((tight / "home/trials").glob("*/*.json"))
    (tight / "ballast").unlink()
    (tight / "no").touch()
    found = harness_run(*words_of(case, "1.0", "1.3", "--resume", tmp_path / "run"))
    assert (found.verdicts, found.transitions) == UNDISTURBED


LACKED = {
    "ENOSPC": "raise OSError(28, 'No space left on device')",
    "EDQUOT": "raise OSError(122, 'Disk quota exceeded')",
    "EMFILE": "raise OSError(24, 'Too many open files')",
    "EAGAIN": 'raise RuntimeError("can\'t start new thread")',
    "MemoryError": "raise MemoryError",
}


@pytest.mark.parametrize("what", LACKED)
def test_a_trial_that_lacked_something_once_is_run_once_more(
    tmp_path: Path, harness_run: Harness, built: LocalIndex, what: str
) -> None:
    flag = tmp_path / "flag"
    case = repro(
        tmp_path, body=f"if not os.path.exists({str(flag)!r}): open({str(flag)!r}, 'w').close(); {LACKED[what]}"
    )
    found = harness_run(*words_of(case, "1.0", "1.3"))
    assert (found.verdicts, found.transitions) == UNDISTURBED
    again = harness_run(*words_of(case, "1.0", "1.3"))
    assert again.answer == found.answer, "what is kept is the second run"


@pytest.mark.parametrize("what", LACKED)
def test_a_trial_that_fails_alike_with_room_is_bad(
    tmp_path: Path, harness_run: Harness, built: LocalIndex, what: str
) -> None:
    """A release may really open ten thousand files."""
    case = repro(tmp_path, body=f"if toykeras.__version__ == '1.1': {LACKED[what]}")
    found = harness_run(*words_of(case, "1.0", "1.1"))
    assert found.verdicts == {"1.0": "good", "1.1": "bad"}
    assert case.ran()["1.1"] % 2 == 0, "each of its runs was made again with room"


@pytest.mark.parametrize(
    ("kind", "most", "said"),
    [(resource.RLIMIT_NOFILE, 100, "ulimit -n"), (resource.RLIMIT_FSIZE, 1 << 20, "ulimit -f")],
)
def test_limits_of_the_session_blame_no_release(
    tmp_path: Path, harness_run: Harness, index: LocalIndex, kind: int, most: int, said: str
) -> None:
    soft, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (most, hard))
    try:
        stopped = harness_run(*words_of(repro(tmp_path), "1.0", "1.3"))
    finally:
        resource.setrlimit(kind, (soft, hard))
    assert stopped.code == 6
    assert said in stopped.err
    found = harness_run(*words_of(repro(tmp_path), "1.0", "1.3"))
    assert (found.verdicts, found.transitions) == UNDISTURBED
