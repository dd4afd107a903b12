"""The search: what is chosen, in which order, and what is proven of whole searches."""

from __future__ import annotations

import math
import random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.core.belief import edges
from harness.core.board import Row
from harness.core.policies import Policy
from harness.core.search import Why, next_probes
from harness.core.symptoms import Symptom
from harness.core.verdicts import Outcome, Verdict
from tests.core.choosing import board_of, chosen
from tests.histories.simulate import (
    NAN,
    RAISES,
    found_edges,
    play,
    record,
    script,
    true_edges,
)

SLOW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
LETTERS = st.text("gnx", min_size=1, max_size=14)
FEW = st.text("gnewx", min_size=1, max_size=9)


class TestOneAnswerForDeterministicHistories:
    """With every release run, no edge is missed and none is wrong, whatever is broken."""

    @given(LETTERS)
    @SLOW
    def test_one_symptom(self, letters: str) -> None:
        played = play(len(letters), script(letters), Policy())
        truth = true_edges([None if c == "x" else c == "n" for c in letters])
        assert found_edges(played.board, NAN) == truth
        assert all(row.tried for row in played.board)

    @given(FEW)
    @SLOW
    def test_symptoms_that_hide_each_other(self, letters: str) -> None:
        played = play(len(letters), script(letters), Policy())
        assert found_edges(played.board, NAN) == true_edges([None if c in "xe" else c == "n" for c in letters])
        assert found_edges(played.board, RAISES) == true_edges([None if c == "x" else c == "e" for c in letters])

    @given(LETTERS, st.integers(1, 4), st.randoms(use_true_random=False))
    @SLOW
    def test_parallel_runs_that_end_in_any_order(self, letters: str, wanted: int, rng: random.Random) -> None:
        """Runs in parallel end with the same edges, and no release is ever run twice at the same time."""
        run, board, pending = script(letters), [Row() for _ in letters], list[int]()
        while True:
            probes = next_probes(board, Policy(), wanted=wanted - len(pending), pending=pending)
            assert len(probes) <= max(0, wanted - len(pending))
            assert not {p.index for p in probes} & set(pending)
            pending += [p.index for p in probes]
            if not pending:
                break
            index = pending.pop(rng.randrange(len(pending)))
            record(board, index, run(index, len(board[index].runs)))
        assert found_edges(board, NAN) == true_edges([None if c == "x" else c == "n" for c in letters])


class TestCost:
    """A history is paid for once per release and once more per side of an edge."""

    @given(st.integers(3, 12), st.integers(4, 12))
    @SLOW
    def test_each_release_once_and_two_more_per_edge(self, before: int, after: int) -> None:
        letters = "g" * (before + 5) + "n" * (after + 2)
        played = play(len(letters), script(letters), Policy())
        assert played.runs == len(letters) + 2
        assert all(edge.confidence >= 0.99 for edge in edges(played.board, [NAN]))

    def test_an_island_of_one_costs_a_few_more(self) -> None:
        """Two failures of a single release could be a rare flake; up to eight further runs say no."""
        letters = "g" * 12 + "n" + "g" * 11
        played = play(24, script(letters), Policy())
        assert 24 + 3 <= played.runs <= 24 + 3 + 8

    @given(st.integers(20, 400), st.floats(0.1, 0.9))
    @SLOW
    def test_a_sparse_search_is_logarithmic(self, length: int, where: float) -> None:
        """Without filling, one edge costs log2(n) runs, both ends, and what confirms it."""
        cut = max(1, round(length * where))
        played = play(length, script("g" * cut + "n" * (length - cut)), Policy(max_gap=None))
        assert found_edges(played.board, NAN) == {(cut - 1, cut, True)}
        assert played.runs <= 2 + math.ceil(math.log2(length)) + 10


class TestOrder:
    """Ends, then gaps whose ends differ, then gaps whose ends agree, then confirmation."""

    def test_ends_first(self) -> None:
        assert chosen(".......", wanted=2) == [(0, Why.END), (6, Why.END)]

    def test_a_single_release_is_both_ends(self) -> None:
        assert chosen(".", wanted=2) == [(0, Why.END)]

    def test_split_before_fill(self) -> None:
        assert chosen("g.......g....n") == [(11, Why.SPLIT)]

    def test_several_places_of_one_gap_at_once(self) -> None:
        assert [i for i, _ in chosen("g.......n", wanted=3)] == [4, 2, 6]

    def test_the_largest_gap_first_then_in_turn(self) -> None:
        assert [i for i, _ in chosen("g...n.......g", wanted=3)] == [8, 2, 6]

    def test_fill_the_largest_gap(self) -> None:
        assert chosen("g..g......g") == [(7, Why.FILL)]

    def test_away_from_broken_areas(self) -> None:
        assert chosen("g...xx........n") == [(10, Why.SPLIT)]

    def test_a_gap_with_a_pending_release_is_not_confirmed(self) -> None:
        assert chosen("g.n", pending=[1]) == []

    def test_confirm_both_sides(self) -> None:
        assert chosen("ggggnnnn", wanted=2) == [(4, Why.CONFIRM), (3, Why.CONFIRM)]

    def test_repeats_come_first(self) -> None:
        assert chosen("g.....", Policy(repeats=2)) == [(0, Why.CONFIRM)]
        assert chosen("g.....", Policy(repeats=2), pending=[0]) == [(5, Why.END)]

    def test_pending_ends_are_waited_for(self) -> None:
        assert chosen("....", pending=[0, 3]) == [(2, Why.FILL)]

    def test_a_stride_that_is_pending_is_waited_for(self) -> None:
        assert chosen("x..........", Policy(max_gap=None), pending=[1, 10]) == []

    def test_nothing_to_do(self) -> None:
        assert chosen("gggg") == []
        assert next_probes([], Policy()) == []


