"""Room on a small file system, and beside limits of this session."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.adapters.processes import room as module
from harness.adapters.processes.room import check_room, check_room_after, installer_cache
from harness.adapters.storage.home import Home
from harness.domain.errors import InfrastructureError
from harness.domain.trials.shortage import Shortage


@contextmanager
def limited(kind: int, most: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(kind, (soft, hard))


def test_there_is_room(home: Home, tmp_path: Path) -> None:
    check_room(home, "resolving", [tmp_path / "not" / "made" / "yet"])
    for shortage in Shortage:
        check_room_after(shortage, home, "resolving")


def test_a_disk_with_too_little_is_named_with_both_numbers(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LEAST_BYTES", 1 << 62)
    with pytest.raises(
        InfrastructureError, match=r"the disk is full \(installing\): \d+ bytes are free, at least"
    ) as no:
        check_room(home, "installing")
    assert no.value.where
    assert "HARNESS_HOME" in str(no.value.hint)


@pytest.mark.parametrize(
    ("kind", "most", "said"),
    [(resource.RLIMIT_FSIZE, 1 << 20, "ulimit -f"), (resource.RLIMIT_NOFILE, 100, "ulimit -n")],
)
def test_a_limit_of_the_session_is_named(home: Home, kind: int, most: int, said: str) -> None:
    with limited(kind, most), pytest.raises(InfrastructureError) as refused:
        check_room(home, "resolving")
    assert said in str(refused.value)


def test_what_was_lacking_is_still_lacking(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LEAST_MEMORY_BYTES", 1 << 62)
    with pytest.raises(InfrastructureError, match="memory ran out"):
        check_room_after(Shortage.MEMORY, home, "running a trial")
    monkeypatch.setattr(module, "_processes_left", lambda: 3)
    with pytest.raises(InfrastructureError, match="only 3 processes"):
        check_room_after(Shortage.PROCESSES, home, "running a trial")


def test_the_installer_s_cache_is_where_uv_looks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "own"))
    assert installer_cache() == tmp_path / "own"
    monkeypatch.delenv("UV_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert installer_cache() == tmp_path / "uv"
