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

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from itertools import pairwise

from harness.domain.cases.symptoms import Symptom
from harness.domain.search.gaps import Stretches, middles_of, next_from_end
from harness.domain.search.history import History, SearchHistory, indexed, seen_symptoms
from harness.domain.search.levels import level_views
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


class StoppedBy(str, Enum):
    """What kept a search from its end."""

    BUDGET = "budget"
    INTERRUPTION = "interruption"


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
    known = indexed(history)
    spent = known.runs + len(pending)
    room = wanted if policy.max_trials is None else min(wanted, policy.max_trials - spent)
    untried = _untried_left(known, policy, pending)
    chosen: dict[int, NextTrial] = {}
    if room <= 0:
        return []
    for index, why in _Search(known, policy, frozenset(pending), untried).candidates():
        if not history[index].tried and index not in chosen:
            if untried <= 0:
                continue
            untried -= 1
        chosen.setdefault(index, NextTrial(index=index, repeat=len(history[index].runs), why=why))
        if len(chosen) >= room:
            break
    return list(chosen.values())


def stopped_early(history: History, policy: Policy) -> StoppedBy | None:
    """Why a search stopped while it still wanted runs; None when it came to its end."""
    if next_trials(history, policy):
        return StoppedBy.INTERRUPTION
    if policy.max_trials is not None and next_trials(history, replace(policy, max_trials=None)):
        return StoppedBy.BUDGET
    return None


def _untried_left(history: SearchHistory, policy: Policy, pending: Collection[int]) -> int:
    """How many releases may still be tried for the first time: each may turn out untestable, and that costs a build."""
    if policy.max_trials is None:
        return len(history)
    return policy.max_trials - len(history.blocked) - sum(not history[index].tried for index in pending)


class _Search:
    """What is open, how likely each symptom is, and the candidates in order of preference."""

    def __init__(self, history: SearchHistory, policy: Policy, pending: frozenset[int], untried: int) -> None:
        self.history, self.policy, self.pending = history, policy, pending
        self.open = history.untried if untried > 0 else Stretches()
        self.symptoms = seen_symptoms(history, policy.symptoms)

    @cached_property
    def levels(self) -> list[_Search]:
        """The same search for each wrong level of a value that has several."""
        policy = replace(self.policy, symptoms=(Symptom.CHANGED_VALUE,))
        views = level_views(self.history, self.policy.symptoms) if Symptom.CHANGED_VALUE in self.symptoms else []
        return [_Search(view, policy, self.pending, len(self.open)) for view in views]

    @property
    def left(self) -> int:
        """How many releases may be tried for the first time and are not being run."""
        return len(self.open) - sum(place in self.open for place in self.pending)

    @cached_property
    def posteriors(self) -> list[Posterior]:
        """One per symptom; weighed only when it is needed."""
        return [posterior_of(self.history, symptom) for symptom in self.symptoms]

    def candidates(self) -> Iterator[tuple[int, Why]]:
        """Everything worth running, most wanted first; never a pending or a blocked release."""
        for index in self.history.run_less_than(self.policy.repeats):
            if self._may_run(index):
                yield index, Why.CONFIRM
        if self.left:
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
        spent = self.history.runs + len(self.pending)
        sides = 2 * sum(1 + len(posterior.transitions) for posterior in self.posteriors)
        needed = self.left + self.policy.confirmations * sides
        return self.policy.max_gap == 0 and needed <= self.policy.max_trials - spent

    def _ends(self) -> Iterator[tuple[int, Why]]:
        """The outermost releases that can be tested.

        Broken ends lie together (old releases that nothing installs any more): see `next_from_end`.
        """
        for backwards in (False, True):
            if (found := self._end(backwards=backwards)) is not None:
                yield found, Why.END
        if not self.history.tested and not self.pending:
            limit = 0 if self.policy.max_gap is not None else len(self.history) // SCAN
            yield from ((index, Why.END) for index in self.open.middles(limit))

    def _end(self, *, backwards: bool) -> int | None:
        """The place at one end, counted from there: the oldest is the first of 0, 1, 2, ... or the last of them."""
        last = len(self.history) - 1

        def flipped(place: int) -> int:
            return last - place if backwards else place

        works = [*self.pending, *(self.history.tested[-1:] if backwards else self.history.tested[:1])]
        first = min(map(flipped, works), default=None)
        if self._tried(flipped(0)) and first is not None and flipped(first) in self.pending:
            return None  # what is being run may turn out broken
        broken = _last_before(self.history.blocked, first, last, backwards=backwards)
        found = next_from_end(last + 1, lambda k: self._tried(flipped(k)), first, broken, backwards=backwards)
        return None if found is None else flipped(found)

    def _tried(self, place: int) -> bool:
        return self.history[place].tried or place in self.pending

    def _splits(self) -> Iterator[tuple[int, Why]]:
        """The middle of every gap whose ends differ, the largest first; then further places in these gaps."""
        differing = {gap for one in (self, *self.levels) for gap in one._differing()}
        gaps = sorted(differing, key=lambda gap: gap[0] - gap[1])
        rounds = [middles_of(self.open.between(before, after, self.pending)) for before, after in gaps]
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
                yield from self.history.known(symptom).changes
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
        tested = self.history.tested
        tested = tested[bisect_right(tested, transition.before) : bisect_left(tested, transition.after)]
        for low, high in pairwise([transition.before, *tested, transition.after]):
            if not (self._hidden(low, transition.symptom) and self._hidden(high, transition.symptom)):
                yield low, high

    def _hidden(self, index: int, symptom: Symptom) -> bool:
        verdict = self.history[index].verdict(symptom)
        return verdict is not None and verdict.hidden

    def _fills(self) -> Iterator[tuple[int, Why]]:
        """The middle of each stretch that nobody has looked into, the largest first."""
        if self.policy.max_gap is not None:
            yield from ((index, Why.FILL) for index in self.open.middles(self.policy.max_gap, self.pending))

    def _confirms(self) -> Iterator[tuple[int, Why]]:
        """Sides of transitions that are short of runs, and whatever is in doubt."""
        for one in (self, *self.levels):
            order = to_confirm(one.history, self.policy, self.pending, self.open, one.posteriors)
            yield from ((index, Why.CONFIRM) for index in order)


