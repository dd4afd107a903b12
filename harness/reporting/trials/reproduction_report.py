"""Recorded numbers beside those of the same trials now."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.markup import escape

from harness.domain.trials.entry import Entry
from harness.domain.trials.reproduction import pairs
from harness.domain.trials.trial import FinishedTrial
from harness.reporting.terminal import line, table
from harness.reporting.text import clean


def terminal(
    recorded: Sequence[Entry], finished: Sequence[FinishedTrial], *, same_environment: bool, same_numbers: bool
) -> RenderableType:
    """One row per number, then whether environment and numbers are the same."""
    made = table(finished[0].trial.release, ("trial", "number", "recorded", "now", ""))
    for entry, again in zip(recorded, finished, strict=True):
        assert entry.finished is not None
        for name, was, now in pairs(entry.finished.observation, again.observation):
            label = escape(again.trial.variant.label)
            made.add_row(label, escape(clean(name)), was, now, "" if was == now else "differs")
    platform = "the same lock, interpreter and platform"
    kind = platform if same_environment else "the same lock on another interpreter or platform"
    return Group(made, line(f"Environment: {kind}. Numbers: {'the same' if same_numbers else 'not the same'}."))
