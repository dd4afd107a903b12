"""Trials, their environment, and what came of them, as values."""

from __future__ import annotations

import pytest

from harness.domain.trials.trial import Environment, FinishedTrial, Trial
from harness.domain.trials.variant import REFERENCE, Variant
from tests.examples import observation

TWO = Variant(replicas=2, strategy="mirrored")


@pytest.mark.parametrize(
    "other",
    [
        Trial(release="3.9.1", variant=TWO),
        Trial(release="3.9.2", variant=REFERENCE),
        Trial(release="3.9.2", variant=TWO, repeat=1),
    ],
)
def test_release_variant_and_repeat_tell_trials_apart(other: Trial) -> None:
    one = Trial(release="3.9.2", variant=TWO)
    assert len({one, Trial(release="3.9.2", variant=TWO), other}) == 2


def test_an_environment_is_newly_made_unless_it_says_otherwise() -> None:
    made = Environment(key="k", executable="/python", python="3.11.7", lock=())
    assert (made.reused, dict(made.seconds)) == (False, {})


def test_a_finished_trial_was_run_unless_it_says_otherwise() -> None:
    done = FinishedTrial(trial=Trial(release="3.9.2", variant=TWO), observation=observation(), seconds=1.0)
    assert not done.cached
