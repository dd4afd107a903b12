"""Recorded numbers beside those of now."""

from __future__ import annotations

import math

import pytest

from harness.domain.trials.entry import Entry
from harness.domain.trials.trial import FinishedTrial, Trial
from harness.reporting.trials.reproduction_report import terminal
from tests.examples import observation
from tests.fakes import TWO
from tests.reporting.examples import printed


def trial(loss: float) -> FinishedTrial:
    return FinishedTrial(
        trial=Trial(release="3.9.0", variant=TWO), observation=observation({"loss": loss}), seconds=1.0
    )


def shown(before: float, now: float, *, same_environment: bool = True) -> str:
    recorded = [Entry(release="3.9.0", finished=trial(before))]
    return printed(terminal(recorded, [trial(now)], same_environment=same_environment, same_numbers=before == now))


def row(text: str, number: str) -> list[str]:
    (found,) = [line for line in text.splitlines() if f"│ {number} " in line]
    return [cell.strip() for cell in found.strip("│").split("│")]


def test_equal_numbers_stand_side_by_side():
    text = shown(0.0873, 0.0873)
    assert text.splitlines()[0].rstrip() == "3.9.0"
    assert row(text, "loss") == [TWO.label, "loss", "0.0873", "0.0873", ""]
    assert row(text, "ended")[2:] == ["finished", "finished", ""]
    assert text.endswith("Environment: the same lock, interpreter and platform. Numbers: the same.\n")


@pytest.mark.parametrize(("now", "written"), [(0.5, "0.5"), (math.nan, "NaN")])
def test_a_number_that_differs_is_marked(now, written):
    text = shown(0.0873, now)
    assert row(text, "loss")[2:] == ["0.0873", written, "differs"]
    assert text.endswith("Numbers: not the same.\n")


def test_another_interpreter_is_said():
    text = shown(1.0, 1.0, same_environment=False)
    assert "Environment: the same lock on another interpreter or platform." in text
