"""Lines are written whole or not at all, and read as far as they are whole."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.adapters.storage.json_lines import append, whole_lines
from harness.domain.errors import InfrastructureError


@given(values=st.lists(st.text() | st.integers(), max_size=6), data=st.data())
def test_a_file_cut_anywhere_keeps_its_whole_lines_and_takes_more(
    tmp_path_factory: pytest.TempPathFactory, values: list[object], data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("lines") / "file.jsonl"
    for value in values:
        append(path, json.dumps(value), hint="")
    content = path.read_bytes() if values else b""
    cut = data.draw(st.integers(0, len(content)))
    path.write_bytes(content[:cut])
    append(path, '"the next"', hint="")
    whole = content[:cut].count(b"\n")
    found = whole_lines(path.read_bytes())
    assert [json.loads(line) for _, line in found] == [*values[:whole], "the next"]
    assert [number for number, _ in found] == list(range(1, whole + 2))


def test_blank_lines_are_counted_and_left_out() -> None:
    assert whole_lines(b'1\n\n  \n2\n{"torn') == [(1, b"1"), (4, b"2")]
    assert whole_lines(b"") == []


def test_a_folder_that_is_gone_is_said_with_the_hint(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match="cannot write") as failure:
        append(tmp_path / "gone" / "file.jsonl", "1", hint="choose another folder")
    assert failure.value.hint == "choose another folder"


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux's")
def test_a_full_disk_is_said() -> None:
    with pytest.raises(InfrastructureError, match="disk is full"):
        append(Path("/dev/full"), "1", hint="")
