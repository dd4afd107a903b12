"""The words of events, and what one tells."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from harness.domain.verdicts.verdict import Outcome
from harness.jobs.events import Event, EventKind


def test_the_words_of_events_are_what_listeners_and_logs_know_them_by():
    assert [kind.value for kind in EventKind] == [
        "begin",
        "end",
        "build",
        "run",
        "good",
        "bad",
        "skip",
        "done",
        "note",
        "case",
        "narrow",
        "warning",
        "message",
    ]


def test_every_verdict_has_an_event():
    """A search turns a verdict into its event by the word."""
    assert [EventKind(outcome.value).value for outcome in Outcome] == [outcome.value for outcome in Outcome]


def test_each_kind_is_described():
    assert EventKind.__doc__ is not None
    assert all(f"``{kind.value}``" in EventKind.__doc__ for kind in EventKind)


def test_an_event_concerns_no_release_unless_it_says_so():
    event = Event(kind=EventKind.NOTE)
    assert (event.release, event.detail, event.left) == ("", "", None)
    with pytest.raises(FrozenInstanceError):
        event.detail = "other"  # type: ignore[misc]
