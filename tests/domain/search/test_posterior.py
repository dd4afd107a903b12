"""What the runs make us believe."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.domain.search import posterior
from harness.domain.search.history import ReleaseState, Tally
from harness.domain.search.posterior import (
    ALWAYS_WEIGHT,
    CHANGE,
    FALSE_FAILURE,
    OTHER_RATE,
    OWN_RATES,
    RATES,
    STARTS_BAD,
    posterior_of,
    settle,
    settled,
)
from harness.domain.verdicts.reasons import recorded
from harness.domain.verdicts.verdict import GOOD, Outcome
from tests.domain.search.test_forward_backward import by_paths
from tests.histories.simulate import NAN, RAISES, bad, hidden


def rows(*tallies: tuple[int, int] | None) -> list[ReleaseState]:
    """(bad, good) runs per release; None is untried."""
    return [ReleaseState(runs=({NAN: bad()},) * t[0] + ({NAN: GOOD},) * t[1]) if t else ReleaseState() for t in tallies]


def states(history: list[ReleaseState]) -> str:
    told = posterior_of(history, NAN).states
    return "".join("." if i not in told else "gb"[told[i]] for i in range(len(history)))


TALLIES = st.lists(st.none() | st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12)


@given(TALLIES)
@settings(deadline=None)
def test_beliefs_are_probabilities(tallies) -> None:
    """Every figure lies in [0, 1], and a transition is no more likely than either of its sides."""
    told = posterior_of(rows(*tallies), NAN)
    for i, both in enumerate(zip(told.begins, told.ends, strict=True)):
        assert all(-1e-9 <= p <= 1 + 1e-9 for p in both)
        assert both[0] <= min(1 - told.bad[i], told.bad[i + 1]) + 1e-6
        assert both[1] <= min(told.bad[i], 1 - told.bad[i + 1]) + 1e-6
    assert all(-1e-9 <= p <= 1 + 1e-9 for p in told.bad)


@given(TALLIES)
@settings(deadline=None)
def test_edges_alternate(tallies) -> None:
    """Transitions of one symptom begin and end in turn, from left to right."""
    found = posterior_of(rows(*tallies), NAN).transitions
    for one, other in itertools.pairwise(found):
        assert one.turns_bad is not other.turns_bad
        assert one.after <= other.before


@given(st.integers(0, 5), st.integers(1, 8))
@settings(deadline=None)
def test_a_further_pass_never_makes_a_release_worse(failures: int, passes: int) -> None:
    """More passing runs of one release lower its probability of being bad."""
    before = posterior_of(rows((0, 1), (failures, passes), (0, 1)), NAN).bad[1]
    after = posterior_of(rows((0, 1), (failures, passes + 1), (0, 1)), NAN).bad[1]
    assert after <= before + 1e-9


def test_nothing_known() -> None:
    assert posterior_of([ReleaseState(), ReleaseState(blocked=recorded("no"))], NAN).transitions == []
    assert posterior_of([], NAN).transitions == []


def test_two_runs_on_each_side_suffice_for_a_steady_range() -> None:
    """The promise of the prior: runs that agree, four bad releases, two runs a side: 0.99."""
    history = rows(*[(0, 1)] * 9, (0, 2), (2, 0), *[(1, 0)] * 9)
    (transition,) = posterior_of(history, NAN).transitions
    assert (transition.before, transition.after, transition.turns_bad) == (9, 10, True)
    assert transition.confidence >= 0.99


def test_one_run_each_is_not_enough() -> None:
    (transition,) = posterior_of(rows(*[(0, 1)] * 3, *[(1, 0)] * 3), NAN).transitions
    assert transition.confidence < 0.99


def test_a_flake_everywhere_has_no_edge() -> None:
    """Three failures in ten runs of every release are one range, not many."""
    assert states(rows(*[(3, 7)] * 8)) == "bbbbbbbb"


def test_a_release_that_passed_inside_a_flaky_range_is_bad() -> None:
    assert states(rows((0, 9), (0, 9), (3, 3), (2, 4), (0, 2), (3, 2), (4, 4))) == "ggbbbbb"


def test_an_accident_is_no_island() -> None:
    assert states(rows((0, 4), (0, 4), (1, 15), (0, 4), (0, 4))) == "ggggg"


def test_each_range_may_have_its_own_rate() -> None:
    """A steady range and a rare flake: the passes of the second are no sign of health."""
    steady, rare, fine = [(3, 0)] * 4, [(2, 6)] * 4, [(0, 8)] * 3
    assert states(rows(*fine, *steady, *fine, *rare)) == "gggbbbbgggbbbb"


def test_a_change_of_the_rate_is_no_transition() -> None:
    assert states(rows(*[(4, 0)] * 4, *[(1, 3)] * 4)) == "bbbbbbbb"


def test_hundreds_of_contradicting_runs_do_not_break_the_arithmetic() -> None:
    assert states(rows((400, 400), (0, 900), (900, 0))) == "bgb"


def test_hidden_runs_take_no_part() -> None:
    row = ReleaseState(runs=({RAISES: bad(), NAN: hidden(RAISES)},))
    assert posterior_of([*rows((0, 2)), row, *rows((2, 0))], NAN).places == (0, 2)


def test_wide_gaps_cost_confidence() -> None:
    near = posterior_of(rows((0, 2), (2, 0)), NAN).bad[0]
    far = posterior_of(rows((0, 2), *[None] * 50, (2, 0)), NAN).bad[0]
    assert near != pytest.approx(far)


def test_settle_agrees_with_the_states() -> None:
    """Where a release's own majority says otherwise, the neighbours decide and the reason says so."""
    history = [*rows((0, 9), (4, 4), (1, 5), (5, 4)), ReleaseState(), ReleaseState(blocked=recorded("no wheel"))]
    told = settle(history, NAN)
    assert [v.outcome if v else None for v in told] == [
        Outcome.GOOD,
        Outcome.BAD,
        Outcome.BAD,
        Outcome.BAD,
        None,
        Outcome.SKIP,
    ]
    assert told[0] == GOOD
    assert told[2] is not None
    assert str(told[2].reason) == "1 of 6 runs were bad; judged with its neighbours in view"


