"""The parts that every terminal report is made of: wrapped lines, lines to copy whole, tables, and the same end.

A report is a `rich.console.Group`; the command line prints it with ``crop=False``, so that a line to copy is whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from harness.reporting.text import clean, command, seconds


def line(text: str, style: str = "") -> Text:
    """A sentence that wraps at the width of the terminal; nothing in it is markup."""
    return Text(text, style=style)


def whole_line(text: str) -> Text:
    """A line that is never cut or wrapped by us, so that a command or a path can be copied."""
    return Text(text, no_wrap=True, overflow="ignore")


def table(title: str, columns: Iterable[str]) -> Table:
    """An empty table with a title at the left; texts too long for a cell are folded, never cut."""
    made = Table(title=escape(title), title_justify="left")
    for name in columns:
        made.add_column(escape(name), overflow="fold")
    return made


def narrow_table(title: str, columns: Iterable[str]) -> Table:
    """An empty table without lines between its cells; a row takes one line, and what is too long is cut."""
    made = Table(title=escape(title), title_justify="left", box=SIMPLE_HEAD, padding=(0, 1), collapse_padding=True)
    for name in columns:
        made.add_column(escape(name), no_wrap=True, overflow="ellipsis")
    return made


def end(timing: Mapping[str, float], folder: Path, names: Iterable[str], reproduce: str) -> list[RenderableType]:
    """The last lines: where the time went, where the reports lie, and the command that repeats the run.

    Args:
        timing: Seconds by phase, summed over parallel jobs.
        folder: The run's folder.
        names: File names of the reports in it.
        reproduce: The command.
    """
    spent = ", ".join(f"{clean(phase, 40)} {seconds(value)}" for phase, value in timing.items())
    return [
        line(f"Time (sum over jobs): {spent}"),
        whole_line(f"Reports: {folder}/{', '.join(names)}"),
        whole_line(f"Again:   {command(reproduce)}"),
    ]
