"""The parts of every terminal report."""

from __future__ import annotations

from pathlib import Path

from rich.console import Group

from harness.reporting.terminal import end, line, table, whole_line
from tests.reporting.examples import printed

LONG = "harness bisect identity --from 3.5.0 --to 3.10.0 --with numpy==2.0.2"


def test_a_sentence_wraps_and_a_command_does_not():
    assert max(map(len, printed(line(LONG), 40).splitlines())) <= 40
    assert printed(Group(whole_line(LONG), line("x")), 40) == f"{LONG}\nx\n"


def test_nothing_in_a_line_is_markup_or_an_emoji():
    """``:bug:`` in an error's text is the text of the error."""
    for text in ("[bold]x[/bold][/]", "mean:bug:1", "back\\slash\\"):
        assert printed(Group(line(text, style="bold"), whole_line(text))) == f"{text}\n{text}\n"


def test_the_title_and_the_head_of_a_table_are_text():
    made = table("[bold]t[/]", ("[red]a", "b"))
    made.add_row("1", "x" * 60)
    text = printed(made, 40)
    assert text.startswith("[bold]t[/]")
    assert "[red]a" in text
    assert text.count("x") == 60


def test_a_report_ends_with_time_place_and_command():
    parts = end({"index": 0.4, "build": 130.0}, Path("reports/run"), ("report.md", "report.json"), LONG)
    assert printed(Group(*parts), 60).splitlines() == [
        "Time (sum over jobs): index 0.4 s, build 2.2 min",
        "Reports: reports/run/report.md, report.json",
        f"Again:   {LONG}",
    ]
