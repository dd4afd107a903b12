"""Nothing that a failing disk turned over is believed; what an earlier version wrote is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import codec
from harness.adapters.storage.checksums import marked, read_checked, unmarked, write_checked

OBJECTS = st.dictionaries(st.text(), st.integers() | st.text() | st.lists(st.booleans()), max_size=4)


@given(OBJECTS)
def test_a_line_comes_back_and_stays_json(value: dict[str, object]) -> None:
    line = json.dumps(value)
    assert unmarked(marked(line).encode()) == line.encode()
    assert {**json.loads(marked(line)), "check": ""} == {**value, "check": ""}


@given(OBJECTS)
def test_a_line_of_an_earlier_version_is_taken_as_it_is(value: dict[str, object]) -> None:
    assert unmarked(json.dumps(value).encode()) == json.dumps(value).encode()


def test_no_bit_of_a_line_turns_over_unseen() -> None:
    line = marked('{"exit_code": 0}').encode()
    for place in range(len(line) * 8):
        flipped = bytearray(line)
        flipped[place // 8] ^= 1 << place % 8
        try:
            found = unmarked(bytes(flipped))
        except codec.Malformed:
            continue
        assert b'{"exit_code": 0' in found, "the checksum itself was hit, what it is for was not"


def test_a_file_comes_back_under_its_own_name_alone(tmp_path: Path) -> None:
    write_checked(tmp_path / "file", "text\nof two lines", "a")
    assert read_checked(tmp_path / "file", "a") == "text\nof two lines"
    with pytest.raises(ValueError, match="damaged"):
        read_checked(tmp_path / "file", "b")


def test_no_bit_of_a_file_turns_over_unseen(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_checked(path, "text", "a")
    whole = path.read_bytes()
    for place in range(len(whole) * 8):
        flipped = bytearray(whole)
        flipped[place // 8] ^= 1 << place % 8
        path.write_bytes(flipped)
        with pytest.raises(ValueError, match=r"damaged|decode"):
            read_checked(path, "a")


def test_a_file_without_a_checksum_is_damaged(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("{}")
    with pytest.raises(ValueError, match="damaged"):
        read_checked(tmp_path / "file", "a")
