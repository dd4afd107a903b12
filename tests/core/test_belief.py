"""What the runs make us believe."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.belief import believe, edges, settle
from harness.core.board import Row
from harness.core.verdicts import GOOD, Outcome
from tests.histories.simulate import NAN, RAISES, bad, hidden


def rows(*tallies: tuple[int, int] | None) -> list[Row]:
    """(bad, good) runs per release; None is untried."""
    return [Row(runs=({NAN: bad()},) * t[0] + ({NAN: GOOD},) * t[1]) if t else Row() for t in tallies]


def states(board: list[Row]) -> str:
    told = believe(board, NAN).states
    return "".join("." if i not in told else "gb"[told[i]] for i in range(len(board)))


TALLIES = st.lists(st.none() | st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12)


@given(TALLIES)
@settings(deadline=None)
def test_beliefs_are_probabilities(tallies) -> None:
    """Every figure lies in [0, 1], and an edge is no more likely than either of its sides."""
    belief = believe(rows(*tallies), NAN)
    for i, both in enumerate(zip(belief.begins, belief.ends, strict=True)):
        assert all(-1e-9 <= p <= 1 + 1e-9 for p in both)
        assert both[0] <= min(1 - belief.bad[i], belief.bad[i + 1]) + 1e-6
        assert both[1] <= min(belief.bad[i], 1 - belief.bad[i + 1]) + 1e-6
    assert all(-1e-9 <= p <= 1 + 1e-9 for p in belief.bad)


@given(TALLIES)
@settings(deadline=None)
def test_edges_alternate(tallies) -> None:
    """Edges of one symptom begin and end in turn, from left to right."""
    found = edges(rows(*tallies), [NAN])
    for one, other in itertools.pairwise(found):
        assert one.turns_bad is not other.turns_bad
        assert one.after <= other.before


@given(st.integers(0, 5), st.integers(1, 8))
@settings(deadline=None)
def test_a_further_pass_never_makes_a_release_worse(failures: int, passes: int) -> None:
    """More passing runs of one release lower its probability of being bad."""
    before = believe(rows((0, 1), (failures, passes), (0, 1)), NAN).bad[1]
    after = believe(rows((0, 1), (failures, passes + 1), (0, 1)), NAN).bad[1]
    assert after <= before + 1e-9


def test_nothing_known() -> None:
    assert believe([Row(), Row(blocked="no")], NAN).edges == []
    assert edges([], [NAN]) == []


def test_two_runs_on_each_side_suffice_for_a_steady_range() -> None:
    """The promise of the prior: runs that agree, four bad releases, two runs a side: 0.99."""
    board = rows(*[(0, 1)] * 9, (0, 2), (2, 0), *[(1, 0)] * 9)
    (edge,) = edges(board, [NAN])
    assert (edge.before, edge.after, edge.turns_bad) == (9, 10, True)
    assert edge.confidence >= 0.99


def test_one_run_each_is_not_enough() -> None:
    (edge,) = edges(rows(*[(0, 1)] * 3, *[(1, 0)] * 3), [NAN])
    assert edge.confidence < 0.99


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
    row = Row(runs=({RAISES: bad(), NAN: hidden(RAISES)},))
    assert believe([*rows((0, 2)), row, *rows((2, 0))], NAN).places == (0, 2)


def test_wide_gaps_cost_confidence() -> None:
    near = believe(rows((0, 2), (2, 0)), NAN).bad[0]
    far = believe(rows((0, 2), *[None] * 50, (2, 0)), NAN).bad[0]
    assert near != pytest.approx(far)


def test_settle_agrees_with_the_states() -> None:
    """Where a release's own majority says otherwise, the neighbours decide and the reason says so."""
    board = [*rows((0, 9), (4, 4), (1, 5), (5, 4)), Row(), Row(blocked="no wheel")]
    told = settle(board, NAN)
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
    assert told[2].reason == "1 of 6 runs were bad; judged with its neighbours in view"


def test_settle_clears_an_accident() -> None:
    told = settle(rows((0, 9), (0, 9), (1, 9), (0, 9), (0, 9)), NAN)
    assert told[2] is not None
    assert told[2].outcome is Outcome.GOOD
