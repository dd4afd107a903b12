"""The sentences of a conclusion."""

from __future__ import annotations

import pytest

from harness.core.board import Row
from harness.core.conclusions import Answer, conclude
from harness.core.policies import Policy
from harness.core.verdicts import GOOD
from tests.core.answering import answer
from tests.histories.simulate import NAN, SKIPPED, timeline


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
