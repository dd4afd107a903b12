"""report.html: one page that loads nothing and in which no text from outside is code."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from harness.reporting.bisection import html_report
from tests.examples import HOSTILE
from tests.reporting import examples

VOID = {"meta", "br", "img", "link", "input", "hr"}
OUR_TAGS = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "strong", "div", "span", "br", "a"}
OUR_TAGS |= {"table", "tr", "th", "td", "details", "summary", "pre", "ul", "li", "code", "h3"}
OUR_ATTRIBUTES = {"class", "title", "href", "lang", "charset", "name", "content", "http-equiv", "role", "aria-label"}
LOADING = {"src", "srcset", "data", "poster", "background", "action", "formaction", "ping", "manifest", "xlink:href"}


class Page(HTMLParser):
    """Every tag of a page with its attributes, its text, and whether tags are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


FINDINGS = [examples.everyday, examples.staged, examples.hostile]


@pytest.mark.parametrize("finding", FINDINGS)
class TestEveryPage:
    def test_nothing_is_loaded_from_outside(self, finding):
        """It can be opened from a mail, years later, without a network."""
        text = html_report.html(finding())
        for tag, attributes in Page(text).tags:
            assert tag not in {"script", "link", "img", "iframe", "object", "embed", "video", "audio", "base", "form"}
            assert not LOADING & set(attributes)
            if "href" in attributes:
                assert tag == "a"
                assert (attributes["href"] or "").startswith("https://")
        style = text[text.index("<style>") : text.index("</style>")]
        assert "url(" not in style
        assert "@import" not in style

    def test_no_tag_and_no_handler_comes_from_outside(self, finding):
        for tag, attributes in Page(html_report.html(finding())).tags:
            assert set(attributes) <= OUR_ATTRIBUTES, tag
            assert tag in OUR_TAGS

    def test_every_tag_is_closed(self, finding):
        assert Page(html_report.html(finding())).open == []

    def test_the_policy_forbids_what_the_page_does_not_need(self, finding):
        policies = [a["content"] for _, a in Page(html_report.html(finding())).tags if "http-equiv" in a]
        assert policies == ["default-src 'none'; style-src 'unsafe-inline'"]


def test_hostile_text_is_shown_not_run():
    page = Page(html_report.html(examples.hostile()))
    assert "<script>alert(1)</script>" in page.text
    assert "{{ 7*7 }}" in page.text
    assert "\x1b" not in page.text


def test_a_report_of_100_kb_texts_stays_small():
    assert len(html_report.html(examples.hostile())) < 60_000


def test_an_address_that_is_not_https_is_no_link():
    page = Page(html_report.html(examples.hostile()))
    assert "javascript:alert(1)" in page.text
    links = [attributes["href"] for tag, attributes in page.tags if tag == "a"]
    assert len(links) == 3  # a report of the case, a known cause, and the one of a finer search; the others are text
    assert all(link is not None and link.startswith("https://") for link in links)
    assert HOSTILE not in html_report.html(examples.hostile())


def test_the_answer_stands_first():
    text = Page(html_report.html(examples.everyday())).text
    body = text[text.index("exception begins") :]
    assert body.startswith(examples.everyday().conclusion.sentence)
