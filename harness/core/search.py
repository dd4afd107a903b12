"""Which release to try next: a pure function of what is known so far.

    ends first     A . . . . . . . . B      both ends of the timeline
    split          A . . . X . . . . B      ends differ in a symptom: the middle, away from broken areas
    fill           A . x . A . . . . A      ends agree: an island of bad releases may hide between them
    confirm        . . A|B . . . A|B . .    both sides of every edge, by fresh trials
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from harness.core.cases import Symptom
from harness.core.verdicts import Outcome, Verdict, Verdicts


@dataclass(frozen=True, kw_only=True)
class Row:
    """What is known of one release: the verdicts of its trials, or why none can be had."""

    runs: tuple[Verdicts, ...] = ()
    blocked: str | None = None

    @property
    def tried(self) -> bool:
        """Whether a trial or a refusal is on record."""
        return bool(self.runs) or self.blocked is not None

    def verdict(self, symptom: Symptom) -> Verdict | None:
        """The verdict over all runs, by majority; None while nothing is known."""
        if self.blocked is not None:
            return Verdict(outcome=Outcome.SKIP, reason=self.blocked)
        votes = [run[symptom] for run in self.runs if symptom in run]
        decided = [vote for vote in votes if vote.outcome is not Outcome.SKIP]
        if not decided:
            return votes[-1] if votes else None
        bad = [vote for vote in decided if vote.outcome is Outcome.BAD]
        return bad[0] if 2 * len(bad) >= len(decided) else next(v for v in decided if v.outcome is Outcome.GOOD)


Board = Sequence[Row]


class Why(str, Enum):
    """Why a release is tried."""

    END = "end"
    SPLIT = "split"
    FILL = "fill"
    CONFIRM = "confirm"


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
        confirmations: Runs on each side of an edge.
        max_trials: Budget of runs over all releases; None: no limit.
    """

    symptoms: tuple[Symptom, ...] = ()
    repeats: int = 1
    confirmations: int = 2
    max_trials: int | None = None


@dataclass(frozen=True, kw_only=True)
class Edge:
    """Two positions with differing verdicts and nothing decided between them."""

    symptom: Symptom
    before: int
    after: int
    turns_bad: bool


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
    for index, why in _candidates(board, policy, pending):
        if len(chosen) >= room:
            break
        if index not in chosen and index not in pending:
            chosen[index] = Probe(index=index, repeat=len(board[index].runs), why=why)
    return list(chosen.values())


def edges(board: Board, symptoms: Sequence[Symptom]) -> list[Edge]:
    """List every change of verdict along the timeline, by symptom and position."""
    return [edge for symptom in symptoms for edge in _edges_of(board, symptom)]


def seen_symptoms(board: Board, asked: Sequence[Symptom]) -> list[Symptom]:
    """The symptoms asked for or, when none were, those that any release shows."""
    if asked:
        return list(asked)
    return [s for s in Symptom if any((v := row.verdict(s)) and v.outcome is Outcome.BAD for row in board)]


def _candidates(board: Board, policy: Policy, pending: Collection[int]) -> Iterator[tuple[int, Why]]:
    open_places = [i for i, row in enumerate(board) if not row.tried and i not in pending]
    tested = [i for i, row in enumerate(board) if row.runs or i in pending]
    if open_places:
        yield from _ends(open_places, tested, len(board))
        yield from _splits(board, policy, open_places)
        yield from _fills(open_places)
    if any(not row.tried for row in board):
        return
    for index, row in enumerate(board):
        if row.runs and len(row.runs) < policy.repeats:
            yield index, Why.CONFIRM
    for edge in edges(board, seen_symptoms(board, policy.symptoms)):
        for index in (edge.before, edge.after):
            if len(board[index].runs) < policy.confirmations:
                yield index, Why.CONFIRM


def _ends(open_places: list[int], tested: list[int], length: int) -> Iterator[tuple[int, Why]]:
    """The outermost releases; where an end is untestable, the next one inward takes its place."""
    if not tested or open_places[0] < tested[0]:
        yield open_places[0], Why.END
    if not tested or open_places[-1] > tested[-1]:
        yield open_places[-1], Why.END


def _splits(board: Board, policy: Policy, open_places: list[int]) -> Iterator[tuple[int, Why]]:
    gaps: list[tuple[int, int]] = []
    for edge in edges(board, seen_symptoms(board, policy.symptoms)):
        if (edge.before, edge.after) not in gaps:
            gaps.append((edge.before, edge.after))
    for before, after in sorted(gaps, key=lambda gap: gap[0] - gap[1]):
        inside = [i for i in open_places if before < i < after]
        if inside:
            yield _middle(inside), Why.SPLIT


def _fills(open_places: list[int]) -> Iterator[tuple[int, Why]]:
    """The middle of each stretch that nobody has looked into, the largest first."""
    left = list(open_places)
    while left:
        index = _middle(left)
        yield index, Why.FILL
        left.remove(index)


def _middle(places: list[int]) -> int:
    """Middle of the longest unbroken stretch: as far as can be from what was tried or is broken."""
    stretches: list[list[int]] = []
    for place in places:
        if stretches and stretches[-1][-1] == place - 1:
            stretches[-1].append(place)
        else:
            stretches.append([place])
    longest = max(stretches, key=len)
    return longest[len(longest) // 2]


def _edges_of(board: Board, symptom: Symptom) -> Iterator[Edge]:
    last: tuple[int, Outcome] | None = None
    for index, row in enumerate(board):
        verdict = row.verdict(symptom)
        if verdict is None or verdict.outcome is Outcome.SKIP:
            continue
        if last is not None and last[1] is not verdict.outcome:
            turns_bad = verdict.outcome is Outcome.BAD
            yield Edge(symptom=symptom, before=last[0], after=index, turns_bad=turns_bad)
        last = (index, verdict.outcome)
