"""Transitions, and changes of signature."""

from __future__ import annotations

from datetime import datetime, timezone

from harness.core.board import Row
from harness.core.conclusions import conclude
from harness.core.policies import Policy
from harness.core.releases import Release, Timeline
from harness.core.symptoms import Symptom
from harness.core.transitions import Kind, Transition, Untested, describe, folded, signature_changes, transitions
from harness.core.verdicts import GOOD
from tests.core.answering import answer
from tests.histories.simulate import NAN, RAISES, bad, play, script, timeline


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
