"""Companions moved with the release: what is the release's doing, and what is theirs.

                     companions of A      companions of B
    release A              a               ?  (A crossed)
    release B         ?  (B crossed)            b

A release takes as many of the other side's companions as resolve with it; what stays its own is `left`. Beside the
companions of one side, two releases that differ name the release; two that agree name the companions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.domain.cases.symptoms import Symptom
from harness.domain.findings.run import RunHeader
from harness.domain.findings.transition import Confounding, Kind, Parting, Transition
from harness.domain.releases.moves import Move, changed, companions_in
from harness.domain.search.history import ReleaseState
from harness.domain.trials.crossing import Crossing
from harness.domain.trials.trial import Environment
from harness.domain.verdicts.verdict import Outcome

MOST_SINGLES = 8
"""So many companions are tried one by one at most, to find the one that does it."""
NAMED = 6
MOST_RUNS = 10
SMALLEST_DOUBT = 1e-6


@dataclass(frozen=True, kw_only=True)
class Tried:
    """What is on record of one release, or of one crossing.

    Attributes:
        state: Of a crossing the verdicts of its runs, or why there are none.
        environment: Where it ran.
    """

    state: ReleaseState
    environment: Environment | None = None


Records = Mapping[str, Tried]
"""By release, and by the label of a crossing."""


@dataclass(frozen=True, kw_only=True)
class _Crossed:
    """What one crossing shows.

    Attributes:
        crossing: What was tried.
        own: The outcome of its release beside its own companions.
        outcome: The outcome of the crossing; None where it says nothing, then `why` says why.
        swapped: Companions that are not as its release has them.
        left: Companions that are not as the other side has them.
    """

    crossing: Crossing
    own: Outcome
    outcome: Outcome | None
    swapped: tuple[Move, ...] = ()
    left: tuple[Move, ...] = ()
    why: str = ""

    @property
    def kept(self) -> bool:
        """Its own outcome stays, whatever companions it has."""
        return self.outcome is self.own

    @property
    def clause(self) -> str:
        """The evidence as a clause."""
        name = self.crossing.label
        if self.outcome is None:
            return f"{name} could not be tried ({self.why})"
        besides = f" (but {_names(self.left)} its own)" if self.left else ""
        return f"{name}{besides} is {self.outcome.value}"


def confounded(header: RunHeader, records: Records, found: Sequence[Transition]) -> list[Transition]:
    """The transitions; of those between whose sides companions moved, what was found out about them."""
    return [replace(one, confounding=_confounding(header, records, one)) for one in found]


def next_crossings(header: RunHeader, records: Records, found: Sequence[Transition]) -> list[Crossing]:
    """What to try next so that releases and companions are parted; empty when nothing more can be learned."""
    wanted: dict[str, Crossing] = {}
    for one in found:
        if one.kind is not Kind.CHANGE and _moved(header, records, one):
            both = _both(one)
            pending = [crossing for crossing in both if crossing.label not in records] or [
                crossing for crossing in _singles(header, records, one) if crossing.label not in records
            ]
            wanted.update({crossing.label: crossing for crossing in pending})
    return list(wanted.values())


def runs_needed(header: RunHeader, found: Sequence[Transition]) -> int:
    """How often a crossing is run: as often as a side of a transition, and more where a symptom is flaky."""
    doubt = max(1 - header.policy.confidence, SMALLEST_DOUBT)
    needed = [math.ceil(math.log(doubt) / math.log(1 - one.rate)) for one in found if 0 < one.rate < 1]
    return min(MOST_RUNS, max([header.policy.confirmations, *needed]))


def companions_of(header: RunHeader, tried: Tried | None) -> tuple[str, ...]:
    """The locked companions of a release that was tried; empty where no environment is on record."""
    if tried is None or tried.environment is None:
        return ()
    return companions_in(tried.environment.lock, header.setting.lock, header.question.package)


def _confounding(header: RunHeader, records: Records, transition: Transition) -> Confounding | None:
    moved = _moved(header, records, transition)
    if not moved:
        return None
    good_and_bad = transition.kind is not Kind.CHANGE  # both sides of a change are bad: nothing turns good or bad
    sides = _both(transition) if good_and_bad else ()
    crossed = [_crossed(header, records, transition, crossing) for crossing in sides]
    parting, packages = _parted(header, records, transition, crossed)
    between = f"{transition.last_before} and {transition.first_after}"
    answer = Confounding(moved=moved, parting=parting, packages=packages)
    evidence = f" {'; '.join(one.clause for one in crossed)}." if crossed else ""
    sentence = f"Between {between} companions moved too ({_steps(moved)}): {answer.short}.{evidence}"
    return replace(answer, sentence=sentence)


def _moved(header: RunHeader, records: Records, transition: Transition) -> tuple[Move, ...]:
    sides = (records.get(version) for version in (transition.first_after, transition.last_before))
    after, before = (companions_of(header, side) for side in sides)
    return changed(after, before)


def _both(transition: Transition) -> tuple[Crossing, Crossing]:
    before, after = transition.last_before, transition.first_after
    return (Crossing(release=before, companions_of=after), Crossing(release=after, companions_of=before))


def _crossed(header: RunHeader, records: Records, transition: Transition, crossing: Crossing) -> _Crossed:
    turned = Outcome.GOOD if transition.kind is Kind.RECOVERY else Outcome.BAD
    unturned = Outcome.BAD if turned is Outcome.GOOD else Outcome.GOOD
    own = unturned if crossing.release == transition.last_before else turned
    tried = records.get(crossing.label)
    if tried is None:
        return _Crossed(crossing=crossing, own=own, outcome=None, why="not run")
    outcome, why = _outcome(tried.state, transition.symptom)
    lock = companions_of(header, tried)
    return _Crossed(
        crossing=crossing,
        own=own,
        outcome=outcome,
        swapped=changed(lock, companions_of(header, records.get(crossing.release))),
        left=changed(lock, companions_of(header, records.get(crossing.companions_of))),
        why=why,
    )


def _outcome(state: ReleaseState, symptom: Symptom) -> tuple[Outcome | None, str]:
    """Bad where any run is: a flaky symptom shows in some of its runs alone."""
    tally = state.tally(symptom)
    if tally.runs:
        return (Outcome.BAD if tally.bad else Outcome.GOOD), ""
    verdict = state.verdict(symptom)
    return None, str(verdict.reason) if verdict is not None else "not run"


def _parted(
    header: RunHeader, records: Records, transition: Transition, crossed: Sequence[_Crossed]
) -> tuple[Parting, tuple[str, ...]]:
    told = [one for one in crossed if one.outcome is not None]
    of_companions = [one for one in told if not one.kept]
    of_release = [one for one in told if one.kept and not one.left]
    if of_companions and of_release:
        turned = of_companions[0].crossing.release == transition.last_before
        return (Parting.EITHER if turned else Parting.BOTH), ()
    if of_companions:
        return Parting.COMPANIONS, _doing_it(header, records, transition, of_companions)
    if of_release:
        return Parting.RELEASE, ()
    kept_apart = [{move.name for move in one.left} for one in told]
    moved = {move.name for move in _moved(header, records, transition)}
    return Parting.UNPARTED, tuple(sorted(moved.intersection(*kept_apart)))


def _doing_it(
    header: RunHeader, records: Records, transition: Transition, crossed: Sequence[_Crossed]
) -> tuple[str, ...]:
    """Which companions turn the outcome: those that do alone, else all that were swapped."""
    singles = [_crossed(header, records, transition, one) for one in _singles(header, records, transition)]
    alone = [{move.name for move in one.swapped} for one in singles if one.outcome is not None and not one.kept]
    least = [names for names in alone if not any(other < names for other in alone)]
    swapped = [{move.name for move in one.swapped} for one in crossed]
    return tuple(sorted(set().union(*least) or set.intersection(*swapped) or set().union(*swapped)))


def _singles(header: RunHeader, records: Records, transition: Transition) -> Iterator[Crossing]:
    """The companions of a crossing that turned out otherwise than its release, one by one; none where it is one."""
    crossed = [_crossed(header, records, transition, crossing) for crossing in _both(transition)]
    turned = next((one for one in crossed if one.outcome is not None and not one.kept), None)
    if turned is not None and len(turned.swapped) > 1:
        for move in turned.swapped[:MOST_SINGLES]:
            yield replace(turned.crossing, package=move.name)


def _names(moved: Sequence[Move]) -> str:
    return ", ".join(_some([move.name for move in moved]))


def _steps(moved: Sequence[Move]) -> str:
    return ", ".join(_some([f"{move.name} {move.reference} -> {move.version}" for move in moved]))


def _some(names: Sequence[str]) -> list[str]:
    return [*names[:NAMED], *([f"{len(names) - NAMED} more"] if len(names) > NAMED else [])]
