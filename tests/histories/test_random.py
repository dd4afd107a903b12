"""Ten thousand seeded random histories."""

from __future__ import annotations

import random

from harness.domain.search.policy import Policy
from tests.histories.calibration import prior_pairs
from tests.histories.simulate import NAN, found_transitions, noisy, play, random_states, true_transitions

DETERMINISTIC, NOISY = 8_500, 1_500
RATES = (0.9, 0.7, 0.5, 0.3)


def test_deterministic_histories_have_no_wrong_and_no_missed_edge() -> None:
    """With runs that agree, every transition is found exactly, beside broken releases too."""
    rng = random.Random(20568)
    seen = set()  # more than half of the short ones are drawn again, and are searched alike
    for _ in range(DETERMINISTIC):
        length = rng.randint(1, 14)
        states = random_states(rng, length, rng.choice((0, 1, 1, 2, 3))) if length > 1 else [True]
        blocked = [i for i in range(length) if rng.random() < rng.choice((0.0, 0.0, 0.3))]
        if (drawn := (*states, *blocked)) in seen:
            continue
        seen.add(drawn)
        played = play(length, noisy(states, blocked, 1.0, rng), Policy())
        told = [None if i in blocked else state for i, state in enumerate(states)]
        assert found_transitions(played.history, NAN) == true_transitions(told)


def test_noisy_histories_have_at_most_one_wrong_edge_in_a_hundred() -> None:
    """Of the transitions stated with a confidence of 0.99, at most 1 % are wrong, at rates from 0.9 to 0.3."""
    rng = random.Random(21467)
    stated = wrong = 0
    for number in range(NOISY):
        length = rng.randint(8, 24)
        states = random_states(rng, length, rng.choice((0, 1, 1, 2)))
        played = play(length, noisy(states, (), RATES[number % len(RATES)], rng), Policy())
        found = found_transitions(played.history, NAN, least=0.99)
        stated += len(found)
        wrong += len(found - true_transitions(states))
    assert stated > NOISY / 2
    assert wrong <= 0.01 * stated, f"{wrong} of {stated} transitions are wrong"


def test_of_histories_as_the_model_supposes_them_as_many_hold_as_it_says() -> None:
    """Short of budget, where most confidences are low: four standard deviations are allowed."""
    found = [(sure, holds) for sure, holds, _ in prior_pairs(600, seed=42)]
    for low, high in ((0.0, 0.8), (0.8, 1.0)):
        inside = [(sure, holds) for sure, holds in found if low <= sure < high]
        assert len(inside) > 40
        spread = sum(sure * (1 - sure) for sure, _ in inside) ** 0.5
        assert abs(sum(sure - holds for sure, holds in inside)) <= 4 * spread
