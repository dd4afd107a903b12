"""The search: what is chosen and run again, in which order, and what is proven of whole searches."""

from __future__ import annotations

import math
import random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.domain.cases.symptoms import Symptom
from harness.domain.search.gaps import Stretches
from harness.domain.search.history import ReleaseState
from harness.domain.search.policy import Policy
from harness.domain.search.posterior import posterior_of
from harness.domain.search.strategy import MOST_RUNS, Why, next_trials, to_confirm
from harness.domain.verdicts.reasons import recorded
from harness.domain.verdicts.verdict import GOOD, Outcome, Verdict
from harness.domain.verdicts.verdict import hidden as concealed
from tests.domain.search.choosing import board_of, chosen
from tests.histories.simulate import (
    NAN,
    RAISES,
    Played,
    bad,
    found_transitions,
    hidden,
    noisy,
    play,
    record,
    script,
    true_transitions,
)

SLOW = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
LETTERS = st.text("gnx", min_size=1, max_size=14)
FEW = st.text("gnewx", min_size=1, max_size=9)


class TestOneAnswerForDeterministicHistories:
    """With every release run, no transition is missed and none is wrong, whatever is broken."""

    @given(LETTERS)
    @SLOW
    def test_one_symptom(self, letters: str) -> None:
        played = play(len(letters), script(letters), Policy())
        truth = true_transitions([None if c == "x" else c == "n" for c in letters])
        assert found_transitions(played.history, NAN) == truth
        assert all(row.tried for row in played.history)

    @given(FEW)
    @SLOW
    def test_symptoms_that_hide_each_other(self, letters: str) -> None:
        played = play(len(letters), script(letters), Policy())
        assert found_transitions(played.history, NAN) == true_transitions(
            [None if c in "xe" else c == "n" for c in letters]
        )
        assert found_transitions(played.history, RAISES) == true_transitions(
            [None if c == "x" else c == "e" for c in letters]
        )

    @given(LETTERS, st.integers(1, 4), st.randoms(use_true_random=False))
    @SLOW
    def test_parallel_runs_that_end_in_any_order(self, letters: str, wanted: int, rng: random.Random) -> None:
        """Runs in parallel end with the same transitions, and no release is ever run twice at the same time."""
        run, history, pending = script(letters), [ReleaseState() for _ in letters], list[int]()
        while True:
            probes = next_trials(history, Policy(), wanted=wanted - len(pending), pending=pending)
            assert len(probes) <= max(0, wanted - len(pending))
            assert not {p.index for p in probes} & set(pending)
            pending += [p.index for p in probes]
            if not pending:
                break
            index = pending.pop(rng.randrange(len(pending)))
            record(history, index, run(index, len(history[index].runs)))
        assert found_transitions(history, NAN) == true_transitions([None if c == "x" else c == "n" for c in letters])


class TestCost:
    """A history is paid for once per release and once more per side of a transition."""

    @given(st.integers(3, 12), st.integers(4, 12))
    @SLOW
    def test_each_release_once_and_two_more_per_edge(self, before: int, after: int) -> None:
        letters = "g" * (before + 5) + "n" * (after + 2)
        played = play(len(letters), script(letters), Policy())
        assert played.runs == len(letters) + 2
        assert all(transition.confidence >= 0.99 for transition in posterior_of(played.history, NAN).transitions)

    def test_an_island_of_one_costs_a_few_more(self) -> None:
        """Two failures of a single release could be a rare flake; up to eight further runs say no."""
        letters = "g" * 12 + "n" + "g" * 11
        played = play(24, script(letters), Policy())
        assert 24 + 3 <= played.runs <= 24 + 3 + 8

    @given(st.integers(20, 400), st.floats(0.1, 0.9))
    @SLOW
    def test_a_sparse_search_is_logarithmic(self, length: int, where: float) -> None:
        """Without filling, one transition costs log2(n) runs, both ends, and what confirms it."""
        cut = max(1, round(length * where))
        played = play(length, script("g" * cut + "n" * (length - cut)), Policy(max_gap=None))
        assert found_transitions(played.history, NAN) == {(cut - 1, cut, True)}
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
        assert [i for i, _ in chosen("g.......n...g", wanted=3)] == [4, 10, 2]

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
        assert next_trials([], Policy()) == []


