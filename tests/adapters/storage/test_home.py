from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from harness.adapters.storage.files import disk_errors, output_folder
from harness.adapters.storage.home import Home
from harness.domain.errors import InfrastructureError, UsageError


def test_harness_home_overrides_the_user_s_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_HOME", str(tmp_path / "here"))
    assert Home.default().folder("a", "b") == tmp_path / "here/a/b"
    assert (tmp_path / "here/a/b").is_dir()
    monkeypatch.delenv("HARNESS_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert tmp_path not in Home.default().root.parents or Home.default().root.is_relative_to(tmp_path / "cache")


def test_a_relative_home_stays_where_it_was_when_the_folder_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARNESS_HOME", "here")
    home = Home.default()
    monkeypatch.chdir("/")
    assert home.folder("x") == tmp_path / "here/x"


def test_scratch_goes_whatever_happened_in_it(home: Home) -> None:
    with pytest.raises(ZeroDivisionError), home.scratch() as scratch:
        fail_in(scratch)
    assert not scratch.exists()


def fail_in(scratch: Path) -> None:
    (scratch / "deep/er").mkdir(parents=True)
    (scratch / "deep/er/file").write_text("x")
    (scratch / "deep").chmod(0o500)
    raise ZeroDivisionError


def test_a_file_in_the_way_is_said_with_advice(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("in the way")
    with pytest.raises(InfrastructureError, match="cannot write") as failure:
        Home(tmp_path / "home").folder("x")
    assert "HARNESS_HOME" in str(failure.value)


@pytest.mark.parametrize(
    ("number", "told"),
    [(errno.ENOSPC, "the disk is full"), (errno.EDQUOT, "the disk is full"), (errno.EROFS, "cannot write"),
     (errno.EACCES, "cannot write"), (errno.EIO, "cannot write"), (errno.ENOENT, "cannot write")],
)  # fmt: skip
def test_each_failure_of_a_disk_is_one_message(tmp_path: Path, number: int, told: str) -> None:
    with pytest.raises(InfrastructureError, match=told), disk_errors(tmp_path, "do this"):
        raise OSError(number, os.strerror(number))


def test_other_failures_are_let_through(tmp_path: Path) -> None:
    with pytest.raises(InterruptedError), disk_errors(tmp_path, "do this"):
        raise OSError(errno.EINTR, os.strerror(errno.EINTR))


def test_output_folder_is_made_and_left_empty(tmp_path: Path) -> None:
    assert list(output_folder(tmp_path / "a/b").iterdir()) == []


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_an_output_that_cannot_be_written_is_bad_usage(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="cannot be written") as failure:
        output_folder(tmp_path / place)
    assert "--output" in str(failure.value)
