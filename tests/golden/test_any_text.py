"""Whatever a case prints and a release calls itself, every report is whole, and what stands in it is only text."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import jsonschema
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness import codec
from harness.domain.findings import assemble
from harness.domain.findings.finding import Finding
from harness.domain.trials.entry import Entry
from harness.reporting.bisection import json_report, junit_report
from harness.reporting.bisection.documents import html, markdown
from tests.adapters.samples import entry, header, observation

HOSTILE = (
    "<script>alert(1)</script>", "</td></tr></table><b>", "]]>", "\x1b[31mred\x1b[0m", "\u202eesrever", "\0", "\ufffe",
    "| a | b |\n|---|---|", "[bold]x[/bold][/]", "{{ 7 * 7 }}", "{% raw %}", "@everybody", "![x](http://evil/x.png)", "\n# heading",
)  # fmt: skip
texts = st.text(max_size=40) | st.sampled_from(HOSTILE)


@st.composite
def findings(draw: st.DrawFn) -> Finding:
    """A finding whose every text from outside is drawn."""
    entries: list[Entry] = []
    for release in ("1.0", "1.1"):
        code = draw(st.sampled_from([0, 1, 125]))
        made = entry(release, code)
        assert made.finished is not None
        seen = observation(code, output=draw(texts), versions={draw(texts): draw(texts)})
        entries.append(replace(made, finished=replace(made.finished, observation=seen)))
    if draw(st.booleans()):
        entries[1] = Entry(release="1.1", untestable=draw(texts) or "x")
    return assemble.compose(header(), entries)


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.add(tag)


def tags(page: str) -> set[str]:
    parser = Tags()
    parser.feed(page)
    return parser.seen


PLAIN = assemble.compose(header(), [entry("1.0", 0), entry("1.1", 1)])


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(finding=findings())
def test_every_report_is_whole_and_its_text_is_text(finding: Finding) -> None:
    read = json.loads(json_report.json_text(finding))
    jsonschema.validate(read, json_report.schema())
    assert json_report.json_text(codec.loads(Finding, json.dumps(read))) == json_report.json_text(finding)
    ElementTree.fromstring(junit_report.junit(finding))
    page = html(finding)
    assert page.count("<script") == 1, "the one that copies"
    assert "b" not in tags(page) - tags(html(PLAIN))
    for text in (page, markdown(finding)):
        assert not any(c in text for c in "\x1b\0\u202e")
    assert not re.search(r"(?<!\\)\]\(http://evil", markdown(finding)), "a link that works"
    assert json_report.json_text(finding) == json_report.json_text(finding)
