"""Symptoms that are read from what a trial printed: a value that changed, a warning."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from harness.domain.cases.case import DEFAULT_TOLERANCE, Case, Level
from harness.domain.cases.symptoms import READ, Symptom
from harness.domain.trials.observation import EndingKind, Observation
from harness.domain.trials.reading import Reading, numbers_as_reading, printed_value, reading, same
from harness.domain.verdicts.reasons import Number, Reason, ReasonKind
from harness.domain.verdicts.signatures import signature
from harness.domain.verdicts.tolerance import ROUNDING
from harness.domain.verdicts.verdict import GOOD, Outcome, Verdict, bad, hidden, skip

_PLACE = re.compile(r"\S+:\d+: ")
LONGEST_LINE = 200
"""So many characters of a warning are told."""


def read_verdicts(
    case: Case,
    observation: Observation,
    reference: Observation | None,
    baseline: Observation | None,
    others: Mapping[Symptom, Verdict],
) -> dict[Symptom, Verdict]:
    """Judge the symptoms of this kind that the case says how to see.

    Args:
        case: Says where the value stands, what it is compared with, and which warning should not come.
        observation: The trial.
        reference: The same case on one replica.
        baseline: The same trial in the release whose value is the right one.
        others: The verdicts on how it ended, and on its numbers.
    """
    found: dict[Symptom, Verdict] = {}
    unseen = None if came_to_its_end(observation) else _unseen(others)
    if case.value or case.reference:
        found[Symptom.CHANGED_VALUE] = unseen or _changed_value(case, observation, reference, baseline)
    if case.warning:
        seen = _warned(case, observation)
        found[Symptom.WARNING] = seen if seen.outcome is Outcome.BAD else unseen or seen
    return {symptom: found[symptom] for symptom in READ if symptom in found}


def needs_baseline(case: Case) -> bool:
    """Whether the right value comes from another release; the oldest one where none is named."""
    return bool(case.reference) or bool(case.value and not case.equals and case.level is Level.SCRIPT)


def came_to_its_end(observation: Observation) -> bool:
    """Whether all that a trial would print was printed."""
    return observation.ending.kind is EndingKind.FINISHED or observation.ending.exit_code == 0


def value_of(case: Case, observation: Observation) -> Reading | None:
    """The value of a trial that came to its end; None for another one, and where there is none."""
    if not came_to_its_end(observation):
        return None
    if case.value:
        return printed_value(case.value, observation.output)
    return numbers_as_reading(observation.numbers) if case.reference else None


def value_tolerance(case: Case) -> float:
    """How close two values must be, relative."""
    return DEFAULT_TOLERANCE if case.tolerance.metric is None else case.tolerance.metric


def reading_in(reason: Reason) -> Reading:
    """The value that a reason of the kind ``value-differs`` is about."""
    return Reading(text=reason.name, numbers={n.name: n.value for n in reason.numbers if n.value is not None})


def levels_of(groups: Iterable[Sequence[Reading]], tolerance: float) -> list[list[Reading]]:
    """Distinct values; what stands in one group is one value, and so is what is close to any of its members."""
    found: list[list[Reading]] = []
    for group in groups:
        apart, joined = [], list(group)
        for level in found:
            near = any(same(one, other, tolerance, ROUNDING) for one in group for other in level)
            if near:
                joined += level
            else:
                apart.append(level)
        found = [*apart, joined]
    return found


def _unseen(others: Mapping[Symptom, Verdict]) -> Verdict:
    """The verdict on what a trial might have printed that did not come to its end."""
    for symptom, verdict in others.items():
        if verdict.outcome is Outcome.BAD:
            return hidden(symptom, verdict.reason)
    return next(iter(others.values()))


def _changed_value(
    case: Case, observation: Observation, reference: Observation | None, baseline: Observation | None
) -> Verdict:
    own = value_of(case, observation)
    if own is None:
        return skip(Reason(kind=ReasonKind.NO_VALUE, name=case.value or "a metric"))
    other = baseline if needs_baseline(case) else reference
    right = reading(case.equals) if case.equals else (value_of(case, other) if other is not None else None)
    if right is None:
        return skip(Reason(kind=ReasonKind.NO_BASELINE))
    tolerance = value_tolerance(case)
    if same(own, right, tolerance, ROUNDING):
        return GOOD
    numbers = tuple(Number(name=name, value=value) for name, value in own.numbers.items())
    reason = Reason(
        kind=ReasonKind.VALUE_DIFFERS, name=own.text, detail=right.text, numbers=numbers, tolerance=tolerance
    )
    return bad(reason, Symptom.CHANGED_VALUE.value)


def _warned(case: Case, observation: Observation) -> Verdict:
    for text in (*observation.warnings, observation.output):
        if (found := re.search(case.warning, text, re.MULTILINE)) is not None:
            line = _line_at(text, found.start())
            known_by = signature(Symptom.WARNING.value, message=line)
            return bad(Reason(kind=ReasonKind.WARNED, detail=line[:LONGEST_LINE]), known_by)
    return GOOD


def _line_at(text: str, place: int) -> str:
    """The line of a warning, without the file and the line of the code that warns."""
    start = text.rfind("\n", 0, place) + 1
    end = text.find("\n", place)
    line = text[start : end if end >= 0 else len(text)].strip()
    before = _PLACE.match(line, 0, place - start)
    return line if before is None else line[before.end() :]
