"""Values that change from one wrong one to another: each distinct value is a level.

A search knows good and bad. Where a value has several wrong levels, each of them is looked at as a question of its own:

    value            0.0   0.0   7.4   7.4   2.1   2.1
    changed-value    good  good  bad   bad   bad   bad      begins 2 -> 3
    at 7.4           good  good  bad   bad   good  good
    at 2.1           good  good  good  good  bad   bad      begins 4 -> 5: the value changes

Two values are of one level where they are close, where both are close to a third one, or where one release showed both:
what varies within a release is no change.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from harness.domain.cases.symptoms import Symptom
from harness.domain.search.history import History, ReleaseState, SearchHistory
from harness.domain.verdicts.read_rules import levels_of, reading_in
from harness.domain.verdicts.verdict import GOOD, Outcome, Verdict, Verdicts

MOST_LEVELS = 12
"""More distinct values than this are noise: the value is not one that tells releases apart."""


def level_views(history: History, symptoms: Sequence[Symptom] = ()) -> list[SearchHistory]:
    """One history per wrong level, in which the runs at that level are bad and all others good.

    Args:
        history: What is known of each release.
        symptoms: Those asked for; empty: all.

    Returns:
        Nothing while there are fewer than two wrong levels, where there are too many, or where nobody asked.
    """
    if symptoms and Symptom.CHANGED_VALUE not in symptoms:
        return []
    wrong = [[v.reason for v in state.showing(Symptom.CHANGED_VALUE, Outcome.BAD)] for state in history]
    if not any(wrong):
        return []
    tolerance = max(reason.tolerance for reasons in wrong for reason in reasons)
    levels = levels_of(([reading_in(reason) for reason in reasons] for reasons in wrong if reasons), tolerance)
    if not 2 <= len(levels) <= MOST_LEVELS:
        return []
    texts = [{one.text for one in level} for level in levels]  # texts, because NaN does not equal itself
    return [SearchHistory([_at(state, level) for state in history]) for level in texts]


def _at(state: ReleaseState, level: Collection[str]) -> ReleaseState:
    return ReleaseState(runs=tuple(dict(_only(run, level)) for run in state.runs), blocked=state.blocked)


def _only(run: Verdicts, level: Collection[str]) -> Iterator[tuple[Symptom, Verdict]]:
    if (verdict := run.get(Symptom.CHANGED_VALUE)) is not None:
        elsewhere = verdict.outcome is Outcome.BAD and verdict.reason.name not in level
        yield Symptom.CHANGED_VALUE, GOOD if elsewhere else verdict
