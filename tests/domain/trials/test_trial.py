"""A trial is identified by its release, how the case is run, and its repeat."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from harness import codec
from harness.domain.trials.trial import Environment, Trial
from harness.domain.trials.variant import Variant

TRIALS = st.builds(
    Trial,
    release=st.sampled_from(["3.8.0", "3.9.0"]),
    variant=st.builds(Variant, replicas=st.integers(1, 2), fix=st.none() | st.just("a")),
    repeat=st.integers(0, 1),
)


@given(TRIALS, TRIALS)
def test_two_trials_are_one_when_nothing_tells_them_apart(one: Trial, other: Trial) -> None:
    """Results are looked up by their trial: an equal one must be found, and no other."""
    same = (one.release, one.variant, one.repeat) == (other.release, other.variant, other.repeat)
    assert (one == other) is same
    assert ({one: "result"}.get(other) == "result") is same


@given(TRIALS)
def test_a_cached_trial_is_found_by_its_text(trial: Trial) -> None:
    assert codec.loads(Trial, codec.dumps(Trial, trial)) == trial
    assert codec.dumps(Trial, replace(trial, repeat=trial.repeat + 1)) != codec.dumps(Trial, trial)


def test_what_an_environment_cost_is_no_part_of_an_older_line():
    read = codec.loads(Environment, '{"key": "k", "executable": "/python", "python": "3.11.7", "lock": ["a==1"]}')
    assert (read.seconds, read.reused, read.lock) == ({}, False, ("a==1",))
