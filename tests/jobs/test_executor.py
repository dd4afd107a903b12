"""The crew: several pieces at once, and nothing that is finished gets lost."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.domain.errors import InfrastructureError
from harness.domain.trials.entry import Entry
from harness.jobs import executor
from tests.examples import case, release
from tests.fakes import TWO, Heard, MemoryJournal, TableEnvironments, TableTrials, untestable


def drive(pieces: Sequence[str], jobs: int, work=lambda piece: [Entry(release=piece)], done=lambda piece: None):
    """Work through named pieces once each; returns the journal."""
    journal, left = MemoryJournal(), list(pieces)

    def choose(going: Sequence[str], room: int) -> list[str]:
        chosen, left[:] = left[:room], left[room:]
        return chosen

    try:
        executor.drive(choose, work, journal, done, jobs)
    except InfrastructureError as error:
        return journal, error
    return journal, None


class TestDrive:
    @settings(max_examples=30)
    @given(st.integers(0, 12), st.integers(1, 5))
    def test_every_piece_is_recorded_once(self, count, jobs):
        """Whatever the number of pieces and jobs, each leaves its entries exactly once."""
        pieces = [f"1.{n}" for n in range(count)]
        journal, error = drive(pieces, jobs)
        assert error is None
        assert sorted(e.release for e in journal.entries()) == sorted(pieces)

    def test_never_more_are_going_than_jobs_allow(self):
        guard, now, most = threading.Lock(), [0], [0]

        def work(piece: str) -> list[Entry]:
            with guard:
                now[0] += 1
                most[0] = max(most[0], now[0])
            threading.Event().wait(0.002)
            with guard:
                now[0] -= 1
            return [Entry(release=piece)]

        drive([f"1.{n}" for n in range(20)], 3, work)
        assert most[0] <= 3

    def test_what_is_told_as_done_is_already_recorded(self):
        """Who shows a verdict may look it up in the journal."""
        journal, seen = MemoryJournal(), []
        left = ["1.0", "1.1", "1.2"]

        def choose(going: Sequence[str], room: int) -> list[str]:
            chosen, left[:] = left[:room], left[room:]
            return chosen

        def done(piece: str) -> None:
            seen.append(piece in {e.release for e in journal.entries()})

        executor.drive(choose, lambda piece: [Entry(release=piece)], journal, done, 2)
        assert seen == [True, True, True]

    def test_a_failure_comes_out_and_what_the_others_finish_is_recorded(self):
        """One piece fails while another is still going: the other's result is not thrown away."""
        failed = threading.Event()

        def work(piece: str) -> list[Entry]:
            if piece == "bad":
                failed.set()
                raise InfrastructureError("disk full")
            failed.wait(10)
            return [Entry(release=piece)]

        journal, error = drive(["bad", "slow"], 2, work)
        assert error is not None
        assert [e.release for e in journal.entries()] == ["slow"]

    def test_after_a_failure_nothing_new_is_begun(self):
        begun: list[str] = []

        def work(piece: str) -> list[Entry]:
            begun.append(piece)
            raise InfrastructureError("disk full")

        drive(["1.0", "1.1", "1.2"], 1, work)
        assert begun == ["1.0"]

    def test_a_failure_of_who_is_told_loses_nothing_either(self):
        def done(piece: str) -> None:
            raise InfrastructureError("the terminal is gone")

        journal, error = drive(["1.0"], 1, done=done)
        assert error is not None
        assert [e.release for e in journal.entries()] == ["1.0"]


class TestAttempt:
    def attempt(self, word: str = "good", **failures) -> list[Entry]:
        environments = TableEnvironments(untestable(*failures))
        return executor.attempt(
            case(), release("1.0"), [TWO], environments, TableTrials({"1.0": word}), Heard(), repeat=2, why="split"
        )

    def test_each_trial_is_an_entry_with_its_environment(self):
        (entry,) = self.attempt("nan")
        assert entry.environment is not None
        assert entry.environment.key == "key-1.0"
        assert entry.finished is not None
        assert (entry.finished.trial.repeat, entry.finished.trial.variant) == (2, TWO)

    def test_what_it_cost_stands_on_the_first_entry_alone(self):
        environments, trials = TableEnvironments(), TableTrials({"1.0": "good"})
        entries = executor.attempt(case(), release("1.0"), [TWO, TWO], environments, trials, Heard())
        assert set(entries[0].seconds) == {"resolve", "build", "import", "trials"}
        assert entries[1].seconds == {}
        assert entries[0].seconds["import"] >= 0

    def test_an_untestable_release_is_one_entry_with_the_reason(self):
        environments = TableEnvironments(untestable("1.0"))
        (entry,) = executor.attempt(case(), release("1.0"), [TWO], environments, TableTrials({}), Heard())
        assert entry == Entry(release="1.0", untestable="1.0: no wheel for this Python")

    def test_the_surroundings_are_no_entry(self):
        environments = TableEnvironments({"1.0": InfrastructureError("disk full")})
        with pytest.raises(InfrastructureError):
            executor.attempt(case(), release("1.0"), [TWO], environments, TableTrials({}), Heard())