class TestWhichCandidates:
    """All that is worth running, most wanted first."""

    def test_gaps_are_split_in_turn_before_anything_is_confirmed(self) -> None:
        assert chosen("g...n...g", wanted=9) == [
            *((i, Why.SPLIT) for i in (2, 6, 1, 5, 3, 7)),
            (8, Why.CONFIRM),
        ]

    def test_what_is_run_already_is_not_chosen_again(self) -> None:
        assert chosen("g.....n", wanted=9, pending=[3]) == [(i, Why.SPLIT) for i in (2, 5, 1, 4)]

    def test_each_release_once_and_at_most_so_many_as_are_wanted(self) -> None:
        assert chosen("g.......n", wanted=1) == [(4, Why.SPLIT)]
        assert chosen("g.......n", wanted=0) == []
        assert len(chosen("g.......n", wanted=5)) == 5

    def test_a_probe_counts_the_runs_of_its_release(self) -> None:
        history = board_of("gn")
        record(history, 1, script("gn")(1, 1))
        told = next_trials(history, Policy(confirmations=4), wanted=2)
        assert [(p.index, p.repeat, p.why) for p in told] == [(0, 1, Why.CONFIRM), (1, 2, Why.CONFIRM)]

    def test_an_exception_sends_the_search_to_the_ends_of_what_it_hides(self) -> None:
        assert chosen("g.e.n", Policy(max_gap=None), wanted=9)[:2] == [(1, Why.SPLIT), (3, Why.SPLIT)]
        asked = Policy(max_gap=None, symptoms=(NAN,))
        assert chosen("g...e...g", asked, wanted=9) == []
        assert chosen("g..e....e..n", asked, wanted=9)[:4] == [(i, Why.SPLIT) for i in (2, 10, 1, 9)]
        assert chosen("ge...e..n", asked, wanted=9)[:2] == [(7, Why.SPLIT), (6, Why.SPLIT)]
        assert all(why is Why.CONFIRM for _, why in chosen("ge...en", asked, wanted=9))

    def test_fills_stop_at_the_longest_gap_that_may_stay(self) -> None:
        assert chosen("g.........g", Policy(max_gap=3), wanted=9) == [(i, Why.FILL) for i in (5, 3, 8)]
        assert chosen("g.........g", Policy(max_gap=9), wanted=9) == []
        assert chosen("g.........g", Policy(max_gap=None), wanted=9) == []


