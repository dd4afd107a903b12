"""Where a symptom begins or ends, and where a failure turns into another one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from operator import itemgetter

from harness.domain.cases.symptoms import Symptom
from harness.domain.findings.transition import Kind, SignatureChange, Transition, Untested
from harness.domain.releases.release import Timeline
from harness.domain.search.history import History, seen_symptoms
from harness.domain.search.levels import level_views
from harness.domain.search.posterior import IndexedTransition, Settled, settled, verdict_on
from harness.domain.verdicts.reasons import NOT_RUN, Reason
from harness.domain.verdicts.verdict import Outcome

CONFIDENCE = 0.99
"""Default of `harness.domain.search.policy.Policy.confidence`."""


def transitions(
    timeline: Timeline,
    history: History,
    symptoms: Sequence[Symptom],
    confirmations: int,
    confidence: float = CONFIDENCE,
) -> list[Transition]:
    """All transitions of the symptoms asked for (or of all that are seen), by symptom in timeline order."""
    found: list[Transition] = []
    for symptom in seen_symptoms(history, symptoms):
        known = settled(history, symptom)
        own = [
            (t.before, _transition(timeline, history, known, t, confirmations, confidence)) for t in known.transitions
        ]
        if symptom is Symptom.CHANGED_VALUE:
            own += _value_changes(timeline, history, known, confirmations, confidence)
            own = [(place, _with_values(timeline, history, one)) for place, one in own]
        found += [one for _, one in sorted(own, key=itemgetter(0))]
    return found


def _value_changes(
    timeline: Timeline, history: History, known: Settled, confirmations: int, confidence: float
) -> list[tuple[int, Transition]]:
    """Where a wrong value turns into another wrong one, each with its place."""
    found = []
    for view in level_views(history):
        level = settled(view, known.symptom)
        for t in level.transitions:
            if t.turns_bad and known.states.get(t.before):
                made = _transition(timeline, view, level, t, confirmations, confidence)
                found.append((t.before, replace(made, kind=Kind.CHANGE)))
    return found


def _with_values(timeline: Timeline, history: History, one: Transition) -> Transition:
    """The transition with the values on both sides; the right one stands in the reason of the wrong side."""
    places = [timeline.versions.index(version) for version in (one.last_before, one.first_after)]
    wrong = [
        next((v.reason for v in history[i].showing(one.symptom, Outcome.BAD)), None) if bad else None
        for i, bad in zip(places, (one.kind is not Kind.REGRESSION, one.kind is not Kind.RECOVERY), strict=True)
    ]
    right = next((reason.detail for reason in wrong if reason is not None), "")
    before, after = [right if reason is None else reason.name for reason in wrong]
    return replace(one, before=before, after=after)


def signature_changes(timeline: Timeline, history: History, symptoms: Sequence[Symptom]) -> list[SignatureChange]:
    """Neighbouring bad releases that share no signature, by symptom in timeline order.

    A release whose runs fail in several ways has several signatures; as long as neighbours share one,
    nothing changed.
    """
    found = []
    for symptom in seen_symptoms(history, symptoms):
        if symptom is Symptom.CHANGED_VALUE:
            continue  # there another value is a transition
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
