"""Transitions, and changes of signature."""

from __future__ import annotations

from datetime import datetime, timezone

from harness.domain.findings.conclusions import conclude
from harness.domain.findings.transition import Kind, Transition, Untested, describe
from harness.domain.findings.transitions import signature_changes, transitions
from harness.domain.releases.release import Release, Timeline
from harness.domain.search.history import ReleaseState
from harness.domain.search.policy import Policy
from harness.domain.verdicts.reasons import NOT_RUN
from harness.domain.verdicts.verdict import GOOD
from tests.domain.findings.answering import answer
from tests.histories.simulate import NAN, RAISES, bad, play, script, timeline


class TestTransitions:
    def test_sides_confidence_and_reasons(self) -> None:
        (one,), _ = answer("ggggxxnnnn")
        assert (one.kind, one.last_before, one.first_after) == (Kind.REGRESSION, "3", "6")
        assert [(u.version, str(u.reason)) for u in one.untested] == [
            ("4", "cannot be installed"),
            ("5", "cannot be installed"),
        ]
        assert one.confirmed
        assert 0.99 <= one.confidence < 1
        assert one.rate == 1

    def test_hidden_releases_are_untested_with_that_reason(self) -> None:
        found, _ = answer("ggeennn", Policy(symptoms=(NAN,)))
        assert [str(u.reason) for u in found[0].untested] == ["hidden by exception: it fails"] * 2

    def test_not_run_is_a_reason(self) -> None:
        history = [ReleaseState(runs=({NAN: GOOD},)), ReleaseState(), ReleaseState(runs=({NAN: bad()},))]
        (one,) = transitions(timeline(3), history, (), 1)
        assert one == Transition(
            symptom=NAN,
            kind=Kind.REGRESSION,
            last_before="0",
            first_after="2",
            untested=(Untested(version="1", reason=NOT_RUN),),
            confidence=one.confidence,
        )
        assert 0.5 < one.confidence < 0.99
        assert describe(one) == (
            f"nonfinite-metric begins 0 -> 2 (1 between was not run) (not confirmed: {100 * one.confidence:.3g} % sure)"
        )

    def test_both_sides_have_to_be_repeated(self) -> None:
        def confirmed(before: int, after: int) -> bool:
            history = [ReleaseState(runs=({NAN: GOOD},) * before), ReleaseState(runs=({NAN: bad()},) * after)]
            (one,) = transitions(timeline(2), history, (), 3, 0.5)
            return one.confirmed

        assert confirmed(3, 3)
        assert not confirmed(2, 3)
        assert not confirmed(3, 2)

    def test_the_confidence_that_was_asked_for_is_enough(self) -> None:
        history = [ReleaseState(runs=({NAN: GOOD},)), ReleaseState(runs=({NAN: bad()},))]
        (one,) = transitions(timeline(2), history, (), 1)
        (same,) = transitions(timeline(2), history, (), 1, one.confidence)
        assert same.confirmed

    def test_the_rate_is_that_of_the_range_beside_the_edge(self) -> None:
        """Neither good releases nor another range count."""
        half, fine, all_of = {NAN: bad()}, {NAN: GOOD}, {NAN: bad()}
        letters = [(fine,) * 20, (half, fine) * 6, (half, fine) * 6, (fine,) * 30, (fine,) * 30, (all_of,) * 9]
        found = transitions(timeline(6), [ReleaseState(runs=runs) for runs in letters], (), 2)
        assert [(t.kind, t.last_before, t.first_after, t.rate) for t in found] == [
            (Kind.REGRESSION, "0", "1", 0.5),
            (Kind.RECOVERY, "2", "3", 0.5),
            (Kind.REGRESSION, "4", "5", 1.0),
        ]
        assert describe(found[0]).endswith("begins 0 -> 1 (flaky: it shows in about 50 % of the runs)")

    def test_the_transitions_of_several_symptoms_stand_by_symptom(self) -> None:
        found, _ = answer("ggeennggg")
        assert [(t.symptom, t.kind) for t in found] == [
            (RAISES, Kind.REGRESSION),
            (RAISES, Kind.RECOVERY),
            (NAN, Kind.REGRESSION),
            (NAN, Kind.RECOVERY),
        ]

    def test_one_run_a_side_is_not_confirmed_and_says_so(self) -> None:
        history = [ReleaseState(runs=({NAN: GOOD},)), ReleaseState(runs=({NAN: bad()},))]
        (one,) = transitions(timeline(2), history, (), 2)
        assert not one.confirmed
        assert "not confirmed" in describe(one)

    def test_enough_runs_without_the_confidence_are_not_confirmed(self) -> None:
        history = [ReleaseState(runs=({NAN: GOOD},)), ReleaseState(runs=({NAN: bad()},))]
        (one,) = transitions(timeline(2), history, (), 1, 0.999)
        assert not one.confirmed

    def test_recovery(self) -> None:
        (one,), _ = answer("nnnnngggg")
        assert describe(one) == "nonfinite-metric ends 4 -> 5"

    def test_a_flaky_range_tells_its_rate(self) -> None:
        (one,), told = answer("gggggggg" + "N" * 12, rate=0.5, seed=2)
        assert 0.3 < one.rate < 0.7
        assert "flaky: it shows in about" in describe(one)
        assert any("flaky from 8 to 19" in doubt for doubt in told.caveats)

    def test_other_branch(self) -> None:
        """A neighbour on another release branch is marked."""
        dates = [datetime(2026, month, 1, tzinfo=timezone.utc) for month in (5, 1)]
        line = Timeline(
            releases=tuple(Release(package="pkg", version=str(i), released=date) for i, date in enumerate(dates))
        )
        history = [ReleaseState(runs=({NAN: GOOD},)), ReleaseState(runs=({NAN: bad()},))]
        assert transitions(line, history, (), 1)[0].note == (
            "1 (2026-01-01) was published before 0 (2026-05-01): different release branches, "
            "so 1 need not contain the changes of 0"
        )


