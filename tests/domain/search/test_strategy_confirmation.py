"""Releases whose runs disagree are run again, and never for ever."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.domain.search.history import ReleaseState
from harness.domain.search.policy import Policy
from harness.domain.search.posterior import posterior_of
from harness.domain.search.strategy import MOST_RUNS, Why, to_confirm
from harness.domain.verdicts.reasons import recorded
from harness.domain.verdicts.verdict import GOOD
from tests.domain.search.choosing import chosen
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
        assert max(len(row.runs) for row in played.history) <= MOST_RUNS

    def test_a_bound_below_the_repeats_asked_for_gives_way(self) -> None:
        played = play(2, script("gn"), Policy(repeats=MOST_RUNS + 2))
        assert [len(row.runs) for row in played.history] == [MOST_RUNS + 2] * 2

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
        assert len(played.history[2].runs) == MOST_RUNS


def rows(*tallies: tuple[int, int] | None) -> list[ReleaseState]:
    """(bad, good) runs per release; None is untried."""
    return [ReleaseState(runs=({NAN: bad()},) * t[0] + ({NAN: GOOD},) * t[1]) if t else ReleaseState() for t in tallies]


def again(history: list[ReleaseState], policy: Policy | None = None, pending: tuple[int, ...] = ()) -> list[int]:
    untried = [index for index, row in enumerate(history) if not row.tried]
    return to_confirm(history, policy or Policy(), pending, untried, [posterior_of(history, NAN)])


SURE = [(0, 6)] * 4
SICK = [(6, 0)] * 4


class TestWhatIsWorthAnotherRun:
    def test_nothing_where_all_is_sure(self) -> None:
        assert again(rows(*SURE, *SICK)) == []

    def test_both_sides_of_an_edge_until_they_were_run_often_enough(self) -> None:
        history = rows(*SURE, *SICK)
        assert again(history, Policy(confirmations=6)) == []
        assert again(history, Policy(confirmations=7)) == [4, 3]

    def test_the_least_run_first_then_what_failed(self) -> None:
        history = rows((0, 6), (0, 6), (0, 2), (3, 0), (6, 0), (6, 0))
        assert again(history, Policy(confirmations=7)) == [2, 3]
        assert again(rows((0, 3), (3, 0)), Policy(confirmations=7)) == [1, 0]

    def test_an_edge_whose_gap_can_still_be_split_waits(self) -> None:
        assert again(rows((0, 1), None, (1, 0))) == []
        blocked = rows((0, 1), None, (1, 0))
        blocked[1] = ReleaseState(blocked=recorded("no wheel"))
        assert again(blocked) == [2, 0]
        assert again(rows((0, 1), (0, 1), (1, 0)), pending=(1,)) == [2]

    def test_a_pending_or_blocked_side_is_not_asked_for(self) -> None:
        assert again(rows((0, 1), (1, 0)), pending=(0,)) == [1]

    def test_a_release_that_contradicts_its_own_state_is_run_again(self) -> None:
        """However sure that is: a history that changes at every release looks like a flake until releases repeat."""
        flaky = rows((3, 3), (3, 3), (0, 1), (3, 3), (3, 3))
        assert posterior_of(flaky, NAN).states[2]
        assert again(flaky, Policy(confidence=0.5)) == [2]
        assert again(rows((3, 3), (3, 3), (1, 1), (3, 3), (3, 3)), Policy(confidence=0.5)) == []
        assert again(rows((0, 3), (0, 3), (1, 0), (0, 3), (0, 3)))[0] == 2

    def test_a_release_is_not_run_without_end(self) -> None:
        many = (MOST_RUNS, 0)
        doubtful = rows((0, MOST_RUNS - 1), many)
        asked = Policy(confirmations=MOST_RUNS)
        assert again(doubtful, asked) == [0]
        assert again(rows((0, MOST_RUNS), many), Policy(confidence=1.0)) == []
        assert again(rows((0, MOST_RUNS), many), Policy(confirmations=MOST_RUNS + 1)) == [1, 0]
        assert again(rows((0, MOST_RUNS), many), Policy(confidence=1.0, repeats=MOST_RUNS + 1)) == [1, 0]

    def test_half_of_the_allowed_doubt_is_what_may_be_left(self) -> None:
        history = rows((0, 2), (2, 0))
        (transition,) = posterior_of(history, NAN).transitions
        doubt = 1 - transition.confidence
        assert again(history, Policy(confidence=1 - 1.9 * doubt)) == [1, 0]
        assert again(history, Policy(confidence=1 - 2.1 * doubt)) == []

    def test_of_two_edges_the_more_doubtful_comes_first(self) -> None:
        history = rows((0, 3), (0, 3), (3, 0), (3, 0), (0, 3))
        begins, ends = posterior_of(history, NAN).transitions
        assert begins.confidence > ends.confidence
        assert again(history, Policy(confirmations=1, confidence=0.99999))[:2] == [3, 2]

    def test_every_symptom_can_ask(self) -> None:
        history = [
            ReleaseState(runs=({NAN: GOOD, RAISES: GOOD},) * 6),
            ReleaseState(runs=({NAN: GOOD, RAISES: bad()},) * 6),
            ReleaseState(runs=({NAN: bad(), RAISES: bad()},) * 6),
        ]
        posteriors = [posterior_of(history, symptom) for symptom in (NAN, RAISES)]
        assert to_confirm(history, Policy(confirmations=7, confidence=0.5), (), (), posteriors) == [1, 2, 0]
