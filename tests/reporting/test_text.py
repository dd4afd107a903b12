"""Text from outside made safe to show."""

from __future__ import annotations

import math
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.reporting.text import clean, code, command, fenced, key_numbers, markdown, number, seconds
from tests.examples import HOSTILE

ANY = st.text(st.characters(categories=["L", "N", "P", "S", "Z", "C"]), max_size=60) | st.sampled_from(
    [HOSTILE, "\x1b[31m", "\x1b]8;;https://example.org\x07link\x1b]8;;\x07", "\x1b\x1b[0m[31m", "\x9b31m", "\u202e"]
)
LIMITS = st.integers(1, 80)


def controls(text: str) -> list[str]:
    return [c for c in text if unicodedata.category(c)[0] == "C"]


class TestClean:
    @given(ANY, LIMITS)
    def test_it_is_one_line_without_control_characters_and_no_longer_than_asked(self, text, limit):
        """No terminal escape, no bidirectional override, no line break survives, whatever comes in."""
        made = clean(text, limit)
        assert not controls(made)
        assert len(made.splitlines()) <= 1
        assert len(made) <= limit

    @given(ANY, LIMITS)
    def test_cleaning_twice_changes_nothing(self, text, limit):
        """Text may pass through several reports."""
        assert clean(clean(text, limit), limit) == clean(text, limit)

    @given(st.text(st.characters(categories=["L", "N", "P", "S"]), max_size=60))
    def test_text_without_controls_and_blanks_is_kept(self, text):
        """What a reader needs is not touched."""
        assert clean(text) == text

    @pytest.mark.parametrize(
        ("text", "made"),
        [
            ("\x1b[31mred\x1b[0m", "red"),
            ("\x1b]0;new title\x07text", "text"),
            ("\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\", "link"),
            ("first\r\nsecond\tthird", "first second third"),
            ("user\u202etxt.exe", "user txt.exe"),
            ("nul\x00", "nul"),
            ("half \ud83d pair", "half pair"),
        ],
    )
    def test_escapes_go_and_blanks_fold(self, text, made):
        assert clean(text) == made

    def test_what_is_cut_says_so(self):
        assert clean("x" * 100_000) == "x" * 299 + "…"
        assert clean("abcdef", 4) == "abc…"
        assert clean("abcd", 4) == "abcd"


class TestCommand:
    @given(ANY)
    def test_a_command_has_no_control_characters(self, text):
        """Pasting it runs one line, the one that is shown."""
        assert not controls(command(text))

    def test_nothing_of_a_command_is_cut_or_folded(self):
        text = "harness bisect '/my  cases/a.py' " + "--with a==1 " * 300
        assert command(text) == text


class TestMarkdown:
    @given(ANY)
    def test_no_character_that_means_something_stands_unescaped(self, text):
        """No emphasis, code, link, table cell, heading, tag, entity or mention can be smuggled in."""
        bare = re.sub(r"\\[\\`*_{}\[\]<>#|~&]", "", markdown(text))
        assert not re.search(r"[\\`*_{}\[\]<#|~&]", bare)
        assert not bare.startswith(">")
        assert not re.search(r"@(?!\u200b)", bare)

    @given(ANY)
    def test_unescaped_it_is_the_clean_text(self, text):
        """Nothing is lost: taking the escapes away gives what a terminal shows."""
        unescaped = markdown(text).replace("@\u200b", "@")
        assert re.sub(r"\\([\\`*_{}\[\]<>#|~&])", r"\1", unescaped) == clean(text)

    def test_an_arrow_stays_readable(self):
        assert markdown("3.6.0 -> 3.7.0") == "3.6.0 -> 3.7.0"
        assert markdown("> quoted") == r"\> quoted"


class TestCode:
    @given(ANY)
    def test_a_code_span_ends_where_it_should(self, text):
        """A backtick inside would end it early, and the rest would be Markdown again."""
        made = code(text)
        assert made[0] == made[-1] == "`"
        assert "`" not in made[1:-1]
        assert not controls(made)


class TestNumbers:
    @pytest.mark.parametrize(
        ("value", "shown"),
        [
            (0.08725128, "0.0872513"),
            (1e-9, "1e-09"),
            (0.0, "0"),
            (math.nan, "NaN"),
            (math.inf, "inf"),
            (-math.inf, "-inf"),
        ],
    )
    def test_six_digits_and_words_for_what_is_not_finite(self, value, shown):
        assert number(value) == shown

    def test_the_first_metrics_of_fit_stand_for_all(self):
        assert key_numbers({"loss": math.nan, "evaluate.loss": 1.0, "mae": 0.5, "acc": 1.0}) == "loss NaN, mae 0.5"
        assert key_numbers({"loss": 1.0, "mae": 0.5}, 1) == "loss 1"
        assert key_numbers({}) == ""

    def test_the_name_of_a_metric_is_text_from_outside_too(self):
        assert key_numbers({"\x1b[31m" + "x" * 99: 1.0}) == "x" * 39 + "… 1"

    @pytest.mark.parametrize(("value", "shown"), [(0.04, "0.0 s"), (119.9, "119.9 s"), (120.0, "2.0 min")])
    def test_durations(self, value, shown):
        assert seconds(value) == shown


def test_a_code_block_is_not_ended_by_what_it_holds():
    assert fenced("+x\n\x1b[31m-y\n", "diff") == "```diff\n+x\n-y\n```"
    assert fenced("```\n````", "diff").startswith("`````diff\n")