class TestSignatureChanges:
    def test_one_range_two_failures(self) -> None:
        history = play(10, script("ggpppqqqgg"), Policy()).history
        (change,) = signature_changes(timeline(10), history, ())
        assert (change.symptom, change.last_before, change.first_after) == (RAISES, "4", "5")
        assert (change.before, change.after) == (
            "exception | ValueError | Mean is taken",
            "exception | TypeError | no argument",
        )
        told = conclude(timeline(10), history, (), transitions(timeline(10), history, (), 2))
        assert "may have different causes" in told.caveats[0]

    def test_only_what_was_asked_for(self) -> None:
        assert signature_changes(timeline(10), play(10, script("ggpppqqqgg"), Policy()).history, (NAN,)) == []

    def test_same_failure(self) -> None:
        assert signature_changes(timeline(8), play(8, script("ggpppppg"), Policy()).history, ()) == []

    def test_ranges_apart_are_not_compared(self) -> None:
        assert signature_changes(timeline(8), play(8, script("ppggggqq"), Policy()).history, ()) == []

    def test_neighbours_that_share_a_signature_are_the_same(self) -> None:
        """A flaky failure with two faces is one failure."""
        one, other = {RAISES: bad("a")}, {RAISES: bad("b")}
        history = [
            ReleaseState(runs=(one, one)),
            ReleaseState(runs=(one, other)),
            ReleaseState(runs=(other,)),
            ReleaseState(runs=(one,)),
        ]
        (change,) = signature_changes(timeline(4), history, (RAISES,))
        assert (change.last_before, change.first_after, change.before, change.after) == ("2", "3", "b", "a")

    def test_the_most_frequent_signature_speaks_and_of_equals_the_first_by_name(self) -> None:
        def runs(*names: str) -> ReleaseState:
            return ReleaseState(runs=tuple({RAISES: bad(name)} for name in names))

        (change,) = signature_changes(timeline(2), [runs("a", "b", "b"), runs("d", "c")], ())
        assert (change.before, change.after) == ("b", "c")

    def test_releases_without_a_signature_are_passed_over(self) -> None:
        history = [ReleaseState(runs=({RAISES: bad(told)},)) for told in ("a", "", "b")]
        (change,) = signature_changes(timeline(3), history, ())
        assert (change.last_before, change.first_after) == ("0", "2")
