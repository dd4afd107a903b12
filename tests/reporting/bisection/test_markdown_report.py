"""report.md: pasted into an issue, it says what it should and nothing else."""

from __future__ import annotations

import re

import pytest

from harness.reporting.bisection import markdown_report
from tests.reporting import examples

FINDINGS = [examples.everyday, examples.hostile]


def prose(text: str) -> str:
    """A report without its code spans and without the command at its end: there nothing is Markdown."""
    return re.sub(r"(?<!\\)`[^`\n]*(?<!\\)`", "", text[: text.index("\n```\n")])


@pytest.mark.parametrize("finding", FINDINGS)
class TestEveryReport:
    def test_the_verdict_stands_first_and_the_command_last(self, finding):
        lines = markdown_report.markdown(finding()).splitlines()
        assert lines[0].startswith("**")
        assert lines[-3] == lines[-1] == "```"
        assert lines[-2].startswith("harness bisect ")

    def test_every_row_of_a_table_has_the_cells_of_its_head(self, finding):
        """A pipe from outside would shift every number behind it into a wrong column."""
        rows = [line for line in markdown_report.markdown(finding()).splitlines() if line.startswith("|")]
        widths = [len(re.findall(r"(?<!\\)\|", row)) for row in rows]
        heads = [n for n, row in enumerate(rows) if set(row) <= set("|- ")]
        assert len(heads) == 2
        for first, last in zip(heads, [*heads[1:], len(rows) + 1], strict=True):
            assert len(set(widths[first - 1 : last - 1])) == 1

    def test_nobody_is_mentioned(self, finding):
        text = prose(markdown_report.markdown(finding()))
        assert not re.search(r"@\w", text)

    def test_the_only_html_is_our_own(self, finding):
        text = prose(markdown_report.markdown(finding()))
        assert set(re.findall(r"(?<!\\)</?[a-zA-Z][^>]*>", text)) == {
            "<details>",
            "<summary>",
            "</summary>",
            "</details>",
        }

    def test_no_control_character_is_in_it(self, finding):
        assert not re.search(
            r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", markdown_report.markdown(finding())
        )


def test_every_release_that_is_not_good_says_why():
    text = markdown_report.markdown(examples.everyday())
    for release in examples.everyday().releases:
        (row,) = [line for line in text.splitlines() if line.startswith(f"| {release.version} |")]
        why = row.rsplit("|", 2)[1].strip()
        assert bool(why) == bool(release.reason)


def test_a_report_of_100_kb_texts_can_still_be_pasted():
    """An issue takes 65,536 characters."""
    assert len(markdown_report.markdown(examples.hostile())) < 40_000
