"""Signatures: what differs from run to run goes, what tells failures apart stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.signatures import LONGEST, normalised, signature


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("object at 0x7f3a10 is dead", "object at 0x55ffee01 is dead"),
        ("No such file: /home/a/x.py", "No such file: /tmp/b-1/deep/y.py"),
        (r"cannot open C:\Users\me\x.h5", r"cannot open D:\other\y.h5"),
        ("line 12, loss 0.087251", "line 480, loss -1.5e-07"),
        ("shape (None, 32, 32) is wrong", "shape (None, 128) is wrong"),
        (
            "run 3f2504e0-4f89-11d3-9a0c-0305e82c3301 failed",
            "run 9b2504e0-4f89-11d3-9a0c-0305e82c3aaa failed",
        ),
        ("commit 28d39c0cc766ab failed", "commit 4aae578b7f67cd failed"),
        ("two   spaces", "two spaces"),
        ("the first line\nat step 4", "the first line\nat step 5"),
        ("\n\n the first line", "the first line"),
    ],
)
def test_same_failure(one: str, other: str) -> None:
    assert normalised(one) == normalised(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("float32 expected", "float16 expected"),
        ("conv2d is bad", "conv3d is bad"),
        ("read and/or write", "read or write"),
        ("mean aggregation", "sum aggregation"),
    ],
)
def test_other_failure(one: str, other: str) -> None:
    assert normalised(one) != normalised(other)


@given(st.text())
def test_normalising_is_short_one_line_and_does_not_raise(message: str) -> None:
    text = normalised(message)
    assert len(text) <= LONGEST
    assert "\n" not in text


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_numbers_never_tell_failures_apart(one: int, other: int) -> None:
    """Two messages that differ in a number alone have one signature."""
    assert normalised(f"step {one} failed") == normalised(f"step {other} failed")


def test_parts_are_joined_and_empty_ones_left_out() -> None:
    assert signature("exception", exception="ValueError", message="at 5") == "exception | ValueError | at <n>"
    assert signature("nonfinite-metric", first_name="loss") == "nonfinite-metric | loss"
    assert signature("timeout") == "timeout"
    whole = signature("exception", exception="ValueError", message="at 5", first_name="loss")
    assert whole == "exception | ValueError | at <n> | loss"


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("object at 0x7F3a10 is dead", "object at <address> is dead"),
        ("run 3f2504e0-4f89-11d3-9a0c-0305e82c3301 failed", "run <id> failed"),
        ("commit 28d39c0cc766ab failed", "commit <id> failed"),
        ("No such file: /tmp/b-1/deep/y.py", "No such file: <path>"),
        (r"cannot open C:\Users\me\x.h5", "cannot open <path>"),
        ("loss -1.5e-07 at step 12", "loss <n> at step <n>"),
        ("shape (2, 3, 4) or 5 x 6", "shape (<n>) or <n>"),
        ("\n\t two\t\twords \nand more", "two words"),
        ("x" * 250, "x" * LONGEST),
    ],
)
def test_what_is_left_of_a_message(message: str, text: str) -> None:
    assert normalised(message) == text


def test_nothing_to_say() -> None:
    assert normalised("  \n ") == ""
