"""What a terminal shows, as HTML for a notebook: tables as tables, sentences as paragraphs, everything escaped."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text


def html(report: RenderableType) -> str:
    """Return the parts of a terminal report as HTML.

    Args:
        report: A table, a text, or a group of both, as the ``terminal`` functions of the reports return them.
    """
    return "\n".join(_parts(report))


def _parts(report: RenderableType) -> Iterator[str]:
    match report:
        case Group():
            for part in report.renderables:
                yield from _parts(part)
        case Table():
            yield _table(report)
        case _:
            yield f"<p>{escape(_plain(report))}</p>"


def _table(table: Table) -> str:
    head = "".join(f"<th>{escape(_plain(column.header))}</th>" for column in table.columns)
    rows = zip(*(list(column.cells) for column in table.columns), strict=True)
    body = "".join(f"<tr>{''.join(f'<td>{escape(_plain(cell))}</td>' for cell in row)}</tr>" for row in rows)
    caption = f"<caption>{escape(_plain(table.title))}</caption>" if table.title else ""
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _plain(part: RenderableType | None) -> str:
    """Text without markup; a string of a table may hold some."""
    return part.plain if isinstance(part, Text) else Text.from_markup(str(part or "")).plain
