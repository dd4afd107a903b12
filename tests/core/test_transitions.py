"""Transitions, changes of signature, and the sentences of a conclusion."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

import pytest

from harness.core.board import Row
from harness.core.findings import Answer, Question, conclude
from harness.core.releases import Release, Timeline
from harness.core.search import Policy
from harness.core.symptoms import Symptom
from harness.core.transitions import Kind, Transition, Untested, describe, folded, signature_changes, transitions
from harness.core.verdicts import GOOD
from tests.histories.simulate import NAN, RAISES, SKIPPED, bad, play, script, timeline


def answer(letters: str, policy: Policy | None = None, **more):
    """Search, then conclude."""
    asked = policy or Policy()
    board = play(len(letters), script(letters, **more), asked).board
    line = timeline(len(letters))
    found = transitions(line, board, asked.symptoms, asked.confirmations, asked.confidence)
    return found, conclude(line, board, asked.symptoms, found)


class TestTransitions:
    def test_sides_confidence_and_reasons(self) -> None:
        (one,), _ = answer("ggggxxnnnn")
        assert (one.kind, one.last_before, one.first_after) == (Kind.REGRESSION, "3", "6")
        assert [(u.version, u.reason) for u in one.untested] == [
            ("4", "cannot be installed"),
            ("5", "cannot be installed"),
        ]
        assert one.confirmed
        assert 0.99 <= one.confidence < 1
        assert one.rate == 1

    def test_hidden_releases_are_untested_with_that_reason(self) -> None:
        found, _ = answer("ggeennn", Policy(symptoms=(NAN,)))
        assert [u.reason for u in found[0].untested] == ["hidden by exception: it fails"] * 2

    def test_not_run_is_a_reason(self) -> None:
        board = [Row(runs=({NAN: GOOD},)), Row(), Row(runs=({NAN: bad()},))]
        (one,) = transitions(timeline(3), board, (), 1)
        assert [u.reason for u in one.untested] == ["not run"]

    def test_one_run_a_side_is_not_confirmed_and_says_so(self) -> None:
        board = [Row(runs=({NAN: GOOD},)), Row(runs=({NAN: bad()},))]
        (one,) = transitions(timeline(2), board, (), 2)
        assert not one.confirmed
        assert "not confirmed" in describe(one)

    def test_enough_runs_without_the_confidence_are_not_confirmed(self) -> None:
        board = [Row(runs=({NAN: GOOD},)), Row(runs=({NAN: bad()},))]
        (one,) = transitions(timeline(2), board, (), 1, 0.999)
        assert not one.confirmed

    def test_recovery(self) -> None:
        (one,), _ = answer("nnnnngggg")
        assert describe(one) == "nonfinite-metric ends 4 -> 5"

    def test_a_flaky_range_tells_its_rate(self) -> None:
        (one,), told = answer("gggggggg" + "N" * 12, rate=0.5, seed=2)
        assert 0.3 < one.rate < 0.7
        assert "flaky: it shows in about" in describe(one)
        assert any("flaky from 8 to 19" in doubt for doubt in told.doubts)

    def test_other_branch(self) -> None:
        """A neighbour on another release branch is marked."""
        dates = [datetime(2026, month, 1, tzinfo=timezone.utc) for month in (5, 1)]
        line = Timeline(
            releases=tuple(Release(package="pkg", version=str(i), released=date) for i, date in enumerate(dates))
        )
        board = [Row(runs=({NAN: GOOD},)), Row(runs=({NAN: bad()},))]
        assert "different release branches" in transitions(line, board, (), 1)[0].note


class TestSignatureChanges:
    def test_one_range_two_failures(self) -> None:
        board = play(10, script("ggpppqqqgg"), Policy()).board
        (change,) = signature_changes(timeline(10), board, ())
        assert (change.symptom, change.last_before, change.first_after) == (RAISES, "4", "5")
        assert (change.before, change.after) == (
            "exception | ValueError | Mean is taken",
            "exception | TypeError | no argument",
        )
        told = conclude(timeline(10), board, (), transitions(timeline(10), board, (), 2))
        assert "may have different causes" in told.doubts[0]

    def test_same_failure(self) -> None:
        assert signature_changes(timeline(8), play(8, script("ggpppppg"), Policy()).board, ()) == []

    def test_ranges_apart_are_not_compared(self) -> None:
        assert signature_changes(timeline(8), play(8, script("ppggggqq"), Policy()).board, ()) == []

    def test_neighbours_that_share_a_signature_are_the_same(self) -> None:
        """A flaky failure with two faces is one failure."""
        one, other = {RAISES: bad("a")}, {RAISES: bad("b")}
        board = [Row(runs=(one, one)), Row(runs=(one, other)), Row(runs=(other,)), Row(runs=(one,))]
        (change,) = signature_changes(timeline(4), board, (RAISES,))
        assert (change.last_before, change.first_after) == ("2", "3")

    def test_releases_without_a_signature_are_passed_over(self) -> None:
        board = [Row(runs=({RAISES: bad(told)},)) for told in ("a", "", "b")]
        (change,) = signature_changes(timeline(3), board, ())
        assert (change.last_before, change.first_after) == ("0", "2")


class TestConclusion:
    def test_transition(self) -> None:
        _, told = answer("ggggnnnngg")
        assert told.answer is Answer.ANSWERED
        assert told.sentence == "nonfinite-metric begins 3 -> 4; nonfinite-metric ends 7 -> 8."
        assert "not monotonic" in told.history
        assert told.coverage == "Every one of the 10 releases of the range was run."
        assert told.doubts == ()

    def test_monotonic(self) -> None:
        assert answer("ggggnnnn")[1].history == "The history is monotonic."

    @pytest.mark.parametrize("seed", range(4))
    def test_stationary_flake(self, seed: int) -> None:
        """A failure in 30 % of the runs of every release is no transition, and the rate is told."""
        found, told = answer("N" * 20, rate=0.3, seed=seed)
        assert found == []
        assert told.answer is Answer.EVERY_RELEASE
        assert "no transition, flaky at about" in told.sentence
        rate = float(told.sentence.split("about ")[1].split(" %")[0])
        assert 15 <= rate <= 45
        assert told.history == "There is no transition in the range."

    def test_every_release(self) -> None:
        _, told = answer("nnnn")
        assert told.sentence == "nonfinite-metric: in every release that could be tested, from 0 to 3."

    def test_no_release(self) -> None:
        _, told = answer("gggg", Policy(symptoms=(NAN,)))
        assert told.answer is Answer.NO_RELEASE
        assert told.sentence == "nonfinite-metric: in no release from 0 to 3."
        assert answer("gggg")[1].sentence == "any symptom: in no release from 0 to 3."

    @pytest.mark.parametrize("letters", ["xxxx", "ssss", "xsxs"])
    def test_inconclusive(self, letters: str) -> None:
        _, told = answer(letters)
        assert told.answer is Answer.INCONCLUSIVE

    def test_asked_and_always_hidden_is_inconclusive(self) -> None:
        assert answer("eeee", Policy(symptoms=(NAN,)))[1].answer is Answer.INCONCLUSIVE

    def test_not_run_and_missed_islands(self) -> None:
        """What was not run is named, with the probability of a missed island by length."""
        _, told = answer("g" * 60 + "n" * 40, Policy(max_gap=None))
        assert 80 < len(told.not_run) < 100
        assert "were not run" in told.coverage
        (doubt,) = told.doubts
        assert "Another island of bad releases would have been missed with a probability of 9" in doubt
        assert " if 1 long, " in doubt

    def test_coverage_counts_what_could_not_be_tested(self) -> None:
        assert "3 could not be tested" in answer("gggxxxnnn")[1].coverage

    def test_skipped_rows_are_not_tested(self) -> None:
        board = [Row(runs=({NAN: SKIPPED},)), Row(runs=({NAN: GOOD},))]
        assert "from 1 to 1" in conclude(timeline(2), board, (NAN,), []).sentence


def test_questions_name_their_differences() -> None:
    one = Question(case="c", case_digest="d", package="keras", first="1", last="2", releases=("1", "2"))
    assert one.differences(one) == []
    assert one.differences(replace(one, last="3")) == ["last: '2' -> '3'"]


def test_a_hundred_nightlies_between_are_told_by_reason():
    short = tuple(Untested(version=f"3.7.0.dev{n}", reason="not run") for n in range(12))
    assert folded(short) == short
    long = (*short, Untested(version="3.7.0.dev12", reason="hidden by exception"))
    assert [(u.version, u.reason) for u in folded(long)] == [
        ("12 from 3.7.0.dev0 to 3.7.0.dev11", "not run"),
        ("3.7.0.dev12", "hidden by exception"),
    ]


def test_what_was_not_run_is_not_called_untestable():
    change = Transition(
        symptom=Symptom.WRONG_METRIC,
        kind=Kind.RECOVERY,
        last_before="a",
        first_after="e",
        untested=(
            Untested(version="b", reason="not run"),
            Untested(version="c", reason="hidden by exception"),
            Untested(version="d", reason="not run"),
        ),
        confirmed=True,
        confidence=1.0,
    )
    assert describe(change) == "wrong-metric ends a -> e (1 between could not be tested) (2 between were not run)"
