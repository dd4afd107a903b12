"""Files are whole or absent, a failing disk is one message, and a folder that cannot be written is refused early."""

from __future__ import annotations

import errno
import os
import stat
import threading
from pathlib import Path

import pytest
from filelock import FileLock, Timeout

from harness.adapters.storage.files import check_output, disk_errors, output_folder, write_reports, write_whole
from harness.domain.errors import InfrastructureError, UsageError


@pytest.mark.parametrize(
    ("number", "message"),
    [(errno.ENOSPC, "the disk is full"), (errno.EDQUOT, "the disk is full"), (errno.EROFS, "cannot write"),
     (errno.EACCES, "cannot write"), (errno.EIO, "cannot write"), (errno.ENOENT, "cannot write")],
)  # fmt: skip
def test_each_failure_of_a_disk_is_one_message(tmp_path: Path, number: int, message: str) -> None:
    with pytest.raises(InfrastructureError, match=message), disk_errors(tmp_path, "do this"):
        raise OSError(number, os.strerror(number))


@pytest.mark.parametrize("number", [errno.EISDIR, errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTEMPTY, errno.EBUSY])
def test_every_way_in_which_a_disk_fails_is_one_message(tmp_path: Path, number: int) -> None:
    with pytest.raises(InfrastructureError, match="cannot write"), disk_errors(tmp_path, "do this"):
        raise OSError(number, os.strerror(number))


@pytest.mark.parametrize("failure", [BrokenPipeError(errno.EPIPE, "x"), ConnectionResetError(errno.ECONNRESET, "x")])
def test_other_failures_are_let_through(tmp_path: Path, failure: OSError) -> None:
    with pytest.raises(ConnectionError), disk_errors(tmp_path, "do this"):
        raise failure


def test_a_lock_that_another_one_has_is_no_failing_disk(tmp_path: Path) -> None:
    held = FileLock(tmp_path / "lock")
    with held, pytest.raises(Timeout), disk_errors(tmp_path, "do this"):
        FileLock(tmp_path / "lock", timeout=0).acquire()


def test_output_folder_is_made_and_left_empty(tmp_path: Path) -> None:
    assert list(output_folder(tmp_path / "a/b").iterdir()) == []


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_an_output_that_cannot_be_written_is_bad_usage(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="cannot be written") as failure:
        output_folder(tmp_path / place)
    assert "--output" in str(failure.value)


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_so_it_is_before_any_work(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="no folder"):
        check_output(tmp_path / place)


def test_a_check_makes_nothing(tmp_path: Path) -> None:
    check_output(tmp_path / "a/b")
    assert list(tmp_path.iterdir()) == []


def test_write_whole_replaces_and_leaves_no_other_file(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    write_whole(path, "old")
    write_whole(path, "new")
    assert path.read_text() == "new"
    assert [p.name for p in tmp_path.iterdir()] == ["report.json"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_write_whole_does_not_follow_a_link(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("precious")
    (tmp_path / "report.json").symlink_to(tmp_path / "victim")
    write_whole(tmp_path / "report.json", "new")
    assert (tmp_path / "victim").read_text() == "precious"


def test_a_reader_sees_one_whole_file_while_others_write(tmp_path: Path) -> None:
    path = tmp_path / "file"
    texts = [letter * 300_000 for letter in "ab"]
    write_whole(path, texts[0])

    def write(text: str) -> None:
        for _ in range(20):
            write_whole(path, text)

    writers = [threading.Thread(target=write, args=(text,)) for text in texts]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        assert path.read_text() in texts


def test_a_folder_that_is_gone_is_said(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError):
        write_whole(tmp_path / "gone/file", "x")


def test_a_write_that_fails_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    write_whole(tmp_path / "report.json", "old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(tmp_path / "report.json", "new \ud800")
    assert (tmp_path / "report.json").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]


def test_reports_are_written_by_name(tmp_path: Path) -> None:
    write_reports(tmp_path, {"a.md": "one", "b.json": "two"})
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.md": "one", "b.json": "two"}


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EDQUOT, "the disk is full"),
        (errno.EFBIG, "ulimit -f"),
        (errno.EMFILE, "ulimit -n"),
        (errno.EAGAIN, "ulimit -u"),
        (errno.ENOMEM, "--jobs"),
    ],
)
def test_what_the_machine_lacks_is_said_with_what_to_raise(tmp_path: Path, number: int, said: str) -> None:
    with pytest.raises(InfrastructureError) as failure, disk_errors(tmp_path, "x"):
        raise OSError(number, os.strerror(number))
    assert said in str(failure.value)
