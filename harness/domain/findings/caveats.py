"""What an answer leaves open: flakiness, untestable stretches, islands that may have been missed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.domain.cases.symptoms import Symptom
from harness.domain.findings.transitions import failing_share
from harness.domain.search.history import History
from harness.domain.search.posterior import Settled, settled

LENGTHS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
"""Island lengths for which the probability of a miss is stated."""

WORTH_TELLING = 0.005

NAMED = 8
"""So many releases are named in a sentence."""


def caveats(versions: Sequence[str], history: History, symptoms: Sequence[Symptom]) -> tuple[str, ...]:
    """Everything a reader should doubt, one sentence each.

    Args:
        versions: The timeline's versions.
        history: What is known of each.
        symptoms: Those that the answer speaks of.
    """
    known = [settled(history, symptom) for symptom in symptoms]
    sentences = [*_untestable(versions, history)]
    for one in known:
        sentences += _flaky(versions, history, one)
        sentences += _unrepeated(versions, history, one)
        sentences += _contradicted(versions, one)
    return (*sentences, *_missed(history, known))


def flaky_share(history: History, symptom: Symptom) -> float | None:
    """Share of failing runs over all bad ranges; None when every run of them failed or there are none."""
    places = [i for places in settled(history, symptom).bad_ranges for i in places]
    failing, runs = failing_share(history, symptom, places)
    return failing / runs if failing < runs else None


def percent(share: float) -> str:
    """A share as a reader wants it: `30 %`, never `100 %` or `0 %` for what is neither."""
    return f"{min(99.9, max(0.1, 100 * share)):.3g} %" if 0 < share < 1 else f"{100 * share:.0f} %"


def missed_island(tested: Sequence[int], releases: int, length: int, pass_chance: Sequence[float] = ()) -> float:
    """Probability that the search did not see an island of `length` bad releases.

    Every place is as likely to be its first as any other, so n releases have n - length + 1 islands, and

        P(missed) = 1 / (n - length + 1) * sum over islands of the product of q(i) over the tested i inside

    where q(i) is the chance that all runs of release i pass although it is bad: 0 for a symptom that always
    shows, so that only islands wholly between tested releases count; (1 - p)^k for one that shows at the rate
    p, after k runs.

    Args:
        tested: Positions that were tested, in order.
        releases: Releases of the timeline (n).
        length: Length of the island.
        pass_chance: q for each tested position; empty: all 0.
    """
    chance = dict(zip(tested, pass_chance or [0.0] * len(tested), strict=True))
    islands = releases - length + 1
    if islands < 1:
        return 0.0
    total, product, zeros = 0.0, 1.0, 0
    for i in range(releases):
        entering, leaving = chance.get(i, 1.0), chance.get(i - length, 1.0)
        product *= entering or 1.0
        zeros += entering == 0
        if i >= length:
            product /= leaving or 1.0
            zeros -= leaving == 0
        if i >= length - 1 and not zeros:
            total += product
    return total / islands


def _untestable(versions: Sequence[str], history: History) -> Iterator[str]:
    """Stretches of broken releases, with the commonest reason; at an end they move the answer's limits."""
    for start, stop in _stretches([state.blocked is not None for state in history]):
        reasons = [str(state.blocked) or "no reason on record" for state in history[start:stop]]
        reason = max(sorted(set(reasons)), key=reasons.count)
        name = versions[start] if stop - start == 1 else f"{versions[start]} to {versions[stop - 1]}"
        limit = ""
        if start == 0 and stop < len(history):
            limit = f" What {versions[stop]} shows may have begun in any of them or before."
        elif stop == len(history) and start > 0:
            limit = f" What holds in {versions[start - 1]} may have changed in any of them."
        count = f"{stop - start} release{'s' if stop - start > 1 else ''}"
        yield f"{name} ({count}) could not be tested: {reason.rstrip('.')}.{limit}"


def _flaky(versions: Sequence[str], history: History, known: Settled) -> Iterator[str]:
    for places in known.bad_ranges:
        failing, runs = failing_share(history, known.symptom, places)
        if failing < runs:
            yield (
                f"{known.symptom.value} is flaky from {versions[places[0]]} to {versions[places[-1]]}: "
                f"it shows in about {percent(failing / runs)} of the runs ({failing} of {runs})."
            )


def _unrepeated(versions: Sequence[str], history: History, known: Settled) -> Iterator[str]:
    for place, bad in known.states.items():
        tally = history[place].tally(known.symptom)
        if tally.bad and not bad:
            yield (
                f"{known.symptom.value} showed in {tally.bad} of {tally.runs} runs of {versions[place]}, "
                f"which is taken for an accident of the run ({percent(1 - known.doubts[place])} sure)."
            )


def _contradicted(versions: Sequence[str], known: Settled) -> Iterator[str]:
    """Releases whose own runs say one thing while the other is more likely: decided by these runs, or not at all."""
    for bad in (False, True):
        own = [place for place, state in known.states.items() if state is bad and known.doubts[place] > 0.5]
        if own:
            surest = percent(max(known.doubts[place] for place in own))
            yield (
                f"{known.symptom.value}: all runs of {_named(versions, own)} were {'bad' if bad else 'good'}, and that "
                f"is stated; a flaky symptom would explain all runs better ({surest} sure), and more runs would tell."
            )
    if known.undecided:
        names = _named(versions, sorted(known.undecided))
        yield (
            f"{known.symptom.value} is flaky, and {names} could not be decided: all "
            "runs there contradict what the neighbours make likely."
        )


def _named(versions: Sequence[str], places: Sequence[int]) -> str:
    names = [versions[place] for place in places]
    return ", ".join(names if len(names) <= NAMED else [*names[:NAMED], f"{len(names) - NAMED} more"])


def _missed(history: History, known: Sequence[Settled]) -> Iterator[str]:
    """One sentence per symptom on islands that nobody looked for, or that may have passed by chance."""
    for one in known:
        rate = flaky_share(history, one.symptom) or 1.0
        runs = {place: history[place].tally(one.symptom).runs for place in one.states}
        passing = [0.0 if bad else (1 - rate) ** runs[place] for place, bad in one.states.items()]
        yield from _odds(history, one.symptom.value, tuple(one.states), passing)
    if not known:
        tested = [place for place, state in enumerate(history) if state.tallies]
        yield from _odds(history, "any symptom", tested, [])


def _odds(history: History, name: str, tested: Sequence[int], passing: Sequence[float]) -> Iterator[str]:
    odds = {length: missed_island(tested, len(history), length, passing) for length in LENGTHS}
    chances = [f"{percent(chance)} if {length} long" for length, chance in odds.items() if chance >= WORTH_TELLING]
    if chances and tested:
        unrun = sum(not state.tried for state in history)
        were = "was" if unrun == 1 else "were"
        yield (
            f"{name}: {len(tested)} of {len(history)} releases tell of it"
            f"{f', {unrun} {were} not run' if unrun else ''}. Another island of bad releases would have been "
            f"missed with a probability of {', '.join(chances)}."
        )


def _stretches(marks: Sequence[bool]) -> Iterator[tuple[int, int]]:
    start = None
    for i, marked in enumerate([*marks, False]):
        if marked and start is None:
            start = i
        elif not marked and start is not None:
            yield start, i
            start = None
