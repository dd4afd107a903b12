"""How sure the runs make us that a release has a symptom: a hidden Markov model along the timeline.

    release    0     1     2     3     4     5        hidden: has the symptom (B) or not (G)
    state      G --- G --- G --- B --- B --- B        changes from one release to the next with CHANGE
    runs       .     .     ..    x.    xx    x        B fails with its rate, G with FALSE_FAILURE

The failure rate of the symptom is unknown and is summed out over RATES: either all bad ranges share one
rate, or (with weight OWN_RATES) each range has its own. "Nothing changed here" is one of the hypotheses, so a
failure that comes at 30 % in every release is explained by one range with that rate, not by many transitions.
Only releases with a deciding run take part; what lies between them widens the step.
The exact arithmetic is in `harness.domain.search.forward_backward`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from operator import mul

from harness.domain.cases.symptoms import Symptom
from harness.domain.search.forward_backward import OwnRates, Series, SharedRate
from harness.domain.search.history import History, Tally
from harness.domain.verdicts.reasons import Reason, ReasonKind
from harness.domain.verdicts.verdict import Outcome, Verdict

CHANGE = 0.02
"""Chance that one release changes one symptom. Keras 3.5.0 to 3.15.1: three changes of the two symptoms of
issue #20568 in 23 steps are 0.065 for the symptoms that somebody reported, far less for all others. On a
timeline of more than 1 / CHANGE releases it is 1 / length: nightlies do not change a symptom more often
because there are more of them."""

STARTS_BAD = 0.1
"""Chance that the first release has the symptom already."""

FALSE_FAILURE = 3e-4
"""Chance that a release without the symptom shows it all the same (a full disk, a cosmic ray). Of the order
of CHANGE squared: a single bad run between good ones is in doubt until it is repeated."""

ALWAYS = 1.0 - 1e-6
RATES = (ALWAYS, 0.9, 0.75, 0.6, 0.45, 0.3, 0.15)
ALWAYS_WEIGHT = 0.5
"""Prior weight of a symptom that always shows; the rest is spread evenly. With 0.5, two runs on each side
of a transition suffice where eight or more bad releases agree; shorter ranges cost one to seven runs more, an
island of one up to ten. With 0.9 they cost less, and of the transitions stated at 0.99 in noisy histories 2 %
were wrong: see ``tests/histories`` and its calibration program."""

OWN_RATES = 0.1
"""Weight of the hypothesis that each bad range fails at a rate of its own."""

OTHER_RATE = 0.1
"""Under that hypothesis: share of changes inside a bad range that change the rate only."""

NEGLIGIBLE = 1e-5
"""Hypotheses with a smaller share are left out of the mixture, to save their backward pass."""

_TINY = 1e-200
"""Floor of a likelihood: hundreds of runs that contradict a hypothesis refute it without dividing by zero."""

_WEIGHTS = (ALWAYS_WEIGHT, *(((1 - ALWAYS_WEIGHT) / (len(RATES) - 1),) * (len(RATES) - 1)))


@dataclass(frozen=True, kw_only=True)
class IndexedTransition:
    """Two positions in differing states with nothing decided between them.

    `confidence` is the probability that the symptom changed between exactly these two.
    """

    symptom: Symptom
    before: int
    after: int
    turns_bad: bool
    confidence: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Posterior:
    """How likely one symptom is, release by release.

    Attributes:
        symptom: The symptom.
        places: Positions with at least one deciding run, in order.
        bad: Probability that the release at each place has the symptom.
        begins: Probability, for each place but the last, that it is good and the next one bad.
        ends: Probability that it is bad and the next one good.
    """

    symptom: Symptom
    places: tuple[int, ...]
    bad: tuple[float, ...]
    begins: tuple[float, ...]
    ends: tuple[float, ...]

    @property
    def states(self) -> dict[int, bool]:
        """For each place whether it is more likely bad than good."""
        return {place: bad >= 0.5 for place, bad in zip(self.places, self.bad, strict=True)}

    @property
    def doubts(self) -> dict[int, float]:
        """For each place the probability that its state is the other one."""
        return {place: min(bad, 1 - bad) for place, bad in zip(self.places, self.bad, strict=True)}

    @property
    def transitions(self) -> list[IndexedTransition]:
        """Neighbouring places in differing states."""
        found = []
        for i, (before, after) in enumerate(pairwise(self.places)):
            was, now = self.bad[i] >= 0.5, self.bad[i + 1] >= 0.5
            if was is not now:
                sure = self.begins[i] if now else self.ends[i]
                found.append(
                    IndexedTransition(symptom=self.symptom, before=before, after=after, turns_bad=now, confidence=sure)
                )
        return found


def posterior_of(history: History, symptom: Symptom) -> Posterior:
    """Weigh all runs of all releases for one symptom."""
    tallies = [(index, state.tally(symptom)) for index, state in enumerate(history) if state.runs]
    known = tuple((index, tally) for index, tally in tallies if tally.runs)
    places = tuple(index for index, _ in known)
    bad, begins, ends = _weigh(known, min(CHANGE, 1 / len(history)) if history else CHANGE)
    return Posterior(symptom=symptom, places=places, bad=bad, begins=begins, ends=ends)


def settle(history: History, symptom: Symptom) -> list[Verdict | None]:
    """The verdict on each release with its neighbours in view.

    It differs from `ReleaseState.verdict` where a flaky release passed more often than it failed: a release that fails
    in two of ten runs inside a bad range is bad.
    """
    states = posterior_of(history, symptom).states
    return [_settled(state.verdict(symptom), state.tally(symptom), states.get(i)) for i, state in enumerate(history)]


def _settled(own: Verdict | None, tally: Tally, state: bool | None) -> Verdict | None:
    outcome = Outcome.BAD if state else Outcome.GOOD
    if state is None or (own is not None and own.outcome is outcome):
        return own
    return Verdict(outcome=outcome, reason=Reason(kind=ReasonKind.NEIGHBOURS, counts=(tally.bad, tally.runs)))


_Known = tuple[tuple[int, Tally], ...]
_Column = tuple[float, ...]


@lru_cache(maxsize=64)
def _weigh(known: _Known, change: float) -> tuple[_Column, _Column, _Column]:
    """Mix the hypotheses on the rate by how well each explains the runs."""
    if not known:
        return (), (), ()
    chains = _hypotheses(known, change)
    scores = [chain.evidence + math.log(weight) for chain, weight in chains]
    top = max(scores)
    shares = [math.exp(score - top) for score in scores]
    least = NEGLIGIBLE * sum(shares)
    kept = [(share, chain.smooth()) for share, (chain, _) in zip(shares, chains, strict=True) if share >= least]
    total = sum(share for share, _ in kept)
    weights = [share / total for share, _ in kept]

    def mixed(series: Sequence[Series]) -> _Column:
        return tuple([sum(map(mul, weights, column)) for column in zip(*series, strict=True)])

    return (
        mixed([s.bad for _, s in kept]),
        mixed([s.begins for _, s in kept]),
        mixed([s.ends for _, s in kept]),
    )


def _hypotheses(known: _Known, change: float) -> list[tuple[SharedRate | OwnRates, float]]:
    """One chain per shared rate, and the one in which each range has its own; with their prior weights."""
    changes = [_odd_changes(later - earlier, change) for (earlier, _), (later, _) in pairwise(known)]
    table = {tally: _likelihoods(tally) for tally in {tally for _, tally in known}}
    rows = [table[tally] for _, tally in known]
    good, *bads = zip(*rows, strict=True)
    chains: list[tuple[SharedRate | OwnRates, float]] = [
        (SharedRate(good, bad, changes, STARTS_BAD), weight * (1 - OWN_RATES))
        for bad, weight in zip(bads, _WEIGHTS, strict=True)
    ]
    return [*chains, (OwnRates(rows, _WEIGHTS, changes, STARTS_BAD, OTHER_RATE), OWN_RATES)]


@lru_cache(maxsize=4096)
def _odd_changes(distance: int, change: float) -> float:
    """Chance of an odd number of changes within `distance` releases."""
    return float((1 - (1 - 2 * change) ** distance) / 2)


def _log_likelihood(tally: Tally, rate: float) -> float:
    return tally.bad * math.log(rate) + tally.good * math.log(1 - rate)


def _likelihoods(tally: Tally) -> list[float]:
    """Likelihood in each state, good first, relative to the state that explains the runs best."""
    logs = [_log_likelihood(tally, rate) for rate in (FALSE_FAILURE, *RATES)]
    best = max(logs)
    return [max(_TINY, math.exp(log - best)) for log in logs]
