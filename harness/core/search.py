"""Which release to try next: a pure function of what is known so far.

    ends first     A . . . . . . . . B      both ends of the timeline; a broken end is left in growing strides
    split          A . . . X . . . . B      ends differ in a symptom: the middle, away from broken areas
    fill           A . x . A . . . . A      ends agree: an island of bad releases may hide between them
    confirm        . . A|B . . . A|B . .    both sides of every edge, and what is in doubt, by fresh trials

Where everything can be run, it is run before anything is confirmed: the further runs tell of the edges too.
Where the budget or `Policy.max_gap` forbids that, certainty comes before breadth: edges are confirmed first,
then gaps are filled.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import pairwise

from harness.core.belief import Belief, Edge, believe
from harness.core.board import Board, seen_symptoms
from harness.core.symptoms import Symptom
from harness.core.verdicts import HIDDEN

MOST_RUNS = 40
"""Most runs of one release that doubt alone can ask for. A symptom that shows in one run of ten passes 40
times in a row with probability 0.015; beyond that the doubt is reported, not fought."""

SLACK = 0.5
"""Share of the allowed doubt that is left when the search stops. Who stops as soon as a figure is reached
stops on lucky runs too often: at 1, 1.05 % of the edges stated at 0.99 in noisy histories were wrong; at 0.5,
0.4 %."""

SCAN = 32
"""So many evenly spread releases, all of them broken, make a long timeline untestable when none is filled."""


class Why(str, Enum):
    """Why a release is tried."""

    END = "end"
    SPLIT = "split"
    FILL = "fill"
    CONFIRM = "confirm"
    AGAIN = "again"


@dataclass(frozen=True, kw_only=True)
class Probe:
    """One more run of the release at `index`; `repeat` counts its runs from 0."""

    index: int
    repeat: int
    why: Why


@dataclass(frozen=True, kw_only=True)
class Policy:
    """How hard to search.

    Attributes:
        symptoms: Those asked for; empty: every symptom that is seen.
        repeats: Least number of runs per release.
        confirmations: Least number of runs on each side of an edge.
        max_trials: Budget of runs over all releases; None: no limit.
        confidence: Probability with which an edge must lie where it is said to lie.
        max_gap: Longest stretch of releases that may stay unrun where both neighbours agree. 0: none, every
            release is run; None: any, gaps between agreeing releases are not filled (long nightly timelines).
    """

    symptoms: tuple[Symptom, ...] = ()
    repeats: int = 1
    confirmations: int = 2
    max_trials: int | None = None
    confidence: float = 0.99
    max_gap: int | None = 0


def next_probes(board: Board, policy: Policy, *, wanted: int = 1, pending: Collection[int] = ()) -> list[Probe]:
    """Choose up to `wanted` releases to run now; an empty list with nothing pending ends the search.

    Args:
        board: One row per release of the timeline.
        policy: Symptoms, repeats and budget.
        wanted: How many runs may go on at once.
        pending: Positions that are being run; they are not chosen again.
    """
    spent = sum(len(row.runs) for row in board) + len(pending)
    room = wanted if policy.max_trials is None else min(wanted, policy.max_trials - spent)
    chosen: dict[int, Probe] = {}
    if room <= 0:
        return []
    for index, why in _Search(board, policy, frozenset(pending)).candidates():
        chosen.setdefault(index, Probe(index=index, repeat=len(board[index].runs), why=why))
        if len(chosen) >= room:
            break
    return list(chosen.values())


class _Search:
    """One look at the board: what is open, what is believed, and the candidates in order of preference."""

    def __init__(self, board: Board, policy: Policy, pending: frozenset[int]) -> None:
        self.board, self.policy, self.pending = board, policy, pending
        self.open = [i for i, row in enumerate(board) if not row.tried and i not in pending]
        self.symptoms = seen_symptoms(board, policy.symptoms)

    @cached_property
    def beliefs(self) -> list[Belief]:
        """One per symptom; weighed only when it is needed."""
        return [believe(self.board, symptom) for symptom in self.symptoms]

    def candidates(self) -> Iterator[tuple[int, Why]]:
        """Everything worth running, most wanted first; never a pending or a blocked release."""
        for index, row in enumerate(self.board):
            if 0 < len(row.runs) < self.policy.repeats and self._may_run(index):
                yield index, Why.CONFIRM
        yield from self._ends()
        yield from self._splits()
        if self._runs_everything():
            yield from self._fills()
            yield from self._confirmations()
        else:
            yield from self._confirmations()
            yield from self._fills()

    def _may_run(self, index: int) -> bool:
        return self.board[index].blocked is None and index not in self.pending

    def _runs_everything(self) -> bool:
        """Whether the budget reaches for every release and for confirming the edges in sight."""
        if self.policy.max_trials is None:
            return self.policy.max_gap == 0
        spent = sum(len(row.runs) for row in self.board) + len(self.pending)
        sides = 2 * sum(1 + len(belief.edges) for belief in self.beliefs)
        needed = len(self.open) + self.policy.confirmations * sides
        return self.policy.max_gap == 0 and needed <= self.policy.max_trials - spent

    def _ends(self) -> Iterator[tuple[int, Why]]:
        """The outermost releases that can be tested.

        Broken ends lie together (old releases that nothing installs any more), so strides double until a
        release can be tested, and the border of the broken area is then found by halving.

            x x . x . . . x . . . . . . . A      strides 1, 2, 4, 8
            x x . x . . . x . x x A . . . A      back to the border
        """
        last = len(self.board) - 1
        for flip in (False, True):
            order = [last - i if flip else i for i in range(last + 1)]
            if (found := self._end(order)) is not None:
                yield found, Why.END
        if not any(row.runs for row in self.board) and not self.pending:
            limit = 0 if self.policy.max_gap is not None else len(self.board) // SCAN
            yield from ((index, Why.END) for index in _middles(self.open, limit))

    def _end(self, order: Sequence[int]) -> int | None:
        reached = next((k for k, i in enumerate(order) if self.board[i].runs or i in self.pending), None)
        if reached is None:
            strides = (2**k - 1 for k in range(len(order).bit_length()))
            return next((order[k] for k in strides if k < len(order) and not self.board[order[k]].tried), None)
        broken = max((k for k in range(reached) if self.board[order[k]].blocked is not None), default=-1)
        if broken < 0:
            return order[0] if reached else None
        if order[reached] in self.pending:
            return None
        return next(_middles(sorted(order[k] for k in range(broken + 1, reached))), None)

    def _splits(self) -> Iterator[tuple[int, Why]]:
        """The middle of every gap whose ends differ, the largest first; then further places in these gaps."""
        if not self.open:
            return
        gaps = sorted(set(self._differing()), key=lambda gap: gap[0] - gap[1])
        rounds = [_middles([i for i in self.open if before < i < after]) for before, after in gaps]
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
                tallies = [(i, row.tally(symptom)) for i, row in enumerate(self.board) if row.runs]
                known = [(i, tally.bad > 0) for i, tally in tallies if tally.runs]
                yield from ((i, k) for (i, was), (k, now) in pairwise(known) if was is not now)
            else:
                for edge in believe(self.board, symptom).edges:
                    yield from self._outside_of_hidden(edge)

    def _outside_of_hidden(self, edge: Edge) -> Iterator[tuple[int, int]]:
        """Parts of an edge's gap that can bring its sides closer.

        Between two releases in which another symptom hides this one, nothing is to be learnt of it; a hundred
        nightlies in a row can be hidden so. The ends of the hidden stretch are looked for instead.

            good . . . hidden . . . . . . hidden . . . bad
                 split                          split
        """
        tested = [i for i in range(edge.before + 1, edge.after) if self.board[i].runs]
        for low, high in pairwise([edge.before, *tested, edge.after]):
            if not (self._hidden(low, edge.symptom) and self._hidden(high, edge.symptom)):
                yield low, high

    def _hidden(self, index: int, symptom: Symptom) -> bool:
        row = self.board[index]
        verdict = row.verdict(symptom) if row.runs and not row.tally(symptom).runs else None
        return verdict is not None and verdict.reason.startswith(HIDDEN)

    def _fills(self) -> Iterator[tuple[int, Why]]:
        """The middle of each stretch that nobody has looked into, the largest first."""
        if self.policy.max_gap is not None:
            yield from ((index, Why.FILL) for index in _middles(self.open, self.policy.max_gap))

    def _confirmations(self) -> Iterator[tuple[int, Why]]:
        """Sides of edges that are short of runs, and whatever is in doubt.

        What was run least comes first, and there what failed: a second failure says more than a second pass.
        An edge whose gap can still be split waits: its sides may move.
        """
        doubtful: dict[int, float] = {}
        for belief in self.beliefs:
            closed = [edge for edge in belief.edges if not self._unsettled(edge)]
            short = [
                (index, 1.0)
                for edge in closed
                for index in (edge.before, edge.after)
                if self.board[index].tally(belief.symptom).runs < self.policy.confirmations
            ]
            for index, doubt in [*short, *self._worth_repeating(belief, closed)]:
                doubtful[index] = max(doubtful.get(index, 0.0), doubt)
        order = sorted(doubtful, key=lambda i: (len(self.board[i].runs), not self._failed(i), -doubtful[i], i))
        yield from ((index, Why.CONFIRM) for index in order if self._short(index))

    def _unsettled(self, edge: Edge) -> bool:
        inside = range(edge.before + 1, edge.after)
        return any(i in self.pending or not self.board[i].tried for i in inside)

    def _failed(self, index: int) -> bool:
        """Whether any run was bad."""
        return any(tally.bad for tally in self.board[index].tallies.values())

    def _short(self, index: int) -> bool:
        most = max(MOST_RUNS, self.policy.repeats, self.policy.confirmations)
        return self._may_run(index) and len(self.board[index].runs) < most

    def _worth_repeating(self, belief: Belief, closed: Sequence[Edge]) -> Iterator[tuple[int, float]]:
        """Both sides of edges that are not sure enough, and releases whose own runs contradict their state.

        The bad side tells how often the symptom shows, hence how much a pass on the good side is worth: two
        fresh failures can save ten passes. A release whose runs all contradict its state is run again however
        sure the state is: a history that changes at every release looks like a flake until releases repeat.
        """
        allowed, states = SLACK * (1 - self.policy.confidence), belief.states
        for edge in closed:
            if 1 - edge.confidence > allowed:
                yield from ((index, 1 - edge.confidence) for index in (edge.before, edge.after))
        moving = {i for edge in belief.edges if edge not in closed for i in (edge.before, edge.after)}
        for index, doubt in belief.doubts.items():
            if index in moving:
                continue
            tally = self.board[index].tally(belief.symptom)
            against, agreeing = (tally.good, tally.bad) if states[index] else tally
            if (doubt > allowed and (against or tally.bad)) or (against and not agreeing):
                yield index, doubt


def _middles(places: Sequence[int], limit: int = 0) -> Iterator[int]:
    """The middle of the longest unbroken stretch, again and again, until none is longer than `limit`.

    The middle is as far as can be from what was tried or is broken.
    """
    stretches: list[tuple[int, int]] = []
    for place in places:
        if stretches and stretches[-1][1] == place:
            stretches[-1] = (stretches[-1][0], place + 1)
        else:
            stretches.append((place, place + 1))
    while stretches:
        longest = max(stretches, key=lambda stretch: stretch[1] - stretch[0])
        start, stop = longest
        if stop - start <= limit:
            return
        middle = (start + stop) // 2
        yield middle
        at = stretches.index(longest)
        stretches[at : at + 1] = [part for part in ((start, middle), (middle + 1, stop)) if part[0] < part[1]]
