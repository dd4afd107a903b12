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
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby, pairwise
from operator import itemgetter, mul
from typing import NamedTuple

from harness.domain.cases.symptoms import Symptom
from harness.domain.search.forward_backward import Figures, OwnRates, SharedRate
from harness.domain.search.history import Forced, Group, History, ReleaseState, SearchHistory, Tally, grouped
from harness.domain.verdicts.reasons import Reason, ReasonKind
from harness.domain.verdicts.verdict import Outcome, Verdict, skip

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


class Stretch(NamedTuple):
    """Neighbouring places with the same runs and the same figures: how many, and what `Posterior` has of each."""

    size: int
    bad: float
    begins: float
    ends: float


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
        stretches: For each of them, neighbours with the same figures and the same runs together, how likely it is bad;
            good and the next one bad; bad and the next one good.
    """

    symptom: Symptom
    places: tuple[int, ...]
    stretches: tuple[Stretch, ...]

    @cached_property
    def bad(self) -> tuple[float, ...]:
        """Probability that the release at each place has the symptom."""
        return tuple([s.bad for s in self.stretches for _ in range(s.size)])

    @cached_property
    def begins(self) -> tuple[float, ...]:
        """Probability, for each place but the last, that it is good and the next one bad."""
        return tuple([s.begins for s in self.stretches for _ in range(s.size)][:-1])

    @cached_property
    def ends(self) -> tuple[float, ...]:
        """Probability that it is bad and the next one good."""
        return tuple([s.ends for s in self.stretches for _ in range(s.size)][:-1])

    @property
    def probabilities(self) -> Iterator[tuple[int, float]]:
        """Each place with its probability of being bad."""
        return zip(self.places, self.bad, strict=True)

    @property
    def states(self) -> dict[int, bool]:
        """For each place whether it is more likely bad than good; this may contradict all of its runs."""
        return {place: bad >= 0.5 for place, bad in zip(self.places, self.bad, strict=True)}

    @property
    def doubts(self) -> dict[int, float]:
        """For each place the probability that its state is the other one."""
        return {place: min(bad, 1 - bad) for place, bad in zip(self.places, self.bad, strict=True)}

    @property
    def transitions(self) -> list[IndexedTransition]:
        """Neighbouring places in differing states."""
        found, last = [], -1
        for one, other in pairwise(self.stretches):
            last += one.size
            was, now = one.bad >= 0.5, other.bad >= 0.5
            if was is not now:
                before, after, sure = self.places[last], self.places[last + 1], one.begins if now else one.ends
                found.append(
                    IndexedTransition(symptom=self.symptom, before=before, after=after, turns_bad=now, confidence=sure)
                )
        return found


def _change(history: History) -> float:
    return min(CHANGE, 1 / len(history)) if history else CHANGE


def posterior_of(history: History, symptom: Symptom) -> Posterior:
    """Weigh all runs of all releases for one symptom."""
    if isinstance(history, SearchHistory):
        one = history.known(symptom)
        places, groups = tuple(one.places), one.groups()
    else:
        tallies = ((index, state.tally(symptom)) for index, state in enumerate(history) if state.runs)
        known = [(index, tally) for index, tally in tallies if tally.runs]
        places, groups = tuple([place for place, _ in known]), grouped(known)
    return Posterior(symptom=symptom, places=places, stretches=_weigh(groups, _change(history)))


@dataclass(frozen=True, kw_only=True)
class Settled:
    """What may be stated of one symptom: no state here contradicts all of a release's own runs.

    The likeliest state of a release (`Posterior.states`) can: one pass after one failure is more likely a flaky
    symptom than a recovery. The search repeats such a release, but a budget or an interruption may come first. Then

        some release both passed and failed      the symptom is flaky: the release is undecided
        each release always did the same         nothing shows a flake: its own runs count

    Attributes:
        symptom: The symptom.
        states: For each decided place whether it is bad.
        doubts: For each of these the probability that it is the other way.
        undecided: Places whose own runs all contradict the likeliest state of a flaky symptom.
        bad_ranges: The tested places of each bad range; undecided ones inside it are part of it.
        transitions: Neighbouring decided places in differing states.
    """

    symptom: Symptom
    states: Mapping[int, bool]
    doubts: Mapping[int, float]
    undecided: frozenset[int]
    bad_ranges: Sequence[Sequence[int]]
    transitions: Sequence[IndexedTransition]


def settled(history: History, symptom: Symptom) -> Settled:
    """What may be stated of one symptom."""
    posterior = posterior_of(history, symptom)
    tallies = {place: history[place].tally(symptom) for place in posterior.places}
    flaky = any(tally.bad and tally.good for tally in tallies.values())
    likeliest = posterior.states
    against = {i for i, bad in likeliest.items() if not (tallies[i].bad if bad else tallies[i].good)}
    undecided = frozenset(against if flaky else ())
    likely = {i: bad is not (i in against and not flaky) for i, bad in likeliest.items()}
    states = {i: bad for i, bad in likely.items() if i not in undecided}
    return Settled(
        symptom=symptom,
        states=states,
        doubts={i: 1 - bad if states[i] else bad for i, bad in posterior.probabilities if i in states},
        undecided=undecided,
        bad_ranges=_bad_ranges(likely, undecided),
        transitions=_stated(posterior, tuple(tallies.items()), states, _change(history)),
    )


def _bad_ranges(likely: Mapping[int, bool], undecided: Collection[int]) -> list[list[int]]:
    """Unbroken ranges of places that are likely bad, from the first decided one to the last."""
    ranges = [[i for i, _ in places] for bad, places in groupby(likely.items(), key=itemgetter(1)) if bad]
    decided = [[k for k, place in enumerate(places) if place not in undecided] for places in ranges]
    return [places[ks[0] : ks[-1] + 1] for places, ks in zip(ranges, decided, strict=True) if ks]


def _stated(posterior: Posterior, known: _Known, states: Mapping[int, bool], change: float) -> list[IndexedTransition]:
    """The transitions between decided places, each with the probability of its two states."""
    position = {place: k for k, place in enumerate(posterior.places)}
    found = []
    for (before, was), (after, now) in pairwise(states.items()):
        if was is not now:
            k, m = position[before], position[after]
            sure = (
                (posterior.begins[k] if now else posterior.ends[k]) if m == k + 1 else _joint(known, change, k, m, now)
            )
            found.append(
                IndexedTransition(symptom=posterior.symptom, before=before, after=after, turns_bad=now, confidence=sure)
            )
    return found


def settle(history: History, symptom: Symptom) -> list[Verdict | None]:
    """The verdict on each release with its neighbours in view.

    It differs from `ReleaseState.verdict` where a flaky release passed more often than it failed: a release that fails
    in two of ten runs inside a bad range is bad. It never contradicts all runs of a release: see `Settled`.
    """
    known = settled(history, symptom)
    return [verdict_on(state, known, i) for i, state in enumerate(history)]


def verdict_on(state: ReleaseState, known: Settled, index: int) -> Verdict | None:
    """The verdict on the release at one place; None while nothing is known of it."""
    own, counts = state.verdict(known.symptom), state.tally(known.symptom)
    if index in known.undecided:
        return skip(Reason(kind=ReasonKind.UNDECIDED, counts=(counts.bad, counts.runs)))
    bad = known.states.get(index)
    outcome = Outcome.BAD if bad else Outcome.GOOD
    if bad is None or (own is not None and own.outcome is outcome):
        return own
    return Verdict(outcome=outcome, reason=Reason(kind=ReasonKind.NEIGHBOURS, counts=(counts.bad, counts.runs)))


_Known = Sequence[tuple[int, Tally]]
_Groups = tuple[Group, ...]


@lru_cache(maxsize=64)
def _weigh(groups: _Groups, change: float) -> tuple[Stretch, ...]:
    """Mix the hypotheses on the rate by how well each explains the runs."""
    if not groups:
        return ()
    chains = _hypotheses(groups, change)
    scores = [chain.evidence + math.log(weight) for chain, weight in chains]
    top = max(scores)
    shares = [math.exp(score - top) for score in scores]
    least = NEGLIGIBLE * sum(shares)
    kept = [
        (share, chain.smooth().stretches) for share, (chain, _) in zip(shares, chains, strict=True) if share >= least
    ]
    total = sum(share for share, _ in kept)
    return tuple(_mixed([share / total for share, _ in kept], [stretches for _, stretches in kept]))


def _mixed(weights: Sequence[float], columns: Sequence[Sequence[Figures]]) -> Iterator[Stretch]:
    """The weighted sum of several series, cut wherever one of them is."""
    rest = [iter(column) for column in columns]
    heads = [next(column) for column in rest]
    left = [head[0] for head in heads]
    while True:
        size = min(left)
        _, bads, begins, ends = zip(*heads, strict=True)
        yield Stretch(size, sum(map(mul, weights, bads)), sum(map(mul, weights, begins)), sum(map(mul, weights, ends)))
        for k, count in enumerate(left):
            if count > size:
                left[k] = count - size
            elif (head := next(rest[k], None)) is not None:
                heads[k], left[k] = head, head[0]
            else:
                return  # all end together


def _joint(known: _Known, change: float, before: int, after: int, turns_bad: bool) -> float:
    """Probability that two known positions, not neighbours, are good and bad (or bad and good).

    By Bayes: how much worse the runs are explained when both states are given.
    """
    given = {before: not turns_bad, after: turns_bad}
    with_both, plain = (_evidence(_hypotheses(grouped(known, given=states), change)) for states in (given, None))
    return math.exp(with_both - plain)


def _evidence(chains: Sequence[tuple[SharedRate | OwnRates, float]]) -> float:
    """Logarithm of the probability of all runs, the hypotheses weighted."""
    scores = [chain.evidence + math.log(weight) for chain, weight in chains]
    top = max(scores)
    return top + math.log(sum(math.exp(score - top) for score in scores))


def _hypotheses(groups: _Groups, change: float) -> list[tuple[SharedRate | OwnRates, float]]:
    """One chain per shared rate, and the one in which each range has its own; with their prior weights."""
    changes = [_odd_changes(distance, change) for distance, *_ in groups[1:]]
    table = {tally: _likelihoods(tally) for tally in {tally for _, tally, *_ in groups}}
    rows = [_as_given(table[tally], forced) for _, tally, forced, _ in groups]
    counts = [count for *_, count in groups]
    good, *bads = zip(*rows, strict=True)
    chains: list[tuple[SharedRate | OwnRates, float]] = [
        (SharedRate(good, bad, changes, STARTS_BAD, counts), weight * (1 - OWN_RATES))
        for bad, weight in zip(bads, _WEIGHTS, strict=True)
    ]
    return [*chains, (OwnRates(rows, _WEIGHTS, changes, STARTS_BAD, OTHER_RATE, counts), OWN_RATES)]


def _as_given(likelihoods: list[float], forced: Forced) -> list[float]:
    if forced is None:
        return likelihoods
    return [likelihood if (n > 0) is forced else 0.0 for n, likelihood in enumerate(likelihoods)]


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
