"""What is known so far: one state per release of the timeline."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import merge
from itertools import pairwise
from typing import NamedTuple, overload

from harness.domain.cases.symptoms import Symptom
from harness.domain.search.gaps import Stretches
from harness.domain.verdicts.reasons import Reason
from harness.domain.verdicts.verdict import Outcome, Verdict, Verdicts


class Tally(NamedTuple):
    """How often a release showed one symptom and how often not; hidden and skipped runs do not count."""

    bad: int = 0
    good: int = 0

    @property
    def runs(self) -> int:
        """Runs that say something about the symptom."""
        return self.bad + self.good


NOTHING = Tally()


@dataclass(frozen=True, kw_only=True)
class ReleaseState:
    """What is known of one release: the verdicts of its trials, or why none can be had."""

    runs: tuple[Verdicts, ...] = ()
    blocked: Reason | None = None

    @property
    def tried(self) -> bool:
        """Whether a trial or a refusal is on record."""
        return bool(self.runs) or self.blocked is not None

    def verdict(self, symptom: Symptom) -> Verdict | None:
        """The verdict over its own runs, by majority; None while nothing is known.

        A flaky release is judged better with its neighbours in view: see `harness.domain.search.posterior.settle`.
        """
        if self.blocked is not None:
            return Verdict(outcome=Outcome.SKIP, reason=self.blocked)
        votes = [run[symptom] for run in self.runs if symptom in run]
        decided = [vote for vote in votes if vote.outcome is not Outcome.SKIP]
        if not decided:
            return votes[-1] if votes else None
        bad = [vote for vote in decided if vote.outcome is Outcome.BAD]
        return bad[0] if 2 * len(bad) >= len(decided) else next(v for v in decided if v.outcome is Outcome.GOOD)

    def showing(self, symptom: Symptom, outcome: Outcome) -> list[Verdict]:
        """Verdicts of its runs with one outcome for one symptom; none when the release is blocked."""
        runs = self.runs if self.blocked is None else ()
        return [run[symptom] for run in runs if symptom in run and run[symptom].outcome is outcome]

    @cached_property
    def tallies(self) -> Mapping[Symptom, Tally]:
        """Deciding runs by symptom; counted once, because the search asks for them after every trial."""
        counts: dict[Symptom, Tally] = {}
        for run in self.runs if self.blocked is None else ():
            for symptom, verdict in run.items():
                if verdict.outcome is not Outcome.SKIP:
                    bad, good = counts.get(symptom, NOTHING)
                    failed = verdict.outcome is Outcome.BAD
                    counts[symptom] = Tally(bad=bad + failed, good=good + (not failed))
        return counts

    def tally(self, symptom: Symptom) -> Tally:
        """Count the runs that decide one symptom."""
        return self.tallies.get(symptom, NOTHING)


History = Sequence[ReleaseState]


Forced = bool | None
"""The state of a place that is laid down: bad or good; None leaves it open."""

Group = tuple[int, Tally, Forced, int]
"""Neighbours with equal runs and equal distances to the place before: distance, runs, state, count."""

_CELL = 512
"""So many neighbouring places of the timeline are grouped together: one run more makes the groups of one cell anew."""


def grouped(
    known: Sequence[tuple[int, Tally]], before: int | None = None, given: Mapping[int, bool] | None = None
) -> tuple[Group, ...]:
    """Put equal neighbours together.

    Args:
        known: Each place with its runs, in order.
        before: The place before the first; None: there is none, and the first has the distance 0.
        given: Positions in `known` whose state is laid down.
    """
    found: list[Group] = []
    same: tuple[int, Tally, Forced] = (0, NOTHING, None)
    last, count = before, 0
    for k, (place, tally) in enumerate(known):
        this = (0 if last is None else place - last, tally, given.get(k) if given else None)
        last = place
        if this == same:
            count += 1
        else:
            found += [(*same, count)] if count else []
            same, count = this, 1
    return (*found, (*same, count)) if count else ()


class Known:
    """The releases that tell of one symptom: where each is, whether it failed, and where that changes."""

    def __init__(self) -> None:
        self.places: list[int] = []
        self.failing = 0
        self.tallies: dict[int, Tally] = {}
        self._changes: dict[int, int] = {}
        self._starts: list[int] = []
        self._cells: dict[int, tuple[int, tuple[Group, ...], int] | None] = {}

    @property
    def changes(self) -> Iterator[tuple[int, int]]:
        """Neighbouring places of which one failed and the other never did, in order."""
        return ((start, self._changes[start]) for start in self._starts)

    def put(self, place: int, tally: Tally) -> None:
        """Say what the runs at one place are now; there is at least one."""
        old = self.tallies.get(place)
        self.tallies[place] = tally
        self._cells[place // _CELL] = None
        if old is not None and bool(old.bad) is bool(tally.bad):
            return
        self.failing += bool(tally.bad) - bool(old is not None and old.bad)
        at = bisect_left(self.places, place)
        if old is None:
            self.places.insert(at, place)
        near = self.places[max(0, at - 1) : at + 2]
        self._forget(near)
        for before, after in pairwise(near):
            if bool(self.tallies[before].bad) is not bool(self.tallies[after].bad):
                self._changes[before] = after
                insort(self._starts, before)

    def groups(self) -> tuple[Group, ...]:
        """Equal neighbours together, of all places."""
        found: list[Group] = []
        last: int | None = None
        for number in sorted(self._cells):
            first, inner, end = self._cells[number] or self._cell(number)
            _join(found, (0 if last is None else first - last, self.tallies[first], None, 1))
            for group in inner[:1]:
                _join(found, group)
            found += inner[1:]
            last = end
        return tuple(found)

    def _cell(self, number: int) -> tuple[int, tuple[Group, ...], int]:
        """The first place of a cell, the groups of all others in it, and the last place."""
        low = bisect_left(self.places, number * _CELL)
        own = self.places[low : bisect_left(self.places, (number + 1) * _CELL)]
        inner = grouped([(place, self.tallies[place]) for place in own[1:]], own[0])
        self._cells[number] = made = (own[0], inner, own[-1])
        return made

    def _forget(self, places: Sequence[int]) -> None:
        for place in places[:-1]:
            if self._changes.pop(place, None) is not None:
                del self._starts[bisect_left(self._starts, place)]


def _join(groups: list[Group], more: Group) -> None:
    """Put a group behind others, or into the last one where it is its like."""
    if groups and groups[-1][:3] == more[:3]:
        groups[-1] = (*more[:3], groups[-1][3] + more[3])
    else:
        groups.append(more)


class SearchHistory(Sequence[ReleaseState]):
    """One state per release, with what the search asks for after every trial kept up to date.

    Args:
        states: The states so far, or how many releases there are.
    """

    def __init__(self, states: History | int) -> None:
        given = () if isinstance(states, int) else states
        length = states if isinstance(states, int) else len(states)
        self._states = [ReleaseState()] * length
        self.untried = Stretches([(0, length)])
        self.tested: list[int] = []
        self.blocked: list[int] = []
        self.runs = 0
        self._known: dict[Symptom, Known] = {}
        self._by_runs: dict[int, list[int]] = {}
        for place, state in enumerate(given):
            self[place] = state

    @overload
    def __getitem__(self, place: int) -> ReleaseState: ...

    @overload
    def __getitem__(self, place: slice) -> list[ReleaseState]: ...

    def __getitem__(self, place: int | slice) -> ReleaseState | list[ReleaseState]:
        return self._states[place]

    def __len__(self) -> int:
        return len(self._states)

    def __iter__(self) -> Iterator[ReleaseState]:
        return iter(self._states)

    def __setitem__(self, place: int, state: ReleaseState) -> None:
        """Replace a state by one that knows more; raises `ValueError` where runs would be lost."""
        old = self._states[place]
        if len(state.runs) < len(old.runs) or (old.blocked is not None and not state.tried):
            raise ValueError(f"place {place}: {len(old.runs)} runs are known, {len(state.runs)} were given")
        self._states[place] = state
        if state.tried and not old.tried:
            self.untried.remove(place)
        _move(self.blocked, place, was=old.blocked is not None, now=state.blocked is not None)
        _move(self.tested, place, was=bool(old.runs), now=bool(state.runs))
        if len(state.runs) != len(old.runs):
            self.runs += len(state.runs) - len(old.runs)
            for count, there in ((len(old.runs), False), (len(state.runs), True)):
                _move(self._by_runs.setdefault(count, []), place, was=not there and count > 0, now=there)
        for symptom, tally in state.tallies.items():
            self._known.setdefault(symptom, Known()).put(place, tally)

    def known(self, symptom: Symptom) -> Known:
        """The releases that tell of a symptom."""
        return self._known.get(symptom) or Known()

    def seen(self) -> list[Symptom]:
        """The symptoms that any run shows."""
        return [symptom for symptom in Symptom if self.known(symptom).failing]

    def run_less_than(self, count: int) -> Iterator[int]:
        """Places with at least one run and less than `count`, in order."""
        return merge(*[self._by_runs.get(runs, []) for runs in range(1, count)])


def indexed(history: History) -> SearchHistory:
    """The history itself, or one made of it."""
    return history if isinstance(history, SearchHistory) else SearchHistory(history)


def _move(places: list[int], place: int, *, was: bool, now: bool) -> None:
    if was and not now:
        del places[bisect_left(places, place)]
    elif now and not was:
        insort(places, place)


def seen_symptoms(history: History, symptoms: Sequence[Symptom]) -> list[Symptom]:
    """The symptoms asked for or, when none were, those that any run of any release shows.

    A single run counts: a flaky symptom may never win a majority.
    """
    if symptoms:
        return list(symptoms)
    if isinstance(history, SearchHistory):
        return history.seen()
    seen = {symptom for state in history for symptom, tally in state.tallies.items() if tally.bad}
    return [symptom for symptom in Symptom if symptom in seen]