class TestBrokenEnds:
    """Broken ends are left in growing strides, and the border is found again by halving."""

    def test_strides_double(self) -> None:
        assert chosen("x" + "." * 20) == [(1, Why.END)]
        assert chosen("xx" + "." * 20) == [(3, Why.END)]
        assert chosen("xx.x" + "." * 20) == [(7, Why.END)]

    def test_back_to_the_border(self) -> None:
        assert chosen("xx.x...g........g") == [(5, Why.END)]
        assert chosen("g.........g...x.xx") == [(12, Why.END)]

    def test_border_reached(self) -> None:
        assert chosen("xx.xg...g", Policy(max_gap=None)) == []

    def test_all_broken_is_scanned_evenly_and_ends(self) -> None:
        played = play(640, script("x" * 640), Policy(max_gap=None))
        assert played.runs == 0
        tried = [row.tried for row in played.board]
        assert 32 <= sum(tried) < 100
        assert max(len(part) for part in "".join(".x"[t] for t in tried).split("x")) <= 640 // 32

    def test_the_only_testable_release_is_found_when_everything_is_tried(self) -> None:
        played = play(30, script("x" * 17 + "n" + "x" * 12), Policy())
        assert all(row.tried for row in played.board)


class TestBudget:
    """The budget is never exceeded, and certainty comes before breadth when it is short."""

    @given(LETTERS, st.integers(0, 12), st.integers(1, 3))
    @SLOW
    def test_never_exceeded(self, letters: str, most: int, wanted: int) -> None:
        board, run, policy = [Row() for _ in letters], script(letters), Policy(max_trials=most)
        while probes := next_probes(board, policy, wanted=wanted):
            for probe in probes:
                record(board, probe.index, run(probe.index, probe.repeat))
        assert sum(len(row.runs) for row in board) <= most
        assert sum(row.blocked is not None for row in board) <= most

    def test_broken_releases_have_a_budget_of_their_own(self) -> None:
        """Three hundred nights that nothing installs are not built one by one, and take no run from the edge."""
        played = play(302, script("g" + "x" * 300 + "n"), Policy(max_trials=20, max_gap=None))
        assert sum(row.blocked is not None for row in played.board) == 20
        assert played.runs < 20
        (edge,) = edges(played.board, [NAN])
        assert (edge.before, edge.after) == (0, 301)
        assert edge.confidence >= 0.99

    def test_without_a_budget_every_release_between_is_tried(self) -> None:
        assert all(row.tried for row in play(60, script("g" + "x" * 58 + "n"), Policy(max_gap=None)).board)

    def test_confirms_before_filling_when_short(self) -> None:
        letters = "g" * 40 + "n" * 40
        played = play(80, script(letters), Policy(max_trials=20))
        assert played.runs == 20
        (edge,) = edges(played.board, [NAN])
        assert (edge.before, edge.after) == (39, 40)
        assert edge.confidence >= 0.99
        assert any(why is Why.FILL for _, why in played.order)

    def test_fills_first_when_rich(self) -> None:
        played = play(12, script("g" * 6 + "n" * 6), Policy(max_trials=100))
        whys = [why for _, why in played.order]
        assert whys.index(Why.CONFIRM) > max(i for i, why in enumerate(whys) if why is Why.FILL)

    def test_max_gap_bounds_what_is_left(self) -> None:
        played = play(100, script("g" * 100), Policy(max_gap=9))
        left = "".join(".x"[row.tried] for row in played.board).split("x")
        assert max(map(len, left)) <= 9
        assert played.runs < 30

    def test_no_filling(self) -> None:
        assert play(100, script("g" * 100), Policy(max_gap=None)).runs == 2


def test_pure() -> None:
    """The same board gives the same probes."""
    board = board_of("g..n..g.x..n")
    assert next_probes(board, Policy(), wanted=4) == next_probes(list(board), Policy(), wanted=4)


def test_a_long_hidden_stretch_is_not_searched_for_what_it_hides():
    """110 nightlies that show NaN say nothing of a wrong metric: only the two ends of the stretch are looked for."""
    hidden = {
        Symptom.NONFINITE_METRIC: Verdict(outcome=Outcome.BAD, reason="loss is nan"),
        Symptom.WRONG_METRIC: Verdict(outcome=Outcome.SKIP, reason="hidden by nonfinite-metric: loss is nan"),
    }
    wrong = {
        Symptom.NONFINITE_METRIC: Verdict(outcome=Outcome.GOOD),
        Symptom.WRONG_METRIC: Verdict(outcome=Outcome.BAD, reason="loss is 0.04"),
    }
    right = {
        Symptom.NONFINITE_METRIC: Verdict(outcome=Outcome.GOOD),
        Symptom.WRONG_METRIC: Verdict(outcome=Outcome.GOOD),
    }
    history = [wrong] * 20 + [hidden] * 110 + [right] * 2
    board = [Row() for _ in history]
    policy = Policy(max_gap=None)
    while probes := next_probes(board, policy):
        for probe in probes:
            board[probe.index] = Row(runs=(*board[probe.index].runs, history[probe.index]))
    tried = [index for index, row in enumerate(board) if row.runs]
    assert len(tried) < 24
    assert {19, 20, 129, 130} <= set(tried)
