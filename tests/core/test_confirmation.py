"""Releases whose runs disagree are run again, and never for ever."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.confirmation import MOST_RUNS
from harness.core.policies import Policy
from harness.core.search import Why
from harness.core.verdicts import GOOD
from tests.core.choosing import chosen
from tests.histories.simulate import (
    NAN,
    RAISES,
    Played,
    bad,
    hidden,
    noisy,
    play,
    script,
)


class TestDoubt:
    """Releases whose runs disagree are repeated until the confidence is met, and never for ever."""

    def test_a_single_failure_is_repeated_first(self) -> None:
        assert chosen("ggggngggg") == [(4, Why.CONFIRM)]

    def test_runs_per_release_are_bounded(self) -> None:
        """The least certain symptom there is ends: one failure in twenty runs, at the newest release."""
        letters = "g" * 6 + "N"
        played = play(7, script(letters, rate=0.05, seed=3), Policy(symptoms=(NAN,), repeats=3, confidence=0.999999))
        assert max(len(row.runs) for row in played.board) <= MOST_RUNS

    def test_a_bound_below_the_repeats_asked_for_gives_way(self) -> None:
        played = play(2, script("gn"), Policy(repeats=MOST_RUNS + 2))
        assert [len(row.runs) for row in played.board] == [MOST_RUNS + 2] * 2

    @given(st.integers(0, 2**32), st.sampled_from([0.3, 0.5, 0.7, 0.9]), st.integers(2, 24))
    @settings(max_examples=25, deadline=None)
    def test_always_ends(self, seed: int, rate: float, length: int) -> None:
        rng = random.Random(seed)
        states = [rng.random() < 0.5 for _ in range(length)]
        played = play(length, noisy(states, (), rate, rng), Policy(), most=length * MOST_RUNS + 1)
        assert played.runs <= length * MOST_RUNS

    def test_hidden_sides_do_not_loop(self) -> None:
        """A side whose runs are hidden by another, flaky symptom is repeated, but not without end."""

        def run(index: int, repeat: int):
            if index == 2 and repeat:
                return {RAISES: bad(), NAN: hidden(RAISES)}
            return {RAISES: GOOD, NAN: bad() if index > 2 else GOOD}

        played: Played = play(6, run, Policy(symptoms=(NAN,)))
        assert len(played.board[2].runs) == MOST_RUNS