def test_settle_clears_an_accident() -> None:
    told = settle(rows((0, 9), (0, 9), (1, 9), (0, 9), (0, 9)), NAN)
    assert told[2] is not None
    assert told[2].outcome is Outcome.GOOD


def mixture(tallies: Sequence[tuple[int, int] | None], change: float = CHANGE) -> list[list[float]]:
    """The oracle: every hypothesis summed over every path, weighted by its prior and its evidence."""
    known = [(place, tally) for place, tally in enumerate(tallies) if tally]
    rows = [[rate**b * (1 - rate) ** g for rate in (FALSE_FAILURE, *RATES)] for _, (b, g) in known]
    steps = [later - earlier for (earlier, _), (later, _) in itertools.pairwise(known)]
    changes = [sum(math.comb(n, k) * change**k * (1 - change) ** (n - k) for k in range(1, n + 1, 2)) for n in steps]
    rest = (1 - ALWAYS_WEIGHT) / (len(RATES) - 1)
    weights = [ALWAYS_WEIGHT, *[rest] * (len(RATES) - 1)]
    told = [
        (weight * (1 - OWN_RATES), by_paths([(row[0], row[i]) for row in rows], [1.0], changes, STARTS_BAD, 0.0))
        for i, weight in enumerate(weights, start=1)
    ]
    told.append((OWN_RATES, by_paths(rows, weights, changes, STARTS_BAD, OTHER_RATE)))
    shares = [weight * math.exp(evidence) for weight, (evidence, _) in told]
    return [
        [sum(s * x for s, x in zip(shares, column, strict=True)) / sum(shares) for column in zip(*series, strict=True)]
        for series in zip(*(series for _, (_, series) in told), strict=True)
    ]


@pytest.mark.parametrize(
    "tallies",
    [
        [(0, 1)],
        [(1, 0)],
        [(0, 2), (2, 0)],
        [(2, 0), (0, 1), (0, 2)],
        [(0, 3), (1, 2), (2, 1)],
        [(1, 1), None, None, (0, 4), (3, 0)],
        [(0, 1), (1, 0), None, (0, 1), (1, 1)],
    ],
    ids=str,
)
def test_a_belief_is_the_mixture_of_all_hypotheses_over_all_paths(tallies) -> None:
    told = posterior_of(rows(*tallies), NAN)
    assert told.places == tuple(place for place, tally in enumerate(tallies) if tally)
    for mine, truth in zip((told.bad, told.begins, told.ends), mixture(tallies), strict=True):
        assert mine == pytest.approx(truth, rel=1e-3, abs=1e-5)


def test_on_a_long_timeline_a_change_is_as_rare_as_one_in_its_length() -> None:
    tallies = [(0, 1), *[None] * 198, (1, 0)]
    told = posterior_of(rows(*tallies), NAN)
    assert told.begins == pytest.approx(mixture(tallies, 1 / 200)[1], rel=1e-3)


def test_an_edge_says_which_symptom_where_and_how_sure() -> None:
    history = rows((0, 3), None, (3, 0), (0, 3))
    told = posterior_of(history, NAN)
    assert told.symptom is NAN
    assert [(e.symptom, e.before, e.after, e.turns_bad, e.confidence) for e in told.transitions] == [
        (NAN, 0, 2, True, told.begins[0]),
        (NAN, 2, 3, False, told.ends[1]),
    ]
    assert told.doubts == {0: told.bad[0], 2: 1 - told.bad[1], 3: told.bad[2]}


def test_settle_keeps_the_own_verdict_where_the_neighbours_agree() -> None:
    """Its reason and signature are those of a run; only where the outcome differs is there a new one."""
    history = [*rows((0, 3), (2, 4)), ReleaseState(runs=({NAN: bad("a")}, {NAN: bad("b")}))]
    assert history[1].tally(NAN) == Tally(bad=2, good=4)
    told = settle(history, NAN)
    assert told[0] == GOOD
    assert told[2] == bad("a")


