"""Which release to try next: a pure function of what is known so far.

    ends first     A . . . . . . . . B      both ends of the timeline; a broken end is left in growing strides
    split          A . . . X . . . . B      ends differ in a symptom: the middle, away from broken areas
    fill           A . x . A . . . . A      ends agree: an island of bad releases may hide between them
    confirm        . . A|B . . . A|B . .    both sides of every transition, and what is in doubt, by fresh trials

Where everything can be run, it is run before anything is confirmed: the further runs tell of the transitions too.
Where the budget or `Policy.max_gap` forbids that, certainty comes before breadth: transitions are confirmed first,
then gaps are filled. Of what is to be confirmed, that which was run least comes first, and there what failed: a
second failure says more than a second pass. A transition whose gap can still be split waits: its sides may move.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import pairwise

from harness.domain.cases.symptoms import Symptom
from harness.domain.search.gaps import middles, next_outermost
from harness.domain.search.history import History, seen_symptoms
from harness.domain.search.policy import Policy
from harness.domain.search.posterior import IndexedTransition, Posterior, posterior_of

SCAN = 32
"""So many evenly spread releases, all of them broken, make a long timeline untestable when none is filled."""

MOST_RUNS = 40
"""Most runs of one release that doubt alone can ask for. A symptom that shows in one run of ten passes 40
times in a row with probability 0.015; beyond that the doubt is reported, not fought."""

SLACK = 0.5
"""Share of the allowed doubt that is left when the search stops. Who stops as soon as a figure is reached
stops on lucky runs too often: at 1, 1.05 % of the transitions stated at 0.99 in noisy histories were wrong; at 0.5,
0.4 %."""


class Why(str, Enum):
    """Why a release is tried."""

    END = "end"
    SPLIT = "split"
    FILL = "fill"
    CONFIRM = "confirm"
    AGAIN = "again"


@dataclass(frozen=True, kw_only=True)
class NextTrial:
    """One more run of the release at `index`; `repeat` counts its runs from 0."""

    index: int
    repeat: int
    why: Why


def next_trials(history: History, policy: Policy, *, wanted: int = 1, pending: Collection[int] = ()) -> list[NextTrial]:
    """Choose up to `wanted` releases to run now; an empty list with nothing pending ends the search.

    Args:
        history: One state per release of the timeline.
        policy: Symptoms, repeats and budget.
        wanted: How many runs may go on at once.
        pending: Positions that are being run; they are not chosen again.
    """
    spent = sum(len(state.runs) for state in history) + len(pending)
    room = wanted if policy.max_trials is None else min(wanted, policy.max_trials - spent)
    untried = _untried_left(history, policy, pending)
    chosen: dict[int, NextTrial] = {}
    if room <= 0:
        return []
    for index, why in _Search(history, policy, frozenset(pending), untried).candidates():
        if not history[index].tried and index not in chosen:
            if untried <= 0:
                continue
            untried -= 1
        chosen.setdefault(index, NextTrial(index=index, repeat=len(history[index].runs), why=why))
        if len(chosen) >= room:
            break
    return list(chosen.values())


def _untried_left(history: History, policy: Policy, pending: Collection[int]) -> int:
    """How many releases may still be tried for the first time: each may turn out untestable, and that costs a build."""
    if policy.max_trials is None:
        return len(history)
    blocked = sum(state.blocked is not None for state in history)
    return policy.max_trials - blocked - sum(not history[index].tried for index in pending)


class _Search:
    """What is open, how likely each symptom is, and the candidates in order of preference."""

    def __init__(self, history: History, policy: Policy, pending: frozenset[int], untried: int) -> None:
        self.history, self.policy, self.pending = history, policy, pending
        self.open = (
            [i for i, state in enumerate(history) if not state.tried and i not in pending] if untried > 0 else []
        )
        self.symptoms = seen_symptoms(history, policy.symptoms)

    @cached_property
    def posteriors(self) -> list[Posterior]:
        """One per symptom; weighed only when it is needed."""
        return [posterior_of(self.history, symptom) for symptom in self.symptoms]

    def candidates(self) -> Iterator[tuple[int, Why]]:
        """Everything worth running, most wanted first; never a pending or a blocked release."""
        for index, state in enumerate(self.history):
            if 0 < len(state.runs) < self.policy.repeats and self._may_run(index):
                yield index, Why.CONFIRM
        if self.open:
            yield from self._ends()
            yield from self._splits()
        if self._runs_everything():
            yield from self._fills()
            yield from self._confirms()
        else:
            yield from self._confirms()
            yield from self._fills()

    def _may_run(self, index: int) -> bool:
        return self.history[index].blocked is None and index not in self.pending

    def _runs_everything(self) -> bool:
        """Whether the budget reaches for every release and for confirming the transitions in sight."""
        if self.policy.max_trials is None:
            return self.policy.max_gap == 0
        spent = sum(len(state.runs) for state in self.history) + len(self.pending)
        sides = 2 * sum(1 + len(posterior.transitions) for posterior in self.posteriors)
        needed = len(self.open) + self.policy.confirmations * sides
        return self.policy.max_gap == 0 and needed <= self.policy.max_trials - spent

    def _ends(self) -> Iterator[tuple[int, Why]]:
        """The outermost releases that can be tested.

        Broken ends lie together (old releases that nothing installs any more): see `next_outermost`.
        """
        last = len(self.history) - 1
        for flip in (False, True):
            order = [last - i if flip else i for i in range(last + 1)]
            if (found := self._end(order)) is not None:
                yield found, Why.END
        if not any(state.runs for state in self.history) and not self.pending:
            limit = 0 if self.policy.max_gap is not None else len(self.history) // SCAN
            yield from ((index, Why.END) for index in middles(self.open, limit))

    def _end(self, order: Sequence[int]) -> int | None:
        works = {i: bool(state.runs) for i, state in enumerate(self.history) if state.tried}
        works |= dict.fromkeys(self.pending, True)
        if order[0] in works and next((i for i in order if works.get(i)), None) in self.pending:
            return None  # what is being run may turn out broken
        return next_outermost(order, works)

    def _splits(self) -> Iterator[tuple[int, Why]]:
        """The middle of every gap whose ends differ, the largest first; then further places in these gaps."""
        gaps = sorted(set(self._differing()), key=lambda gap: gap[0] - gap[1])
        rounds = [middles([i for i in self.open if before < i < after]) for before, after in gaps]
        while rounds:
            going = []
            for places in rounds:
                if (index := next(places, None)) is not None:
                    yield index, Why.SPLIT
                    going.append(places)
            rounds = going

    def _differing(self) -> Iterator[tuple[int, int]]:
        """Neighbouring tested releases that differ in a symptom.

        Where everything is run in the end, only the order is at stake and a look at each release alone is
        enough; else a flaky symptom must not send the search into every gap, so neighbours are weighed too.
        """
        for symptom in self.symptoms:
            if self.policy.max_gap == 0 and self.policy.max_trials is None:
                tallies = [(i, state.tally(symptom)) for i, state in enumerate(self.history) if state.runs]
                known = [(i, tally.bad > 0) for i, tally in tallies if tally.runs]
                yield from ((i, k) for (i, was), (k, now) in pairwise(known) if was is not now)
            else:
                for transition in posterior_of(self.history, symptom).transitions:
                    yield from self._outside_of_hidden(transition)

    def _outside_of_hidden(self, transition: IndexedTransition) -> Iterator[tuple[int, int]]:
        """Parts of a transition's gap that can bring its sides closer.

        Between two releases in which another symptom hides this one, nothing is to be learnt of it; a hundred
        nightlies in a row can be hidden so. The ends of the hidden stretch are looked for instead.

            good . . . hidden . . . . . . hidden . . . bad
                 split                          split
        """
        tested = [i for i in range(transition.before + 1, transition.after) if self.history[i].runs]
        for low, high in pairwise([transition.before, *tested, transition.after]):
            if not (self._hidden(low, transition.symptom) and self._hidden(high, transition.symptom)):
                yield low, high

    def _hidden(self, index: int, symptom: Symptom) -> bool:
        verdict = self.history[index].verdict(symptom)
        return verdict is not None and verdict.hidden

    def _fills(self) -> Iterator[tuple[int, Why]]:
        """The middle of each stretch that nobody has looked into, the largest first."""
        if self.policy.max_gap is not None:
            yield from ((index, Why.FILL) for index in middles(self.open, self.policy.max_gap))

    def _confirms(self) -> Iterator[tuple[int, Why]]:
        """Sides of transitions that are short of runs, and whatever is in doubt."""
        order = to_confirm(self.history, self.policy, self.pending, self.open, self.posteriors)
        yield from ((index, Why.CONFIRM) for index in order)


def to_confirm(
    history: History,
    policy: Policy,
    pending: Collection[int],
    untried: Collection[int],
    posteriors: Sequence[Posterior],
) -> list[int]:
    """Places worth another run, most wanted first; never a pending or a blocked release.

    Args:
        history: One state per release of the timeline.
        policy: Confidence, repeats and confirmations.
        pending: Places that are being run.
        untried: Places that may still be run for the first time.
        posteriors: One per symptom.
    """
    doubtful: dict[int, float] = {}
    moving = {*pending, *untried}
    for posterior in posteriors:
        closed = [
            transition
            for transition in posterior.transitions
            if moving.isdisjoint(range(transition.before + 1, transition.after))
        ]
        short = [
            (index, 1.0)
            for transition in closed
            for index in (transition.before, transition.after)
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
    """Both sides of transitions that are not sure enough, and releases whose own runs contradict their state.

    The bad side tells how often the symptom shows, hence how much a pass on the good side is worth: two
    fresh failures can save ten passes. A release whose runs all contradict its state is run again however
    sure the state is: a history that changes at every release looks like a flake until releases repeat.
    """
    allowed, states = SLACK * (1 - policy.confidence), posterior.states
    for transition in closed:
        if 1 - transition.confidence > allowed:
            yield from ((index, 1 - transition.confidence) for index in (transition.before, transition.after))
    moving = {
        i
        for transition in posterior.transitions
        if transition not in closed
        for i in (transition.before, transition.after)
    }
    for index, doubt in posterior.doubts.items():
        if index in moving:
            continue
        tally = history[index].tally(posterior.symptom)
        against, agreeing = (tally.good, tally.bad) if states[index] else tally
        if (doubt > allowed and (against or tally.bad)) or (against and not agreeing):
            yield index, doubt
