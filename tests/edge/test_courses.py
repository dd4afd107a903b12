"""The course of a search is kept for the same question under the same policy, and for no other."""

from __future__ import annotations

from dataclasses import replace

from harness.edge import courses
from harness.edge.home import Home
from tests.edge.samples import header as asked

COURSE = (("3.6.0", 0), ("3.6.0", 1), ("3.7.0", 0))


def test_it_is_recalled_for_the_same_question_only(home: Home) -> None:
    header = asked()
    assert courses.recall(home, header) == ()
    courses.remember(home, header, COURSE)
    assert courses.recall(home, header) == COURSE
    other = replace(header, policy=replace(header.policy, confidence=0.9))
    assert courses.recall(home, other) == ()


def test_a_damaged_file_counts_as_none(home: Home) -> None:
    header = asked()
    courses.remember(home, header, COURSE)
    next((home.root / "courses").iterdir()).write_text("{", encoding="utf-8")
    assert courses.recall(home, header) == ()