class TestSettled:
    """What may be stated, where the likeliest state contradicts all of a release's own runs."""

    def test_runs_that_all_agree_count_as_they_are(self) -> None:
        """No release did both: one failure between two passes is an island, however unlikely."""
        history = rows((0, 1), (1, 0), (0, 1))
        assert states(history) == "bbb"
        told = settled(history, NAN)
        assert told.states == {0: False, 1: True, 2: False}
        assert told.undecided == frozenset()
        likely = posterior_of(history, NAN)
        assert [t.confidence for t in told.transitions] == [likely.begins[0], likely.ends[1]]
        assert told.doubts == {0: likely.bad[0], 1: 1 - likely.bad[1], 2: likely.bad[2]}
        assert told.bad_ranges == [[1]]

    def test_beside_a_flake_they_are_undecided(self) -> None:
        told = settled(rows((3, 3), (0, 1), (2, 2), (0, 20), (0, 20)), NAN)
        assert told.undecided == {1}
        assert told.states == {0: True, 2: True, 3: False, 4: False}
        assert told.bad_ranges == [[0, 1, 2]]

    def test_a_range_ends_with_what_is_decided(self) -> None:
        told = settled(rows((3, 3), (2, 2), (0, 1)), NAN)
        assert told.undecided == {2}
        assert told.bad_ranges == [[0, 1]]

    def test_a_failure_that_may_be_an_accident_is_undecided_beside_another_one(self) -> None:
        told = settled(rows(*[(0, 9)] * 3, (1, 15), *[(0, 9)] * 6), NAN)
        assert not told.undecided
        assert set(told.states.values()) == {False}

    @given(TALLIES)
    def test_no_state_contradicts_all_runs(self, tallies) -> None:
        """Each decided state has a run that shows it, transitions lie between decided neighbours."""
        history = rows(*tallies)
        told = settled(history, NAN)
        for place, bad_there in told.states.items():
            tally = history[place].tally(NAN)
            assert tally.bad if bad_there else tally.good
        assert {*told.states} | told.undecided == {*posterior_of(history, NAN).places}
        for transition in told.transitions:
            assert told.states[transition.before] is not told.states[transition.after] is transition.turns_bad
            assert all(place not in told.states for place in range(transition.before + 1, transition.after))
            assert -1e-9 <= transition.confidence <= 1 + 1e-9

    @pytest.mark.parametrize("tallies", [[(0, 2), (1, 1), (3, 2)], [(2, 3), (0, 1), None, (1, 0), (0, 4)]], ids=str)
    def test_two_states_with_others_between_have_their_probability(self, tallies) -> None:
        """Against the sum over every path in which the first and the last are as given."""
        known = tuple((place, Tally(*tally)) for place, tally in enumerate(tallies) if tally)
        last = len(known) - 1
        for turns_bad in (True, False):
            mine = posterior._joint(known, CHANGE, 0, last, turns_bad)
            assert mine == pytest.approx(given_ends(known, turns_bad), rel=1e-3)

    @given(TALLIES, st.booleans())
    def test_between_neighbours_it_is_that_of_the_posterior(self, tallies, turns_bad) -> None:
        history = rows(*tallies)
        told = posterior_of(history, NAN)
        known = tuple((place, history[place].tally(NAN)) for place in told.places)
        for k, truth in enumerate(told.begins if turns_bad else told.ends):
            mine = posterior._joint(known, posterior._change(history), k, k + 1, turns_bad)
            assert mine == pytest.approx(truth, rel=1e-2, abs=1e-4)


def given_ends(known: Sequence[tuple[int, Tally]], turns_bad: bool) -> float:
    """The oracle: the share of all paths in which the first place is good and the last bad, or the other way."""
    steps = [later - earlier for (earlier, _), (later, _) in itertools.pairwise(known)]
    changes = [(1 - (1 - 2 * CHANGE) ** n) / 2 for n in steps]
    rest = (1 - ALWAYS_WEIGHT) / (len(RATES) - 1)
    weights = [ALWAYS_WEIGHT, *[rest] * (len(RATES) - 1)]

    def total(ends: bool) -> float:
        rows_ = [[rate**t.bad * (1 - rate) ** t.good for rate in (FALSE_FAILURE, *RATES)] for _, t in known]
        if ends:
            for row, bad_there in ((rows_[0], not turns_bad), (rows_[-1], turns_bad)):
                row[:] = [x if (n > 0) is bad_there else 1e-300 for n, x in enumerate(row)]
        shares = [
            weight
            * (1 - OWN_RATES)
            * math.exp(by_paths([(row[0], row[i]) for row in rows_], [1.0], changes, STARTS_BAD, 0.0)[0])
            for i, weight in enumerate(weights, start=1)
        ]
        return sum(shares) + OWN_RATES * math.exp(by_paths(rows_, weights, changes, STARTS_BAD, OTHER_RATE)[0])

    return total(ends=True) / total(ends=False)
