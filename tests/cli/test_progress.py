"""Progress: a sentence for the user at once, and while a search goes on one line per verdict, with what is left."""

from __future__ import annotations

import re
import threading

import pytest

from harness.cli.progress import Terminal
from harness.jobs.events import Event, EventKind
from tests.examples import HOSTILE


def lines(capsys: pytest.CaptureFixture[str], *events: Event, quiet: bool = False) -> list[str]:
    with Terminal(quiet=quiet) as terminal:
        for event in events:
            terminal.notify(event)
    out, err = capsys.readouterr()
    assert out == "", "stdout belongs to the answer"
    return err.splitlines()


def begin(releases: int = 3) -> Event:
    return Event(kind=EventKind.BEGIN, left=releases)


class TestSearch:
    def test_a_line_per_verdict_and_none_for_what_only_begins(self, capsys):
        shown = lines(
            capsys,
            begin(),
            Event(kind=EventKind.BUILD, release="3.5.0"),
            Event(kind=EventKind.RUN, release="3.5.0"),
            Event(kind=EventKind.GOOD, release="3.5.0", left=2),
            Event(kind=EventKind.BUILD, release="3.6.0"),
            Event(kind=EventKind.SKIP, release="3.6.0", detail="no wheel", left=1),
            Event(kind=EventKind.BAD, release="3.7.0", detail="nonfinite-metric", left=0),
        )
        assert [line.split()[:2] for line in shown] == [["3.5.0", "good"], ["3.6.0", "skip"], ["3.7.0", "bad"]]
        assert "2 releases left, about" in shown[0]
        assert "no wheel" in shown[1]
        assert shown[2].endswith("confirming transitions)")

    def test_nothing_is_said_of_what_is_left_where_nobody_knows(self, capsys):
        events = [Event(kind=kind, release="3.5.0") for kind in (EventKind.BUILD, EventKind.GOOD)]
        (shown,) = lines(capsys, begin(), *events)
        assert re.fullmatch(r"  3\.5\.0 +good +\([0-9.]+ s\)", shown)

    def test_what_delays_a_release_is_said_beside_the_verdicts(self, capsys):
        (shown,) = lines(
            capsys, begin(), Event(kind=EventKind.NOTE, release="3.5.0", detail="waiting for another harness")
        )
        assert shown.split() == ["3.5.0", "waiting", "for", "another", "harness"]

    def test_text_from_outside_is_neither_markup_nor_an_escape(self, capsys):
        hostile = f"[bold red]x[/] {HOSTILE}"
        (shown,) = lines(capsys, begin(), Event(kind=EventKind.BAD, release="3.5.0", detail=hostile, left=0))
        assert "[bold red]x[/]" in shown
        assert shown.isprintable()

    def test_several_threads_may_notify_at_once(self, capsys):
        with Terminal(jobs=4) as terminal:
            terminal.notify(begin(40))
            threads = [
                threading.Thread(target=terminal.notify, args=(Event(kind=EventKind.GOOD, release=f"1.{n}", left=n),))
                for n in range(40)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        shown = capsys.readouterr().err.splitlines()
        assert {line.split()[0] for line in shown} == {f"1.{n}" for n in range(40)}

    def test_one_search_may_follow_another(self, capsys):
        """A finer channel is a search of its own; what was left of the coarser one is no longer counted."""
        shown = lines(
            capsys,
            begin(2),
            Event(kind=EventKind.GOOD, release="3.5.0", left=1),
            Event(kind=EventKind.END),
            begin(9),
            Event(kind=EventKind.BAD, release="3.6.0.dev1", left=8),
        )
        assert "1 releases left" in shown[0]
        assert "8 releases left" in shown[1]


class TestSentences:
    def test_a_warning_says_that_it_is_one(self, capsys):
        shown = lines(capsys, Event(kind=EventKind.WARNING, detail="the index does not answer"))
        assert shown == ["harness: warning: the index does not answer"]

    def test_a_message_stands_as_it_is(self, capsys):
        assert lines(capsys, Event(kind=EventKind.MESSAGE, detail="written")) == ["written"]

    def test_without_a_search_a_delay_is_a_sentence(self, capsys):
        shown = lines(capsys, Event(kind=EventKind.NOTE, release="3.5.0", detail="attempt 2 of 3 failed"))
        assert shown == ["harness: 3.5.0: attempt 2 of 3 failed"]

    @pytest.mark.parametrize("kind", [EventKind.WARNING, EventKind.MESSAGE])
    def test_they_are_said_while_a_search_goes_on_too(self, capsys, kind):
        (shown,) = lines(capsys, begin(), Event(kind=kind, detail="the clone is old"))
        assert shown.endswith("the clone is old")

    @pytest.mark.parametrize("kind", [EventKind.BUILD, EventKind.RUN, EventKind.GOOD, EventKind.DONE, EventKind.END])
    def test_the_trials_of_a_single_run_need_no_line(self, capsys, kind):
        assert lines(capsys, Event(kind=kind, release="3.5.0", left=1)) == []


class TestNights:
    def test_each_case_is_announced_with_how_many_are_left(self, capsys):
        event = Event(kind=EventKind.CASE, release="identity", left=4)
        assert lines(capsys, event) == ["  identity (4 left)"]

    def test_not_so_in_a_replay(self, capsys):
        """Hundreds of nights, each with a dozen cases."""
        assert lines(capsys, Event(kind=EventKind.CASE, release="identity", left=4), quiet=True) == []

    @pytest.mark.parametrize("quiet", [False, True])
    def test_a_change_that_is_narrowed_is_always_said(self, capsys, quiet):
        event = Event(kind=EventKind.NARROW, release="identity", detail="nonfinite-metric")
        assert lines(capsys, event, quiet=quiet) == ["  identity: nonfinite-metric changed; looking for the night"]

    def test_the_name_of_a_case_moves_no_cursor(self, capsys):
        (shown,) = lines(capsys, Event(kind=EventKind.CASE, release=HOSTILE, left=0))
        assert shown.isprintable()
