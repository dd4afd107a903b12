"""The runs of a search are found again for the same question under the same policy, and for no other."""

from __future__ import annotations

from dataclasses import replace

from harness.adapters.storage import run_cache
from harness.adapters.storage.home import Home
from tests.adapters.samples import header as sample

RUNS = (("3.6.0", 0), ("3.6.0", 1), ("3.7.0", 0))


def test_they_are_recalled_for_the_same_question_only(home: Home) -> None:
    header = sample()
    assert run_cache.recall(home, header) == ()
    run_cache.remember(home, header, RUNS)
    assert run_cache.recall(home, header) == RUNS
    other = replace(header, policy=replace(header.policy, confidence=0.9))
    assert run_cache.recall(home, other) == ()


def test_a_damaged_file_counts_as_none(home: Home) -> None:
    header = sample()
    run_cache.remember(home, header, RUNS)
    next((home.root / run_cache.FOLDER).iterdir()).write_text("{", encoding="utf-8")
    assert run_cache.recall(home, header) == ()


def test_those_of_the_first_version_are_found_and_left_as_they_are(home: Home) -> None:
    header = sample()
    run_cache.remember(home, header, RUNS)
    (home.root / run_cache.FOLDER).rename(home.root / "courses")
    assert run_cache.recall(home, header) == RUNS
    run_cache.remember(home, header, RUNS[:1])
    assert run_cache.recall(home, header) == RUNS[:1]
    home.folder(run_cache.FOLDER)
    (old,) = (home.root / "courses").iterdir()
    assert old.read_text(encoding="utf-8") == '[["3.6.0", 0], ["3.6.0", 1], ["3.7.0", 0]]'
