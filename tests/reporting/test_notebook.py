"""What a notebook shows: every cell of the terminal's tables, and nothing that is not escaped."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Group
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from harness.reporting.notebook import html
from tests.examples import HOSTILE


class Cells(HTMLParser):
    """Collects the texts of an HTML fragment by the tag around them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[tuple[str, str]] = []
        self.seen: set[str] = set()
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((self.open[-1] if self.open else "", data))


def table(title: str, cells: list[list[str]]) -> Table:
    made = Table(title=escape(title))
    for number in range(len(cells[0])):
        made.add_column(f"column {number}")
    for row in cells:
        made.add_row(*map(escape, row))
    return made


def test_tables_and_sentences_keep_their_order():
    page = html(Group(Text("first"), table("title", [["a", "b"]]), Text("last")))
    assert page == (
        "<p>first</p>\n"
        "<table><caption>title</caption><thead><tr><th>column 0</th><th>column 1</th></tr></thead>"
        "<tbody><tr><td>a</td><td>b</td></tr></tbody></table>\n"
        "<p>last</p>"
    )


def test_colours_of_a_cell_are_left_out():
    made = Table()
    made.add_column("verdict")
    made.add_row("[bold red]bad[/]")
    assert "<td>bad</td>" in html(made)


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=30))
def test_any_text_is_shown_as_it_is(text: str):
    """No text opens a tag, and none is lost."""
    found = Cells(html(Group(Text(text), table("t", [[text]]))))
    assert found.seen == {"p", "table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert "".join(data for tag, data in found.texts if tag == "p") == text


def test_hostile_text_opens_no_tag():
    assert Cells(html(table("t", [[HOSTILE]]))).seen == {"table", "caption", "thead", "tbody", "tr", "th", "td"}
