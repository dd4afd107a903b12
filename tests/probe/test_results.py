"""Result files: whole or absent, and what JSON cannot carry is written as text."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import codec
from harness.probe.results import portable, write

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()) | st.integers(), inner),
    max_leaves=20,
)


@given(VALUES)
def test_every_value_becomes_json_that_others_read(value):
    json.dumps(portable(value), allow_nan=False).encode("utf-8")


@given(VALUES)
def test_what_is_portable_stays_as_it_is(value):
    once = portable(value)
    assert portable(once) == once


@given(st.floats())
def test_a_number_is_read_back_by_the_harness(number):
    read = codec.loads(float, json.dumps(portable(number)))
    assert read == number or (math.isnan(read) and math.isnan(number))


def test_half_a_surrogate_pair_becomes_its_escape():
    assert portable({"a\ud800": ("\udcff",)}) == {"a\\ud800": ["\\udcff"]}


def test_a_file_is_written_whole_and_nothing_is_left_beside_it(tmp_path):
    path = tmp_path / "result.json"
    write(str(path), {"loss": float("nan")})
    write(str(path), {"loss": float("-inf")})
    assert json.loads(path.read_text()) == {"loss": "-inf"}
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("value", [object(), {"x": [{1, 2}]}])
def test_what_cannot_be_written_leaves_the_last_file_as_it_was(tmp_path, value):
    path = tmp_path / "result.json"
    write(str(path), "before")
    with pytest.raises(TypeError):
        write(str(path), value)
    assert json.loads(path.read_text()) == "before"


def test_a_folder_in_its_place_makes_way(tmp_path):
    path = tmp_path / "result.json"
    (path / "inner").mkdir(parents=True)
    (tmp_path / "result.json.partial").mkdir()
    write(str(path), 1)
    assert json.loads(path.read_text()) == 1