class TestBrokenEnds:
    """Broken ends are left in growing strides, and the border is found again by halving."""

    def test_strides_double(self) -> None:
        assert chosen("x" + "." * 20) == [(1, Why.END)]
        assert chosen("xx" + "." * 20) == [(3, Why.END)]
        assert chosen("xx.x" + "." * 20) == [(7, Why.END)]

    def test_back_to_the_border(self) -> None:
        assert chosen("xx.x...g........g") == [(5, Why.END)]
        assert chosen("g.........g...x.xx") == [(12, Why.END)]

    def test_both_ends_at_once(self) -> None:
        assert chosen("x.........x", wanted=2) == [(1, Why.END), (9, Why.END)]
        assert chosen("xx.x...g.......x", Policy(max_gap=None), wanted=9) == [(5, Why.END), (11, Why.END)]

    def test_a_broken_release_inside_is_no_broken_end(self) -> None:
        """A run of the newest release that was interrupted while an older one turned out to be broken."""
        assert chosen("g....x.....", Policy(max_gap=None)) == [(10, Why.END)]
        assert chosen(".....x....g", Policy(max_gap=None)) == [(0, Why.END)]
        assert chosen("g....x.....", Policy(max_gap=None), pending=[10]) == []

    def test_a_pending_release_behind_a_broken_end_is_waited_for(self) -> None:
        assert chosen("x..g......", Policy(max_gap=None), pending=[9, 1]) == []
        assert chosen("x....g....", Policy(max_gap=None), pending=[9]) == [(3, Why.END)]

    def test_an_untestable_range_is_looked_into_evenly_until_strides_end(self) -> None:
        assert chosen("x...x", Policy(max_gap=None), wanted=9) == [(1, Why.END), (3, Why.END), (2, Why.END)]
        assert chosen("xx.xx", Policy(max_gap=None), wanted=9) == [(2, Why.END)]
        assert chosen("xx.xx", Policy(max_gap=None), wanted=9, pending=[2]) == []

    def test_a_long_range_that_is_broken_everywhere_is_given_up(self) -> None:
        """One look in every 32nd part: of 64 releases gaps of two may stay, of 63 gaps of one."""
        letters = "x" * 17 + ".." + "x" * 45
        assert chosen(letters, Policy(max_gap=None), wanted=9) == []
        assert chosen(letters[:-1], Policy(max_gap=None), wanted=9) == [(18, Why.END)]
        assert chosen(letters, Policy(max_gap=0), wanted=9) == [(18, Why.END), (17, Why.END)]

    def test_border_reached(self) -> None:
        assert chosen("xx.xg...g", Policy(max_gap=None)) == []

    def test_all_broken_is_scanned_evenly_and_ends(self) -> None:
        played = play(640, script("x" * 640), Policy(max_gap=None))
        assert played.runs == 0
        tried = [row.tried for row in played.history]
        assert 32 <= sum(tried) < 100
        assert max(len(part) for part in "".join(".x"[t] for t in tried).split("x")) <= 640 // 32

    def test_the_only_testable_release_is_found_when_everything_is_tried(self) -> None:
        played = play(30, script("x" * 17 + "n" + "x" * 12), Policy())
        assert all(row.tried for row in played.history)


class TestBudget:
    """The budget is never exceeded, and certainty comes before breadth when it is short."""

    @given(LETTERS, st.integers(0, 12), st.integers(1, 3))
    @SLOW
    def test_never_exceeded(self, letters: str, most: int, wanted: int) -> None:
        history, run, policy = [ReleaseState() for _ in letters], script(letters), Policy(max_trials=most)
        while probes := next_trials(history, policy, wanted=wanted):
            for probe in probes:
                record(history, probe.index, run(probe.index, probe.repeat))
        assert sum(len(row.runs) for row in history) <= most
        assert sum(row.blocked is not None for row in history) <= most

    def test_broken_releases_have_a_budget_of_their_own(self) -> None:
        """Three hundred nights that nothing installs are not built one by one, and take no run from the transition."""
        played = play(302, script("g" + "x" * 300 + "n"), Policy(max_trials=20, max_gap=None))
        assert sum(row.blocked is not None for row in played.history) == 20
        assert played.runs < 20
        (transition,) = posterior_of(played.history, NAN).transitions
        assert (transition.before, transition.after) == (0, 301)
        assert transition.confidence >= 0.99

    def test_without_a_budget_every_release_between_is_tried(self) -> None:
        assert all(row.tried for row in play(60, script("g" + "x" * 58 + "n"), Policy(max_gap=None)).history)

    def test_confirms_before_filling_when_short(self) -> None:
        letters = "g" * 40 + "n" * 40
        played = play(80, script(letters), Policy(max_trials=20))
        assert played.runs == 20
        (transition,) = posterior_of(played.history, NAN).transitions
        assert (transition.before, transition.after) == (39, 40)
        assert transition.confidence >= 0.99
        assert any(why is Why.FILL for _, why in played.order)

    def test_fills_first_when_rich(self) -> None:
        played = play(12, script("g" * 6 + "n" * 6), Policy(max_trials=100))
        whys = [why for _, why in played.order]
        assert whys.index(Why.CONFIRM) > max(i for i, why in enumerate(whys) if why is Why.FILL)

    def test_the_budget_counts_what_is_pending(self) -> None:
        policy = Policy(max_trials=3)
        assert len(chosen("g.......g", policy, wanted=9)) == 1
        assert chosen("g.......g", policy, wanted=9, pending=[4]) == []

    def test_rich_is_who_can_run_all_and_confirm_both_sides_of_every_edge(self) -> None:
        """Two are run, three are open; one transition and one to come, two sides, two runs each: eight. 13 in all."""
        letters = "g...n"
        run = script("ggnnn")
        history = board_of(letters)
        for index in (2, 1):
            record(history, index, run(index, 0))

        # 4 are run, 1 is open and no gap is left that differs
        def first(most: int) -> Why:
            return next_trials(history, Policy(max_trials=most))[0].why

        assert [first(most) for most in (12, 13)] == [Why.CONFIRM, Why.FILL]

    def test_what_is_pending_is_spent(self) -> None:
        """Five were run and one is pending; two are open, and two sides of a transition to come cost four: 12."""
        history = board_of("gn..gg.g")
        whys = [next_trials(history, Policy(max_trials=most), pending=[6])[0].why for most in (11, 12)]
        assert whys == [Why.CONFIRM, Why.FILL]

    def test_max_gap_bounds_what_is_left(self) -> None:
        played = play(100, script("g" * 100), Policy(max_gap=9))
        left = "".join(".x"[row.tried] for row in played.history).split("x")
        assert max(map(len, left)) <= 9
        assert played.runs < 30

    def test_no_filling(self) -> None:
        assert play(100, script("g" * 100), Policy(max_gap=None)).runs == 2


