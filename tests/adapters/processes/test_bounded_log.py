"""Logs keep their beginning and their end, and nobody waits for them."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.adapters.processes import bounded_log as module
from harness.adapters.processes.bounded_log import BoundedLog


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HEAD_BYTES", 100)
    monkeypatch.setattr(module, "TAIL_BYTES", 100)
    monkeypatch.setattr(module, "CHUNK", 32)


def kept(log: Path, *chunks: bytes, whole: bool = False) -> bytes:
    with BoundedLog(log, whole=whole) as output:
        for chunk in chunks:
            os.write(output.writer, chunk)
    return log.read_bytes()


def test_what_is_short_is_kept_as_it_is_behind_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"before ")
    assert kept(tmp_path / "log", b"one ", b"two") == b"before one two"


def test_the_middle_of_what_is_long_is_left_out_and_that_is_said(tmp_path: Path) -> None:
    text = kept(tmp_path / "log", b"first" + b"x" * 5000 + b"last")
    assert text.startswith(b"firstx")
    assert text.endswith(b"xlast")
    assert b" bytes left out ...]" in text
    assert len(text) < 400


def test_a_result_is_kept_whole(tmp_path: Path) -> None:
    assert kept(tmp_path / "log", b"x" * 5000, whole=True) == b"x" * 5000


@given(st.lists(st.binary(max_size=300), max_size=8))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_head_and_tail_are_those_of_what_was_printed(tmp_path: Path, chunks: list[bytes]) -> None:
    log, printed = tmp_path / "log", b"".join(chunks)
    log.unlink(missing_ok=True)
    text = kept(log, *chunks)
    if len(printed) <= 200:
        assert text == printed
    else:
        assert text[:100] == printed[:100]
        assert text[-100:] == printed[-100:]
        assert len(text) <= 100 + 100 + 32 + 40


def test_who_holds_the_output_open_and_prints_on_is_not_waited_for(tmp_path: Path) -> None:
    with BoundedLog(tmp_path / "log", whole=False) as output:
        other = os.dup(output.writer)

    def flood() -> None:
        while True:
            try:
                os.write(other, b"x" * 4096)
            except OSError:
                return

    endless = BoundedLog(tmp_path / "more", whole=False)
    with endless as output:
        os.dup2(output.writer, other)
        threading.Thread(target=flood, daemon=True).start()
    assert (tmp_path / "more").stat().st_size < 1000
    os.close(other)


def test_a_disk_that_takes_no_more_stops_the_log_alone(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no such device here")
    with BoundedLog(Path("/dev/full"), whole=False) as output:
        for _ in range(100):
            os.write(output.writer, b"x" * 4096)
    with pytest.raises(OSError, match="No space"), BoundedLog(Path("/dev/full"), whole=True) as output:
        os.write(output.writer, b"x")
