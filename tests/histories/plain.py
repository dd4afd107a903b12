"""The oracle of the search: the same choices without anything kept up to date, each made from all releases anew."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise

from harness.domain.search.history import ReleaseState, seen_symptoms
from harness.domain.search.policy import Policy
from harness.domain.search.posterior import IndexedTransition, Posterior, posterior_of
from harness.domain.search.strategy import MOST_RUNS, SCAN, SLACK, NextTrial, Why

States = Sequence[ReleaseState]


def next_trials(history: States, policy: Policy, *, wanted: int = 1, pending: Collection[int] = ()) -> list[NextTrial]:
    spent = sum(len(state.runs) for state in history) + len(pending)
    room = wanted if policy.max_trials is None else min(wanted, policy.max_trials - spent)
    if room <= 0:
        return []
    untried = len(history)
    if policy.max_trials is not None:
        untried = policy.max_trials - sum(state.blocked is not None for state in history)
        untried -= sum(not history[index].tried for index in pending)
    chosen: dict[int, NextTrial] = {}
    for index, why in candidates(history, policy, frozenset(pending), untried):
        if not history[index].tried and index not in chosen:
            if untried <= 0:
                continue
            untried -= 1
        chosen.setdefault(index, NextTrial(index=index, repeat=len(history[index].runs), why=why))
        if len(chosen) >= room:
            break
    return list(chosen.values())


def candidates(history: States, policy: Policy, pending: frozenset[int], untried: int) -> Iterator[tuple[int, Why]]:
    left = [i for i, state in enumerate(history) if not state.tried and i not in pending] if untried > 0 else []
    symptoms = seen_symptoms(history, policy.symptoms)
    posteriors = [posterior_of(history, symptom) for symptom in symptoms]
    for index, state in enumerate(history):
        if 0 < len(state.runs) < policy.repeats and state.blocked is None and index not in pending:
            yield index, Why.CONFIRM
    if left:
        yield from ends(history, policy, pending, left)
        yield from splits(history, policy, left, posteriors)
    fills = ((i, Why.FILL) for i in (middles(left, policy.max_gap) if policy.max_gap is not None else ()))
    confirms = ((i, Why.CONFIRM) for i in confirmed(history, policy, pending, left, posteriors))
    everything = policy.max_gap == 0
    if policy.max_trials is not None:
        sides = 2 * sum(1 + len(posterior.transitions) for posterior in posteriors)
        room = policy.max_trials - sum(len(state.runs) for state in history) - len(pending)
        everything = everything and len(left) + policy.confirmations * sides <= room
    for part in (fills, confirms) if everything else (confirms, fills):
        yield from part


def ends(history: States, policy: Policy, pending: frozenset[int], left: Sequence[int]) -> Iterator[tuple[int, Why]]:
    works = {i: bool(state.runs) for i, state in enumerate(history) if state.tried} | dict.fromkeys(pending, True)
    for order in (list(range(len(history))), list(range(len(history)))[::-1]):
        if order[0] in works and next((i for i in order if works.get(i)), None) in pending:
            continue
        if (found := next_outermost(order, works)) is not None:
            yield found, Why.END
    if not any(state.runs for state in history) and not pending:
        yield from ((i, Why.END) for i in middles(left, 0 if policy.max_gap is not None else len(history) // SCAN))


def splits(
    history: States, policy: Policy, left: Sequence[int], posteriors: Sequence[Posterior]
) -> Iterator[tuple[int, Why]]:
    gaps: list[tuple[int, int]] = []
    for posterior in posteriors:
        if policy.max_gap == 0 and policy.max_trials is None:
            known = [(i, history[i].tally(posterior.symptom).bad > 0) for i in posterior.places]
            gaps += [(i, k) for (i, was), (k, now) in pairwise(known) if was is not now]
        else:
            for transition in posterior.transitions:
                gaps += outside_of_hidden(history, transition)
    rounds = [
        middles([i for i in left if before < i < after])
        for before, after in sorted(set(gaps), key=lambda gap: gap[0] - gap[1])
    ]
    while rounds:
        going = []
        for places in rounds:
            if (index := next(places, None)) is not None:
                yield index, Why.SPLIT
                going.append(places)
        rounds = going


def outside_of_hidden(history: States, transition: IndexedTransition) -> Iterator[tuple[int, int]]:
    def hidden(index: int) -> bool:
        verdict = history[index].verdict(transition.symptom)
        return verdict is not None and verdict.hidden

    tested = [i for i in range(transition.before + 1, transition.after) if history[i].runs]
    for low, high in pairwise([transition.before, *tested, transition.after]):
        if not (hidden(low) and hidden(high)):
            yield low, high


def confirmed(
    history: States, policy: Policy, pending: frozenset[int], left: Sequence[int], posteriors: Sequence[Posterior]
) -> Iterator[int]:
    doubtful: dict[int, float] = {}
    open_, allowed = {*pending, *left}, SLACK * (1 - policy.confidence)
    for posterior in posteriors:
        closed = [t for t in posterior.transitions if open_.isdisjoint(range(t.before + 1, t.after))]
        moving = {i for t in posterior.transitions if t not in closed for i in (t.before, t.after)}
        wanted = []
        for t in closed:
            for i in (t.before, t.after):
                wanted += [(i, 1.0)] if history[i].tally(posterior.symptom).runs < policy.confirmations else []
                wanted += [(i, 1 - t.confidence)] if 1 - t.confidence > allowed else []
        for i, doubt in posterior.doubts.items():
            tally = history[i].tally(posterior.symptom)
            against, agreeing = (tally.good, tally.bad) if posterior.states[i] else tally
            if i not in moving and ((doubt > allowed and (against or tally.bad)) or (against and not agreeing)):
                wanted.append((i, doubt))
        for i, doubt in wanted:
            doubtful[i] = max(doubtful.get(i, 0.0), doubt)
    failed = {i for i in doubtful if any(tally.bad for tally in history[i].tallies.values())}
    most = max(MOST_RUNS, policy.repeats, policy.confirmations)
    for i in sorted(doubtful, key=lambda i: (len(history[i].runs), i not in failed, -doubtful[i], i)):
        if history[i].blocked is None and i not in pending and len(history[i].runs) < most:
            yield i


def middles(places: Sequence[int], limit: int = 0) -> Iterator[int]:
    stretches: list[tuple[int, int]] = []
    for place in places:
        if stretches and stretches[-1][1] == place:
            stretches[-1] = (stretches[-1][0], place + 1)
        else:
            stretches.append((place, place + 1))
    while stretches:
        start, stop = longest = max(stretches, key=lambda stretch: stretch[1] - stretch[0])
        if stop - start <= limit:
            return
        middle, at = (start + stop) // 2, stretches.index(longest)
        yield middle
        stretches[at : at + 1] = [part for part in ((start, middle), (middle + 1, stop)) if part[0] < part[1]]


def next_outermost(order: Sequence[int], works: Mapping[int, bool]) -> int | None:
    if not order or works.get(order[0]):
        return None
    if order[0] not in works:
        return order[0]
    first = next((k for k, place in enumerate(order) if works.get(place)), None)
    if first is None:
        strides = ((1 << k) - 1 for k in range(len(order).bit_length()))
        return next((order[k] for k in strides if order[k] not in works), None)
    broken = max(k for k in range(first) if order[k] in works)
    return next(middles(sorted(order[broken + 1 : first])), None)
