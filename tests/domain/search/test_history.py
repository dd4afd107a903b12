"""Rows: verdict by majority, tallies, and which symptoms were seen."""

from __future__ import annotations

import pytest

from harness.domain.search.history import Known, ReleaseState, SearchHistory, Tally, grouped, seen_symptoms
from harness.domain.verdicts.reasons import recorded
from harness.domain.verdicts.verdict import GOOD, Outcome
from tests.histories.simulate import NAN, RAISES, SKIPPED, WRONG, bad, hidden


def test_untried() -> None:
    assert not ReleaseState().tried
    assert ReleaseState().verdict(NAN) is None
    assert ReleaseState().tally(NAN) == Tally()


def test_blocked_says_why() -> None:
    row = ReleaseState(blocked=recorded("no wheel"), runs=({NAN: bad()},))
    verdict = row.verdict(NAN)
    assert verdict is not None
    assert (verdict.outcome, str(verdict.reason)) == (Outcome.SKIP, "no wheel")
    assert row.tally(NAN).runs == 0
    assert row.showing(NAN, Outcome.BAD) == []


def test_majority_and_ties_are_bad() -> None:
    assert ReleaseState(runs=({NAN: bad()}, {NAN: GOOD})).verdict(NAN) == bad()
    assert ReleaseState(runs=({NAN: bad()}, {NAN: GOOD}, {NAN: GOOD})).verdict(NAN) == GOOD


def test_skips_do_not_vote() -> None:
    row = ReleaseState(runs=({NAN: SKIPPED}, {NAN: bad()}, {NAN: hidden(RAISES)}))
    assert row.verdict(NAN) == bad()
    assert row.tally(NAN) == Tally(bad=1, good=0)
    assert row.tally(NAN).runs == 1


def test_only_skips() -> None:
    assert ReleaseState(runs=({NAN: SKIPPED},)).verdict(NAN) == SKIPPED
    assert ReleaseState(runs=({RAISES: GOOD},)).verdict(NAN) is None


def test_a_symptom_is_seen_when_a_single_run_shows_it() -> None:
    history = [ReleaseState(runs=({NAN: GOOD, WRONG: GOOD},) * 5 + ({NAN: bad(), WRONG: GOOD},)), ReleaseState()]
    assert seen_symptoms(history, ()) == [NAN]
    assert seen_symptoms(history, (WRONG,)) == [WRONG]
    assert seen_symptoms([], ()) == []


def test_a_run_of_another_symptom_neither_votes_nor_shows() -> None:
    row = ReleaseState(runs=({RAISES: bad("r")}, {NAN: bad("n"), RAISES: GOOD}, {NAN: GOOD}))
    assert row.tried
    assert row.verdict(RAISES) == bad("r")
    assert row.showing(NAN, Outcome.BAD) == [bad("n")]
    assert row.showing(RAISES, Outcome.GOOD) == [GOOD]
    assert row.showing(WRONG, Outcome.GOOD) == []
    assert row.tallies == {RAISES: Tally(bad=1, good=1), NAN: Tally(bad=1, good=1)}


def test_of_several_verdicts_the_first_bad_and_the_last_skip_speak() -> None:
    assert ReleaseState(runs=({NAN: bad("a")}, {NAN: bad("b")})).verdict(NAN) == bad("a")
    assert ReleaseState(runs=({NAN: SKIPPED}, {NAN: hidden(RAISES)})).verdict(NAN) == hidden(RAISES)


def test_a_refusal_alone_is_tried() -> None:
    assert ReleaseState(blocked=recorded("")).tried


def test_symptoms_come_in_their_own_order() -> None:
    history = [ReleaseState(runs=({NAN: bad()},)), ReleaseState(runs=({RAISES: bad()},))]
    assert seen_symptoms(history, ()) == [symptom for symptom in type(NAN) if symptom in (NAN, RAISES)]


def test_what_is_known_is_never_replaced_by_less():
    history = SearchHistory(2)
    history[0] = ReleaseState(runs=({NAN: bad(NAN)},))
    with pytest.raises(ValueError, match="1 runs are known, 0 were given"):
        history[0] = ReleaseState()


@pytest.mark.parametrize("step", [1, 3])
def test_equal_neighbours_are_grouped_across_the_whole_timeline(step: int) -> None:
    """Groups are kept cell by cell; a run more in one of them is seen, and the borders of cells are not."""
    known = Known()
    places = range(0, 2000, step)
    for place in places:
        known.put(place, Tally(bad=0, good=1))
    assert known.groups() == ((0, Tally(0, 1), None, 1), (step, Tally(0, 1), None, len(places) - 1))
    known.put(600, Tally(bad=1, good=1))
    assert known.groups() == grouped([(place, known.tallies[place]) for place in places])
    assert known.groups()[2] == (step, Tally(1, 1), None, 1)
    assert grouped([]) == Known().groups() == ()
