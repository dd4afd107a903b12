"""The sentences of a conclusion."""

from __future__ import annotations

import pytest

from harness.domain.findings.conclusions import conclude
from harness.domain.findings.finding import Answer
from harness.domain.search.history import ReleaseState
from harness.domain.search.policy import Policy
from harness.domain.verdicts.verdict import GOOD
from tests.domain.findings.answering import answer
from tests.histories.simulate import NAN, RAISES, SKIPPED, bad, play, script, timeline


class TestConclusion:
    def test_transition(self) -> None:
        _, told = answer("ggggnnnngg")
        assert told.answer is Answer.ANSWERED
        assert told.sentence == "nonfinite-metric begins 3 -> 4; nonfinite-metric ends 7 -> 8."
        assert told.history == (
            "The history is not monotonic: nonfinite-metric begins and ends within the range, "
            "so a plain bisection between its ends would have missed it."
        )
        assert told.coverage == "Every one of the 10 releases of the range was run."
        assert told.caveats == ()

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

    def test_what_always_shows_is_told_beside_what_changes(self) -> None:
        """The end of one failure is no cure while another one goes on."""
        _, told = answer("eewww")
        assert told.answer is Answer.ANSWERED
        assert told.sentence == (
            "exception ends 1 -> 2; wrong-metric: in every release that could be tested, from 2 to 4."
        )

    def test_no_release(self) -> None:
        _, told = answer("gggg", Policy(symptoms=(NAN,)))
        assert told.answer is Answer.NO_RELEASE
        assert told.sentence == "nonfinite-metric: in no release from 0 to 3."
        assert answer("gggg")[1].sentence == "any symptom: in no release from 0 to 3."

    @pytest.mark.parametrize("letters", ["xxxx", "ssss", "xsxs"])
    def test_inconclusive(self, letters: str) -> None:
        _, told = answer(letters)
        assert told.answer is Answer.INCONCLUSIVE
        assert told.sentence == "No release of the range could be tested; see the reason of each."

    def test_asked_and_always_hidden_is_inconclusive(self) -> None:
        assert answer("eeee", Policy(symptoms=(NAN,)))[1].answer is Answer.INCONCLUSIVE

    def test_not_run_and_missed_islands(self) -> None:
        """What was not run is named, with the probability of a missed island by length."""
        _, told = answer("g" * 60 + "n" * 40, Policy(max_gap=None))
        assert 80 < len(told.not_run) < 100
        assert "were not run" in told.coverage
        (doubt,) = told.caveats
        assert "Another island of bad releases would have been missed with a probability of 9" in doubt
        assert " if 1 long, " in doubt

    def test_coverage_counts_what_could_not_be_tested(self) -> None:
        assert answer("gggxxxnnn")[1].coverage == "6 of 9 releases were run, 3 could not be tested."

    @pytest.mark.parametrize(
        ("length", "coverage"),
        [
            (3, "2 of 3 releases were run, 1 was not run (1)."),
            (10, "2 of 10 releases were run, 8 were not run (1, 2, 3, 4, 5, 6, 7, 8)."),
            (11, "2 of 11 releases were run, 9 were not run (1, 2, 3, 4, 5, 6, 7, 8, ...)."),
        ],
    )
    def test_coverage_names_the_first_eight_that_were_not_run(self, length: int, coverage: str) -> None:
        told = answer("g" * length, Policy(max_gap=None))[1]
        assert told.coverage == coverage
        assert told.not_run == tuple(str(i) for i in range(1, length - 1))

    def test_several_symptoms_of_which_some_come_and_go(self) -> None:
        _, told = answer("ggeennggg")
        assert told.sentence == (
            "exception begins 1 -> 2; exception ends 3 -> 4; "
            "nonfinite-metric begins 1 -> 4 (2 between could not be tested); nonfinite-metric ends 5 -> 6."
        )
        assert "exception, nonfinite-metric begins and ends" in told.history
        assert answer("ggggnnneee", Policy(symptoms=(NAN, RAISES)))[1].history == "The history is monotonic."

    def test_symptoms_that_show_everywhere_are_told_one_by_one(self) -> None:
        both = {RAISES: bad(), NAN: bad()}
        history = [
            ReleaseState(runs=(both, both)),
            ReleaseState(runs=({RAISES: GOOD, NAN: bad()}, both)),
            ReleaseState(runs=(both, both)),
        ]
        told = conclude(timeline(3), history, (), [])
        assert told.sentence == (
            "exception: no transition, flaky at about 83 % in every release that could be tested, from 0 to 2; "
            "nonfinite-metric: in every release that could be tested, from 0 to 2."
        )

    def test_asked_symptoms_that_never_show_are_named(self) -> None:
        told = answer("xggg", Policy(symptoms=(NAN, RAISES)))[1]
        assert told.sentence == "nonfinite-metric, exception: in no release from 1 to 3."

    def test_a_symptom_that_was_not_asked_for_leaves_no_doubt(self) -> None:
        history = play(10, script("ggpppqqqgg"), Policy()).history
        told = conclude(timeline(10), history, (NAN,), [])
        assert not any("failure changes" in doubt for doubt in told.caveats)

    def test_a_failure_that_turns_into_another_is_the_first_doubt(self) -> None:
        _, told = answer("ggpppqqqgx")
        assert told.caveats[0] == (
            "The failure changes while exception lasts, 4 -> 5: 'exception | ValueError | Mean is taken' becomes "
            "'exception | TypeError | no argument'; the two may have different causes."
        )
        assert told.caveats[1].startswith("9 (1 release) could not be tested")

    def test_skipped_rows_are_not_tested(self) -> None:
        history = [ReleaseState(runs=({NAN: SKIPPED},)), ReleaseState(runs=({NAN: GOOD},))]
        assert "from 1 to 1" in conclude(timeline(2), history, (NAN,), []).sentence
