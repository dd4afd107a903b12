"""A script that checks nothing gets a warning, and what it printed is compared."""

from __future__ import annotations

import pytest

from harness.domain.cases.case import Level
from harness.domain.cases.shapes.runners import Runner
from harness.domain.cases.symptoms import Symptom
from harness.domain.findings.unchecked import checks_nothing, output_changes, unchecked
from tests.examples import case


@pytest.mark.parametrize(
    ("text", "changes", "nothing"),
    [
        ("import keras\nkeras.f()", {}, True),
        ("import keras", {}, False),
        ("import keras\nassert keras.f()", {}, False),
        ("import keras\nkeras.f()", {"level": Level.MODEL}, False),
        ("import keras\nkeras.f()", {"runner": Runner.COMMAND}, False),
        ("import keras\nkeras.f()", {"expects": Symptom.TIMEOUT}, False),
        ("import keras\nkeras.f()", {"value": "loss (.*)"}, False),
        ("import keras\nkeras.f()", {"warning": "odd"}, False),
        ("x = (", {}, False),
    ],
)
def test_who_checks_nothing(text: str, changes: dict[str, object], nothing: bool) -> None:
    made = case(**{"level": Level.SCRIPT, "text": text, **changes})
    assert checks_nothing(made) is nothing
    assert bool(unchecked(made, {"1.0": ["a"]})) is nothing


def test_the_change_of_what_is_printed_is_named_and_the_version_is_none() -> None:
    outputs = {"3.5.0": ["keras 3.5.0 difference 0.0\n"], "3.6.0": ["keras 3.6.0 difference 7.426\n"], "3.7.0": []}
    (told,) = output_changes({**outputs, "3.8.0": ["keras 3.8.0 difference 7.4261\n"]})
    was, now = "'keras <version> difference 0.0'", "'keras <version> difference 7.426'"
    assert told == f"What it prints changes, 3.5.0 -> 3.6.0: {was} becomes {now}."


def test_a_line_that_comes_or_goes_is_named() -> None:
    (told,) = output_changes({"1": ["x\n"], "2": ["x\nWarning: y"]})
    assert told == "What it prints changes, 1 -> 2: nothing becomes 'Warning: y'."


def test_numbers_that_vary_within_one_release_times_and_logs_are_left_aside() -> None:
    first = "2026-12-01 10:00:00: I log\nloss: 0.5 at <x 0x1f>\n1/1 3ms/step\nsame nan"
    second = "2026-12-01 10:00:09: I log\nloss: 0.7 at <x 0x2f>\n1/1 9ms/step\nsame nan"
    assert list(output_changes({"a": [first, second], "b": [second]})) == []
    assert len(list(output_changes({"a": [first], "b": [second]}))) == 1


def test_the_warning_comes_first_and_only_some_changes_follow() -> None:
    outputs = {str(n): [f"value {n + 100}.5"] for n in range(6)}
    told = unchecked(case(level=Level.SCRIPT, text="import keras\nkeras.f()"), outputs)
    assert told[0].startswith("The case checks nothing")
    assert len(told) == 5
    assert told[-1] == "What it prints changes in 2 more places."
    assert len(unchecked(case(level=Level.SCRIPT, text="import keras\nkeras.f()"), {"1": ["a"], "2": ["a"]})) == 1