def to_confirm(
    history: History,
    policy: Policy,
    pending: Collection[int],
    untried: Stretches,
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
    for posterior in posteriors:
        closed = [
            transition
            for transition in posterior.transitions
            if not untried.between(transition.before, transition.after)
            and not any(transition.before < place < transition.after for place in pending)
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
    allowed = SLACK * (1 - policy.confidence)
    for transition in closed:
        if 1 - transition.confidence > allowed:
            yield from ((index, 1 - transition.confidence) for index in (transition.before, transition.after))
    still = set(posterior.transitions).difference(closed)
    moving = {i for transition in still for i in (transition.before, transition.after)}
    first = 0
    for stretch in posterior.stretches:  # all places of one have the same runs
        doubt = min(stretch.bad, 1 - stretch.bad)
        tally = history[posterior.places[first]].tally(posterior.symptom)
        against, agreeing = (tally.good, tally.bad) if stretch.bad >= 0.5 else tally
        if (doubt > allowed and (against or tally.bad)) or (against and not agreeing):
            places = posterior.places[first : first + stretch.size]
            yield from ((index, doubt) for index in places if index not in moving)
        first += stretch.size


def _last_before(blocked: Sequence[int], first: int | None, last: int, *, backwards: bool) -> int:
    """The outermost but one: the last broken place before the first that works, counted from the outer end; -1: none.

    Args:
        blocked: The broken places in order.
        first: The first place that works, counted from the outer end.
        last: The last place of all.
        backwards: The outer end is the last place.
    """
    if first is None:
        return -1
    if backwards:
        at = bisect_right(blocked, last - first)
        return last - blocked[at] if at < len(blocked) else -1
    at = bisect_left(blocked, first)
    return blocked[at - 1] if at else -1
