"""What a replay takes over, and what it has to run."""

from __future__ import annotations

from harness.jobs.replay import known_look

from harness.domain.search.history import ReleaseState
from harness.domain.verdicts.reasons import recorded
from tests.nights import BAD, GOOD, NAN

G, B, NOT_RUN, BLOCKED = (
    ReleaseState(runs=(GOOD.verdicts,)),
    ReleaseState(runs=(BAD.verdicts, BAD.verdicts)),
    ReleaseState(),
    ReleaseState(blocked=recorded("cannot be installed")),
)


def test_what_was_run_is_its_own_answer() -> None:
    look = known_look([G, B], 1, 1)
    assert look is not None
    assert (look.verdicts[NAN].outcome.value, look.inferred) == ("bad", False)
    assert known_look([G, B], 1, 2) is None


def test_a_night_between_two_equal_neighbours_takes_over_their_answer_and_says_so() -> None:
    look = known_look([G, NOT_RUN, BLOCKED, NOT_RUN, G], 3, 0)
    assert look is not None
    assert (look.verdicts[NAN].outcome.value, look.inferred) == ("good", True)


def test_a_night_between_different_neighbours_or_at_an_end_is_run() -> None:
    assert known_look([G, NOT_RUN, B], 1, 0) is None
    assert known_look([NOT_RUN, G], 0, 0) is None
    assert known_look([G, NOT_RUN], 1, 0) is None


def test_a_confirmation_is_never_taken_over() -> None:
    assert known_look([G, NOT_RUN, G], 1, 1) is None


def test_a_build_that_cannot_be_tested_says_why() -> None:
    look = known_look([G, BLOCKED, G], 1, 0)
    assert look is not None
    assert look.blocked == "cannot be installed"
