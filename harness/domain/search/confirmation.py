"""What to run again: the sides of every edge, and what is in doubt, until the search is as sure as was asked.

What was run least comes first, and there what failed: a second failure says more than a second pass.
An edge whose gap can still be split waits: its sides may move.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from harness.domain.search.history import History
from harness.domain.search.policy import Policy
from harness.domain.search.posterior import IndexedTransition, Posterior

MOST_RUNS = 40
"""Most runs of one release that doubt alone can ask for. A symptom that shows in one run of ten passes 40
times in a row with probability 0.015; beyond that the doubt is reported, not fought."""

SLACK = 0.5
"""Share of the allowed doubt that is left when the search stops. Who stops as soon as a figure is reached
stops on lucky runs too often: at 1, 1.05 % of the edges stated at 0.99 in noisy histories were wrong; at 0.5,
0.4 %."""


def to_confirm(
    history: History,
    policy: Policy,
    pending: Collection[int],
    untried: Collection[int],
    posteriors: Sequence[Posterior],
) -> list[int]:
    """Places worth another run, most wanted first; never a pending or a blocked release.

    Args:
        history: One row per release of the timeline.
        policy: Confidence, repeats and confirmations.
        pending: Places that are being run.
        untried: Places that may still be run for the first time.
        posteriors: One per symptom.
    """
    doubtful: dict[int, float] = {}
    moving = {*pending, *untried}
    for posterior in posteriors:
        closed = [edge for edge in posterior.edges if moving.isdisjoint(range(edge.before + 1, edge.after))]
        short = [
            (index, 1.0)
            for edge in closed
            for index in (edge.before, edge.after)
            if history[index].tally(posterior.symptom).runs < policy.confirmations
        ]
        for index, doubt in [*short, *_worth_repeating(history, policy, posterior, closed)]:
            doubtful[index] = max(doubtful.get(index, 0.0), doubt)
    most = max(MOST_RUNS, policy.repeats, policy.confirmations)
    order = sorted(doubtful, key=lambda i: (len(history[i].runs), not _failed(history, i), -doubtful[i], i))
    return [i for i in order if history[i].blocked is None and i not in pending and len(history[i].runs) < most]


def _failed(history: History, index: int) -> bool:
    """Whether any run was bad."""
    return any(tally.bad for tally in history[index].tallies.values())


def _worth_repeating(
    history: History, policy: Policy, posterior: Posterior, closed: Sequence[IndexedTransition]
) -> Iterator[tuple[int, float]]:
    """Both sides of edges that are not sure enough, and releases whose own runs contradict their state.

    The bad side tells how often the symptom shows, hence how much a pass on the good side is worth: two
    fresh failures can save ten passes. A release whose runs all contradict its state is run again however
    sure the state is: a history that changes at every release looks like a flake until releases repeat.
    """
    allowed, states = SLACK * (1 - policy.confidence), posterior.states
    for edge in closed:
        if 1 - edge.confidence > allowed:
            yield from ((index, 1 - edge.confidence) for index in (edge.before, edge.after))
    moving = {i for edge in posterior.edges if edge not in closed for i in (edge.before, edge.after)}
    for index, doubt in posterior.doubts.items():
        if index in moving:
            continue
        tally = history[index].tally(posterior.symptom)
        against, agreeing = (tally.good, tally.bad) if states[index] else tally
        if (doubt > allowed and (against or tally.bad)) or (against and not agreeing):
            yield index, doubt