def test_pure() -> None:
    """The same board gives the same probes."""
    history = board_of("g..n..g.x..n")
    assert next_trials(history, Policy(), wanted=4) == next_trials(list(history), Policy(), wanted=4)


def test_a_long_hidden_stretch_is_not_searched_for_what_it_hides():
    """110 nightlies that show NaN say nothing of a wrong metric: only the two ends of the stretch are looked for."""
    hidden = {
        Symptom.NONFINITE_METRIC: Verdict(outcome=Outcome.BAD, reason=recorded("loss is nan")),
        Symptom.WRONG_METRIC: concealed(Symptom.NONFINITE_METRIC, recorded("loss is nan")),
    }
    wrong = {
        Symptom.NONFINITE_METRIC: Verdict(outcome=Outcome.GOOD),
        Symptom.WRONG_METRIC: Verdict(outcome=Outcome.BAD, reason=recorded("loss is 0.04")),
    }
    right = {
        Symptom.NONFINITE_METRIC: Verdict(outcome=Outcome.GOOD),
        Symptom.WRONG_METRIC: Verdict(outcome=Outcome.GOOD),
    }
    planted = [wrong] * 20 + [hidden] * 110 + [right] * 2
    history = [ReleaseState() for _ in planted]
    policy = Policy(max_gap=None)
    while probes := next_trials(history, policy):
        for probe in probes:
            history[probe.index] = ReleaseState(runs=(*history[probe.index].runs, planted[probe.index]))
    tried = [index for index, row in enumerate(history) if row.runs]
    assert len(tried) < 24
    assert {19, 20, 129, 130} <= set(tried)


def test_what_is_left_of_the_budget_for_untried_releases_holds_within_one_choice() -> None:
    """Two builds failed already: of three there is one left, however many runs may go on at once."""
    history = [
        ReleaseState(blocked=recorded("no wheel")),
        ReleaseState(blocked=recorded("no wheel")),
        ReleaseState(),
        ReleaseState(),
        ReleaseState(),
        ReleaseState(),
    ]
    chosen = next_trials(history, Policy(max_trials=3), wanted=3)
    assert len(chosen) == 1
    assert not history[chosen[0].index].tried


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
    return to_confirm(history, policy or Policy(), pending, Stretches.of(untried), [posterior_of(history, NAN)])


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
        assert to_confirm(history, Policy(confirmations=7, confidence=0.5), (), Stretches(), posteriors) == [1, 2, 0]
