"""The files of a search: each has its name; the page loads nothing, and what is pasted says what it should."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from harness.adapters.storage.files import write_reports
from harness.domain.errors import InfrastructureError
from harness.reporting.bisection import documents
from harness.reporting.bisection.documents import html, markdown
from harness.reporting.pages.page import SCRIPT, policy
from harness.reporting.templating import environment
from tests.examples import HOSTILE
from tests.reporting import examples


def test_every_report_and_every_lock_has_its_name():
    texts = documents.texts(examples.everyday())
    assert list(texts) == ["report.json", "report.md", "report.html", "junit.xml", "locks/key-3.5.0.txt"]
    assert texts["locks/key-3.5.0.txt"] == "keras==3.5.0 --hash=sha256:cc\n"
    for name, render in documents.RENDERERS.items():
        assert texts[name] == render(examples.everyday())


def test_they_are_written_whole_and_replace_what_was_there(tmp_path):
    write_reports(tmp_path, documents.texts(examples.hostile()))
    wanted = documents.texts(examples.everyday())
    write_reports(tmp_path, wanted)
    written = {path.relative_to(tmp_path).as_posix(): path for path in tmp_path.rglob("*") if path.is_file()}
    assert {name: path.read_text(encoding="utf-8") for name, path in written.items()} == wanted


def test_a_report_that_cannot_be_rendered_gives_no_texts_at_all(monkeypatch):
    """All are rendered before the first is written, so that no folder holds reports of two findings."""

    def broken(finding):
        raise ValueError("no template")

    monkeypatch.setitem(documents.RENDERERS, "junit.xml", broken)
    with pytest.raises(ValueError, match="no template"):
        documents.texts(examples.hostile())


def test_a_folder_that_is_not_there_is_one_clear_message(tmp_path):
    for texts in (documents.texts(examples.everyday()), {"locks/key.txt": "keras==3.5.0\n"}):
        with pytest.raises(InfrastructureError) as caught:
            write_reports(tmp_path / "gone", texts)
        assert caught.value.where
        assert caught.value.hint


VOID = {"meta", "br", "img", "link", "input", "hr"}
OUR_TAGS = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "strong", "div", "span", "br", "a"}
OUR_TAGS |= {"main", "section", "figure", "figcaption", "button", "script"}
DRAWN = {"svg", "symbol", "use", "path", "circle", "g", "rect", "text"}
OUR_TAGS |= {"table", "tr", "th", "td", "details", "summary", "pre", "ul", "li", "code", "h3"}
OUR_ATTRIBUTES = {"class", "title", "href", "lang", "charset", "name", "content", "http-equiv", "role", "aria-label"}
OUR_ATTRIBUTES |= {"id", "style", "scope", "tabindex", "rowspan", "type", "hidden", "data-copy", "aria-hidden"}
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
        text = html(finding())
        for tag, attributes in Page(text).tags:
            assert tag not in {"link", "img", "iframe", "object", "embed", "video", "audio", "base", "form"}
            assert not LOADING & set(attributes)
            if "href" in attributes:
                assert tag in {"a", "use"}
                assert (attributes["href"] or "").startswith("#" if tag == "use" else ("https://", "#"))
        style = text[text.index("<style>") : text.index("</style>")]
        assert "url(" not in style
        assert "@import" not in style

    def test_no_tag_and_no_handler_comes_from_outside(self, finding):
        for tag, attributes in Page(html(finding())).tags:
            assert tag in OUR_TAGS | DRAWN
            assert tag in DRAWN or set(attributes) <= OUR_ATTRIBUTES, tag
            assert not [name for name in attributes if name.startswith("on")]

    def test_the_one_script_is_ours(self, finding):
        text = html(finding())
        assert text.count("<script") == 1
        assert text[text.index("<script>") + 8 : text.index("</script>")] == environment().get_template(SCRIPT).render()

    def test_every_tag_is_closed(self, finding):
        assert Page(html(finding())).open == []

    def test_the_policy_forbids_what_the_page_does_not_need(self, finding):
        policies = [a["content"] for _, a in Page(html(finding())).tags if "http-equiv" in a]
        assert policies == [policy(environment().get_template(SCRIPT).render())]
        assert policies[0] is not None
        assert policies[0].startswith("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-")
        assert "unsafe-inline" not in policies[0].split("script-src")[1]


def test_hostile_text_is_shown_not_run():
    page = Page(html(examples.hostile()))
    assert "<script>alert(1)</script>" in page.text
    assert "{{ 7*7 }}" in page.text
    assert "\x1b" not in page.text


def test_a_report_of_100_kb_texts_stays_small():
    assert len(html(examples.hostile())) < 120_000


def test_an_address_that_is_not_https_is_no_link():
    page = Page(html(examples.hostile()))
    assert "javascript:alert(1)" in page.text
    links = [attributes["href"] for tag, attributes in page.tags if tag == "a"]
    links = [link for link in links if link is None or not link.startswith("#")]
    assert len(links) == 3  # a report of the case, a known cause, and the one of a finer search; the others are text
    assert all(link is not None and link.startswith("https://") for link in links)
    assert HOSTILE not in html(examples.hostile())


def test_the_answer_stands_first():
    text = Page(html(examples.everyday())).text
    body = text[text.index("exception begins") :]
    assert body.startswith(examples.everyday().conclusion.sentence)


FINDINGS = [examples.everyday, examples.hostile]


def prose(text: str) -> str:
    """A report without its code spans and without the command at its end: there nothing is Markdown."""
    return re.sub(r"(?<!\\)`[^`\n]*(?<!\\)`", "", text[: text.index("\n```\n")])


@pytest.mark.parametrize("finding", FINDINGS)
class TestMarkdown:
    def test_the_verdict_stands_first_and_the_command_last(self, finding):
        lines = markdown(finding()).splitlines()
        assert lines[0].startswith("**")
        assert lines[-3] == lines[-1] == "```"
        assert lines[-2].startswith("harness bisect ")

    def test_every_row_of_a_table_has_the_cells_of_its_head(self, finding):
        """A pipe from outside would shift every number behind it into a wrong column."""
        rows = [line for line in markdown(finding()).splitlines() if line.startswith("|")]
        widths = [len(re.findall(r"(?<!\\)\|", row)) for row in rows]
        heads = [n for n, row in enumerate(rows) if set(row) <= set("|- ")]
        assert len(heads) == 2
        for first, last in zip(heads, [*heads[1:], len(rows) + 1], strict=True):
            assert len(set(widths[first - 1 : last - 1])) == 1

    def test_nobody_is_mentioned(self, finding):
        text = prose(markdown(finding()))
        assert not re.search(r"@\w", text)

    def test_the_only_html_is_our_own(self, finding):
        text = prose(markdown(finding()))
        assert set(re.findall(r"(?<!\\)</?[a-zA-Z][^>]*>", text)) == {
            "<details>",
            "<summary>",
            "</summary>",
            "</details>",
        }

    def test_no_control_character_is_in_it(self, finding):
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", markdown(finding()))


def test_every_release_that_is_not_good_says_why():
    text = markdown(examples.everyday())
    for release in examples.everyday().releases:
        (row,) = [line for line in text.splitlines() if line.startswith(f"| {release.version} |")]
        why = row.rsplit("|", 2)[1].strip()
        assert bool(why) == bool(release.reason)


def test_a_report_of_100_kb_texts_can_still_be_pasted():
    """An issue takes 65,536 characters."""
    assert len(markdown(examples.hostile())) < 40_000
