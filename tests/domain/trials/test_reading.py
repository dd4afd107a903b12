"""A value as it is read from what a trial printed."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.domain.trials.reading import Reading, numbers_as_reading, printed_value, reading, same

NUMBERS = st.floats(allow_nan=True, allow_infinity=True)


@pytest.mark.parametrize(
    ("where", "output", "text"),
    [
        ("loss: ([0-9.naninf-]+)", "loss: 3.5\nloss: 0.25 - mae: 1\n", "0.25"),
        ("loss: ([0-9.naninf-]+)", "\x1b[1mloss: \x1b[32mnan\x1b[0m", "nan"),
        ("[0-9]+ passed", "3 passed, 1 failed", "3 passed"),
        ("^dtype (\\w+)$", "x\ndtype float16\n", "float16"),
        ("json:loss", 'log\n{"loss": 1.5, "x": 2}\n', "1.5"),
        ("json: history.loss", '{"history": {"loss": NaN}}', "nan"),
        ("json:loss", '{"loss": 1}\n{"other": 2}\n[1]\n', "1"),
        ("json:kind", '{"kind": "adam"}', "adam"),
    ],
)
def test_the_last_value_that_was_printed(where, output, text):
    found = printed_value(where, output)
    assert found is not None
    assert found.text == text


@pytest.mark.parametrize(
    ("where", "output"),
    [("loss: (.*)", ""), ("a(b)?", "a"), ("json:loss", "loss 1"), ("json:a.b", '{"a": 1}'), ("json:a", '{"a": [1]}')],
)
def test_no_value_is_none(where, output):
    assert printed_value(where, output) is None


def test_a_number_is_read_as_one_and_a_text_as_text():
    assert reading(" 7.5 ") == Reading(text="7.5", numbers={"value": 7.5})
    assert reading("adam") == Reading(text="adam")
    assert len(reading("x" * 1000).text) == 200


def test_the_numbers_of_a_training_are_one_value():
    assert numbers_as_reading({}) is None
    assert numbers_as_reading({"loss": 0.25, "mae": 1.0}) == Reading(
        text="loss 0.25, mae 1", numbers={"loss": 0.25, "mae": 1.0}
    )


@given(NUMBERS)
def test_every_number_is_the_same_as_itself(value):
    assert same(reading(repr(value)), reading(repr(value)), 0.0, 0.0)


@given(NUMBERS, NUMBERS, st.sampled_from([0.0, 1e-3, 0.1]))
def test_which_of_two_comes_first_does_not_matter(one, other, tolerance):
    first, second = reading(repr(one)), reading(repr(other))
    assert same(first, second, tolerance, 1e-7) is same(second, first, tolerance, 1e-7)


@given(NUMBERS.filter(math.isfinite))
def test_what_is_not_finite_equals_no_number(value):
    for odd in ("nan", "inf", "-inf"):
        assert not same(reading(repr(value)), reading(odd), 0.5, 1.0)
    assert not same(reading("inf"), reading("-inf"), 0.5, 1.0)


def test_a_number_is_no_text_and_texts_are_compared_letter_by_letter():
    assert not same(reading("1"), reading("one"), 1.0, 1.0)
    assert same(reading("adam"), reading("adam"), 0.0, 0.0)
    assert not same(reading("adam"), reading("sgd"), 0.0, 0.0)


@given(st.dictionaries(st.sampled_from("ab"), NUMBERS, min_size=1))
def test_json_that_a_script_prints_gives_back_its_numbers(numbers):
    for name, value in numbers.items():
        found = printed_value(f"json:{name}", f"log\n{json.dumps(numbers)}\n")
        assert found is not None
        assert same(found, reading(repr(value)), 0.0, 0.0)
