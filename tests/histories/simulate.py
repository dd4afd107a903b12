"""Play a search against a known truth."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from harness.domain.cases.symptoms import Symptom
from harness.domain.releases.release import Release, Timeline
from harness.domain.search import posterior
from harness.domain.search.history import History, ReleaseState, SearchHistory
from harness.domain.search.policy import Policy
from harness.domain.search.posterior import settled
from harness.domain.search.strategy import Why, next_trials
from harness.domain.verdicts.reasons import Reason, ReasonKind, recorded
from harness.domain.verdicts.verdict import GOOD, Outcome, Verdict, Verdicts, skip

NAN = Symptom.NONFINITE_METRIC
RAISES = Symptom.EXCEPTION
WRONG = Symptom.WRONG_METRIC

Run = Callable[[int, int], "Verdicts | str"]
"""What run number `repeat` of the release at `index` shows, or why the release cannot be tested."""


def bad(signature: str = "") -> Verdict:
    return Verdict(outcome=Outcome.BAD, reason=recorded("it fails"), signature=signature)


def hidden(by: Symptom) -> Verdict:
    return skip(Reason(kind=ReasonKind.HIDDEN, hidden_by=by, cause=recorded("it fails")))


SKIPPED = Verdict(outcome=Outcome.SKIP, reason=Reason(kind=ReasonKind.SCRIPT_SKIPS))
ALL_GOOD: Verdicts = {RAISES: GOOD, NAN: GOOD, WRONG: GOOD}

LETTERS: dict[str, Verdicts | str] = {
    "g": ALL_GOOD,
    "n": {RAISES: GOOD, NAN: bad(), WRONG: hidden(NAN)},
    "w": {RAISES: GOOD, NAN: GOOD, WRONG: bad()},
    "e": {RAISES: bad(), NAN: hidden(RAISES), WRONG: hidden(RAISES)},
    "p": {RAISES: bad("exception | ValueError | Mean is taken"), NAN: hidden(RAISES), WRONG: hidden(RAISES)},
    "q": {RAISES: bad("exception | TypeError | no argument"), NAN: hidden(RAISES), WRONG: hidden(RAISES)},
    "s": {RAISES: SKIPPED, NAN: SKIPPED, WRONG: SKIPPED},
    "x": "cannot be installed",
}
"""g good, n NaN (hides wrong), w wrong metric, e/p/q exception (hides both), s skipped run, x untestable; a
capital letter shows its symptom only at the history's rate and is good else."""


@dataclass
class Played:
    """A finished search."""

    history: SearchHistory
    order: list[tuple[int, Why]] = field(default_factory=list)

    @property
    def runs(self) -> int:
        return sum(len(row.runs) for row in self.history)


def play(length: int, run: Run, policy: Policy, most: int = 100_000) -> Played:
    """Run one search to its end, one trial at a time."""
    played = Played(history=SearchHistory(length))
    for _ in range(most):
        probes = next_trials(played.history, policy)
        if not probes:
            return played
        index = probes[0].index
        assert probes[0].repeat == len(played.history[index].runs)
        played.order.append((index, probes[0].why))
        record(played.history, index, run(index, probes[0].repeat))
    raise AssertionError(f"the search did not end within {most} runs")


def record(history: list[ReleaseState] | SearchHistory, index: int, shown: Verdicts | str) -> None:
    assert history[index].blocked is None
    history[index] = (
        ReleaseState(blocked=recorded(shown))
        if isinstance(shown, str)
        else ReleaseState(runs=(*history[index].runs, shown))
    )


def script(letters: str, *, rate: float = 1.0, seed: int = 0, accidents: Sequence[tuple[int, int]] = ()) -> Run:
    """Read a history; `accidents` are (index, repeat) of good releases at which NaN shows all the same."""
    rng = random.Random(seed)

    def run(index: int, repeat: int) -> Verdicts | str:
        letter = letters[index]
        if (index, repeat) in accidents:
            return LETTERS["n"]
        if letter.isupper() and rng.random() >= rate:
            return ALL_GOOD
        return LETTERS[letter.lower()]

    return run


def timeline(length: int) -> Timeline:
    """Versions are the positions."""
    return Timeline(releases=tuple(Release(package="pkg", version=str(i)) for i in range(length)))


def true_transitions(states: Sequence[bool | None]) -> set[tuple[int, int, bool]]:
    """The oracle: (before, after, turns bad) for neighbouring states that differ; None says nothing."""
    known = [(i, state) for i, state in enumerate(states) if state is not None]
    return {(before, after, now) for (before, was), (after, now) in itertools.pairwise(known) if was is not now}


def found_transitions(history: History, symptom: Symptom, least: float = 0.0) -> set[tuple[int, int, bool]]:
    found = settled(history, symptom).transitions
    return {(t.before, t.after, t.turns_bad) for t in found if t.confidence >= least}


def random_states(rng: random.Random, length: int, changes: int) -> list[bool]:
    """A history with planted transitions."""
    cuts = set(rng.sample(range(1, length), min(changes, length - 1)))
    state, states = rng.random() < 0.15, []
    for i in range(length):
        state = not state if i in cuts else state
        states.append(state)
    return states


def from_prior(rng: random.Random, length: int) -> tuple[list[bool], Run]:
    """A history as the model of `posterior` supposes them: whoever states such ones with 0.7 is right in 70 %."""
    change, own = min(posterior.CHANGE, 1 / length), rng.random() < posterior.OWN_RATES

    def draw() -> float:
        return rng.choices(posterior.RATES, posterior._WEIGHTS)[0]

    state, rate = rng.random() < posterior.STARTS_BAD, draw()
    states, rates = [], []
    for place in range(length):
        if place and rng.random() < change:
            only_rate = own and state and rng.random() < posterior.OTHER_RATE
            state = state if only_rate else not state
            rate = draw() if own else rate
        states.append(state)
        rates.append(rate if state else posterior.FALSE_FAILURE)
    return states, lambda index, _: {NAN: bad() if rng.random() < rates[index] else GOOD}


def noisy(states: Sequence[bool], blocked: Sequence[int], rate: float, rng: random.Random) -> Run:
    """NaN at a rate in bad releases, never in good ones."""

    def run(index: int, repeat: int) -> Verdicts | str:
        if index in blocked:
            return "cannot be installed"
        return {NAN: bad() if states[index] and (rate >= 1 or rng.random() < rate) else GOOD}

    return run
