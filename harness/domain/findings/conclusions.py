"""A search summed up in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from harness.domain.cases.symptoms import Symptom
from harness.domain.findings.caveats import caveats, flaky_share, percent
from harness.domain.findings.finding import Answer, Conclusion
from harness.domain.findings.transition import Kind, SignatureChange, Transition, describe
from harness.domain.findings.transitions import signature_changes
from harness.domain.releases.release import Timeline
from harness.domain.search.history import History, seen_symptoms
from harness.domain.search.posterior import settled
from harness.domain.search.strategy import StoppedBy


def conclude(
    timeline: Timeline,
    history: History,
    symptoms: Sequence[Symptom],
    found: Sequence[Transition],
    *,
    stopped: StoppedBy | None = None,
) -> Conclusion:
    """Sum the search up in sentences.

    Args:
        timeline: The releases.
        history: What is known of each.
        symptoms: Those asked for; empty: every one that was seen.
        found: All transitions.
        stopped: What kept the search from its end.
    """
    seen = seen_symptoms(history, symptoms)
    states = {symptom: settled(history, symptom).states for symptom in seen or list(Symptom)}
    tested = sorted({place for places in states.values() for place in places})
    changing = {t.symptom for t in found}
    steady = {s: [*places] for s, places in states.items() if any(places.values()) and s not in changing}
    if found or steady:
        answer = Answer.ANSWERED if found else Answer.EVERY_RELEASE
        sentence = "; ".join([*map(describe, found), *_everywhere(timeline, history, steady, stopped)]) + "."
    elif tested:
        names = ", ".join(s.value for s in symptoms) or "any symptom"
        which = "no release that was run," if stopped else "no release"
        answer, sentence = Answer.NO_RELEASE, f"{names}: in {which} from {_range(timeline, tested)}."
    else:
        answer = Answer.INCONCLUSIVE
        sentence = "No release of the range could be tested; see the reason of each."
    not_run = tuple(timeline.releases[i].version for i, state in enumerate(history) if not state.tried)
    turned = [_turned(change) for change in signature_changes(timeline, history, symptoms)]
    return Conclusion(
        answer=answer,
        sentence=sentence,
        history=_history(found, stopped),
        coverage=_coverage(history, not_run),
        not_run=not_run,
        caveats=(*_stopped(history, stopped), *turned, *caveats(timeline.versions, history, seen)),
        complete=stopped is None,
    )


def _stopped(history: History, stopped: StoppedBy | None) -> Iterator[str]:
    if stopped is StoppedBy.BUDGET:
        runs = sum(len(state.runs) for state in history)
        yield (
            f"The answer was cut short: the budget is spent ({runs} run{'' if runs == 1 else 's'}), and the search "
            "wanted more. Ask again with a larger --max-trials; what was run is not run again."
        )
    elif stopped is StoppedBy.INTERRUPTION:
        yield "The answer is cut short: the search was interrupted before its end. Go on with --resume."


def _everywhere(
    timeline: Timeline, history: History, places: Mapping[Symptom, Sequence[int]], stopped: StoppedBy | None
) -> Iterator[str]:
    """Symptoms without a transition: each always shows, or it is flaky all along."""
    which = "was run" if stopped else "could be tested"
    for symptom, tested in places.items():
        share = flaky_share(history, symptom)
        decided = "could be decided" if settled(history, symptom).undecided else which
        where = f"in every release that {decided}, from {_range(timeline, tested)}"
        flaky = f"no transition, flaky at about {percent(round(share, 2))} " if share is not None else ""
        yield f"{symptom.value}: {flaky}{where}"


def _turned(change: SignatureChange) -> str:
    return (
        f"The failure changes while {change.symptom.value} lasts, "
        f"{change.last_before} -> {change.first_after}: {change.before!r} becomes {change.after!r}; "
        "the two may have different causes."
    )


def _range(timeline: Timeline, places: Sequence[int]) -> str:
    return f"{timeline.releases[places[0]].version} to {timeline.releases[places[-1]].version}"


def _history(found: Sequence[Transition], stopped: StoppedBy | None) -> str:
    per_symptom: dict[Symptom, int] = {}
    for transition in found:
        per_symptom[transition.symptom] = per_symptom.get(transition.symptom, 0) + 1
    levels = sum(t.symptom is Symptom.CHANGED_VALUE for t in found)
    if any(t.kind is Kind.CHANGE for t in found):
        return f"The value changes {levels} times in the range; a plain bisection finds one of the changes."
    several = [symptom.value for symptom, count in per_symptom.items() if count > 1]
    if several:
        return (
            f"The history is not monotonic: {', '.join(several)} begins and ends within the range, "
            "so a plain bisection between its ends would have missed it."
        )
    if stopped:
        return f"As far as it was run, {'the history is monotonic' if found else 'there is no transition'}."
    return "The history is monotonic." if found else "There is no transition in the range."


def _coverage(history: History, not_run: Sequence[str]) -> str:
    run = sum(bool(state.runs) for state in history)
    blocked = sum(state.blocked is not None for state in history)
    if run == len(history):
        return f"Every one of the {len(history)} releases of the range was run."
    parts = [f"{run} of {len(history)} releases were run"]
    if blocked:
        parts.append(f"{blocked} could not be tested")
    if not_run:
        named = ", ".join([*not_run[:8], "..."] if len(not_run) > 8 else not_run)
        parts.append(f"{len(not_run)} {'was' if len(not_run) == 1 else 'were'} not run ({named})")
    return ", ".join(parts) + "."
