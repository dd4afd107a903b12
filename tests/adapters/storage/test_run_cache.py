"""The course of a search is kept for the same question under the same policy, and for no other."""

from __future__ import annotations

from dataclasses import replace

from harness.adapters.storage import run_cache
from harness.adapters.storage.home import Home
from tests.adapters.samples import header as asked

COURSE = (("3.6.0", 0), ("3.6.0", 1), ("3.7.0", 0))


def test_it_is_recalled_for_the_same_question_only(home: Home) -> None:
    header = asked()
    assert run_cache.recall(home, header) == ()
    run_cache.remember(home, header, COURSE)
    assert run_cache.recall(home, header) == COURSE
    other = replace(header, policy=replace(header.policy, confidence=0.9))
    assert run_cache.recall(home, other) == ()


def test_a_damaged_file_counts_as_none(home: Home) -> None:
    header = asked()
    run_cache.remember(home, header, COURSE)
    next((home.root / "courses").iterdir()).write_text("{", encoding="utf-8")
    assert run_cache.recall(home, header) == ()
