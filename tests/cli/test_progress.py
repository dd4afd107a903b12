"""Progress: one line per verdict, with what is left."""

from __future__ import annotations

import threading

from harness.cli.progress import listener
from harness.jobs.protocols import Event
from tests.examples import HOSTILE


def lines(capsys, *events: Event, releases: int = 3, jobs: int = 1) -> list[str]:
    with listener(releases, jobs) as shown:
        for event in events:
            shown.notify(event)
    out, err = capsys.readouterr()
    assert out == ""
    return str(err).splitlines()


def test_a_line_per_verdict_and_none_for_what_only_begins(capsys):
    told = lines(
        capsys,
        Event(kind="build", release="3.5.0"),
        Event(kind="run", release="3.5.0"),
        Event(kind="good", release="3.5.0", left=2),
        Event(kind="build", release="3.6.0"),
        Event(kind="skip", release="3.6.0", detail="no wheel", left=1),
        Event(kind="bad", release="3.7.0", detail="nonfinite-metric", left=0),
    )
    assert [line.split()[:2] for line in told] == [["3.5.0", "good"], ["3.6.0", "skip"], ["3.7.0", "bad"]]
    assert "2 releases left, about" in told[0]
    assert "no wheel" in told[1]
    assert told[2].endswith("confirming edges)")


def test_text_from_outside_is_neither_markup_nor_an_escape(capsys):
    (told,) = lines(capsys, Event(kind="bad", release="3.5.0", detail=f"[bold red]x[/] {HOSTILE}", left=0))
    assert "[bold red]x[/]" in told
    assert told.isprintable()


def test_several_threads_may_tell_at_once(capsys):
    with listener(40, 4) as shown:
        threads = [
            threading.Thread(target=shown.notify, args=(Event(kind="good", release=f"1.{n}", left=n),))
            for n in range(40)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    told = capsys.readouterr().err.splitlines()
    assert {line.split()[0] for line in told} == {f"1.{n}" for n in range(40)}
