"""One line of a run's journal."""

from __future__ import annotations

from harness import codec
from harness.domain.trials.entry import Entry
from harness.domain.trials.trial import Environment, FinishedTrial, Trial
from harness.domain.trials.variant import REFERENCE
from tests.examples import observation


def test_a_release_that_cannot_be_tested_has_a_reason_and_nothing_else() -> None:
    entry = Entry(release="3.9.2", untestable="no wheel for this Python")
    assert (entry.environment, entry.finished, dict(entry.seconds)) == (None, None, {})


def test_a_finished_trial_is_written_and_read_again_as_it_was() -> None:
    """A fresh process goes on from the journal alone."""
    entry = Entry(
        release="3.9.2",
        environment=Environment(
            key="k",
            executable="/python",
            python="3.11.7",
            lock=("keras==3.9.2 --hash=sha256:aa",),
            seconds={"build": 2.0},
        ),
        finished=FinishedTrial(
            trial=Trial(release="3.9.2", variant=REFERENCE, repeat=3),
            observation=observation(),
            seconds=1.5,
            cached=True,
        ),
        seconds={"build": 2.0, "trials": 1.5},
    )
    assert codec.loads(Entry, codec.dumps(Entry, entry)) == entry
