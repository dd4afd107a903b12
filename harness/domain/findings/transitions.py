"""Where a symptom begins or ends, and where a failure turns into another one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

from harness.domain.cases.symptoms import Symptom
from harness.domain.releases.release import Timeline
from harness.domain.search.history import History, seen_symptoms
from harness.domain.search.posterior import IndexedTransition, Settled, settled, verdict_on
from harness.domain.verdicts.reasons import NOT_RUN, Reason, ReasonKind
from harness.domain.verdicts.verdict import Outcome

CONFIDENCE = 0.99
"""Default of `harness.domain.search.policy.Policy.confidence`."""


FOLD = 12
"""More releases between two sides than this are listed by reason: a hundred nightlies make no cell of a table."""


class Kind(str, Enum):
    """A regression goes from good to bad, a recovery from bad to good."""

    REGRESSION = "regression"
    RECOVERY = "recovery"


@dataclass(frozen=True, kw_only=True)
class Untested:
    """A release between the two sides of a transition that says nothing, and why."""

    version: str
    reason: Reason


@dataclass(frozen=True, kw_only=True)
class Cause:
    """A change upstream that lies between the two sides: recorded as the cause, or the one commit between them.

    Attributes:
        link: The pull request or commit.
        title: What it changed, in a clause; of a commit its subject.
        found: This search narrowed the transition down to this commit.
        changes: The files that the commit changed, with the number of lines added and removed.
    """

    link: str
    title: str
    found: bool = False
    changes: tuple[str, ...] = ()

    @property
    def role(self) -> str:
        """How a report introduces it."""
        return "Commit found for" if self.found else "Known cause of"


@dataclass(frozen=True, kw_only=True)
class Transition:
    """One change of one symptom: it lies after `last_before` and at the latest in `first_after`.

    Attributes:
        symptom: The symptom.
        kind: Regression or recovery.
        last_before: Last release that is known to be as before.
        first_after: First release that is known to be otherwise.
        untested: Releases between the two, each with the reason why it says nothing.
        confidence: Probability that the symptom changed between exactly these two.
        confirmed: Both sides were run often enough, and the confidence asked for is reached.
        rate: Share of failing runs in the bad range beside the transition; 1 when every run failed.
        note: What else a reader must know.
        causes: Changes upstream that explain it; empty: none is known.
    """

    symptom: Symptom
    kind: Kind
    last_before: str
    first_after: str
    untested: tuple[Untested, ...] = ()
    confidence: float = 0.0
    confirmed: bool = False
    rate: float = 1.0
    note: str = ""
    causes: tuple[Cause, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SignatureChange:
    """Inside one bad range the failure turns into another: a second cause, or the same one in other words."""

    symptom: Symptom
    last_before: str
    first_after: str
    before: str
    after: str


def transitions(
    timeline: Timeline,
    history: History,
    symptoms: Sequence[Symptom],
    confirmations: int,
    confidence: float = CONFIDENCE,
) -> list[Transition]:
    """All transitions of the symptoms asked for (or of all that are seen), by symptom in timeline order."""
    return [
        _transition(timeline, history, known, transition, confirmations, confidence)
        for known in [settled(history, symptom) for symptom in seen_symptoms(history, symptoms)]
        for transition in known.transitions
    ]


def signature_changes(timeline: Timeline, history: History, symptoms: Sequence[Symptom]) -> list[SignatureChange]:
    """Neighbouring bad releases that share no signature, by symptom in timeline order.

    A release whose runs fail in several ways has several signatures; as long as neighbours share one,
    nothing changed.
    """
    found = []
    for symptom in seen_symptoms(history, symptoms):
        for places in settled(history, symptom).bad_ranges:
            known = [(i, _signatures(history, i, symptom)) for i in places]
            for (i, was), (k, now) in pairwise([(i, names) for i, names in known if names]):
                if not set(was) & set(now):
                    found.append(
                        SignatureChange(
                            symptom=symptom,
                            last_before=timeline.releases[i].version,
                            first_after=timeline.releases[k].version,
                            before=was[0],
                            after=now[0],
                        )
                    )
    return found


def failing_share(history: History, symptom: Symptom, places: Sequence[int]) -> tuple[int, int]:
    """Failing and deciding runs of some releases."""
    tallies = [history[i].tally(symptom) for i in places]
    return sum(t.bad for t in tallies), sum(t.runs for t in tallies)


def folded(untested: Sequence[Untested]) -> tuple[Untested, ...]:
    """What lies between, release by release; where that is too much, one line per reason."""
    if len(untested) <= FOLD:
        return tuple(untested)
    by_sentence: dict[str, list[Untested]] = {}
    for one in untested:
        by_sentence.setdefault(str(one.reason), []).append(one)
    return tuple(
        Untested(
            version=alike[0].version
            if len(alike) == 1
            else f"{len(alike)} from {alike[0].version} to {alike[-1].version}",
            reason=alike[0].reason,
        )
        for alike in by_sentence.values()
    )


def describe(transition: Transition) -> str:
    """One transition as a clause."""
    verb = "begins" if transition.kind is Kind.REGRESSION else "ends"
    place = f"{transition.last_before} -> {transition.first_after}"
    return f"{transition.symptom.value} {verb} {place}{''.join(_reservations(transition))}"


def _reservations(transition: Transition) -> Iterator[str]:
    not_run = sum(u.reason.kind is ReasonKind.NOT_RUN for u in transition.untested)
    if untestable := len(transition.untested) - not_run:
        yield f" ({untestable} between could not be tested)"
    if not_run:
        yield f" ({not_run} between {'was' if not_run == 1 else 'were'} not run)"
    if transition.rate < 1:
        yield f" (flaky: it shows in about {transition.rate:.0%} of the runs)".replace("%", " %")
    if not transition.confirmed:
        yield f" (not confirmed: {100 * transition.confidence:.3g} % sure)"


def _transition(
    timeline: Timeline,
    history: History,
    known: Settled,
    transition: IndexedTransition,
    confirmations: int,
    confidence: float,
) -> Transition:
    sides = (transition.before, transition.after)
    bad_side = transition.after if transition.turns_bad else transition.before
    beside = next(places for places in known.bad_ranges if bad_side in places)
    failing, runs = failing_share(history, transition.symptom, beside)
    repeated = all(history[i].tally(transition.symptom).runs >= confirmations for i in sides)
    return Transition(
        symptom=transition.symptom,
        kind=Kind.REGRESSION if transition.turns_bad else Kind.RECOVERY,
        last_before=timeline.releases[transition.before].version,
        first_after=timeline.releases[transition.after].version,
        untested=tuple(
            Untested(version=timeline.releases[i].version, reason=_why_untested(history, i, known))
            for i in range(transition.before + 1, transition.after)
        ),
        confidence=transition.confidence,
        confirmed=repeated and transition.confidence >= confidence,
        rate=failing / runs,
        note=timeline.neighbours_diverge(transition.before, transition.after) or "",
    )


def _why_untested(history: History, index: int, known: Settled) -> Reason:
    verdict = verdict_on(history[index], known, index)
    return verdict.reason if verdict is not None else NOT_RUN


def _signatures(history: History, index: int, symptom: Symptom) -> list[str]:
    """Signatures of the bad runs of one release, the most frequent first."""
    names = [v.signature for v in history[index].showing(symptom, Outcome.BAD) if v.signature]
    return sorted(set(names), key=lambda name: (-names.count(name), name))
