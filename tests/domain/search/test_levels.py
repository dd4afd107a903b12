"""Values with several plateaus: every change of level is found, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.domain.cases.case import Level
from harness.domain.cases.symptoms import Symptom
from harness.domain.findings.conclusions import conclude
from harness.domain.findings.transition import Kind, describe
from harness.domain.findings.transitions import signature_changes, transitions
from harness.domain.search.history import ReleaseState, SearchHistory
from harness.domain.search.levels import MOST_LEVELS, level_views
from harness.domain.search.policy import Policy
from harness.domain.search.strategy import next_trials
from harness.domain.verdicts.judgement import judge
from harness.domain.verdicts.reasons import recorded
from harness.domain.verdicts.verdict import Verdicts
from tests.examples import case, script, timeline

VALUE = Symptom.CHANGED_VALUE
ABOUT = case(level=Level.SCRIPT, value="loss (.*)")
RIGHT = script(0, output="loss 0.0")


def run(value: str | None) -> Verdicts:
    """What a release says that prints this value; None: it fails."""
    seen = script(1) if value is None else script(0, output=f"loss {value}")
    return judge(ABOUT, seen, None, RIGHT)


def searched(values: Sequence[str | None], policy: Policy) -> SearchHistory:
    """A search over releases that print these values, to its end."""
    known = SearchHistory(len(values))
    for _ in range(2000):
        chosen = next_trials(known, policy)
        if not chosen:
            return known
        place = chosen[0].index
        known[place] = ReleaseState(runs=(*known[place].runs, run(values[place])))
    raise AssertionError("the search does not end")


def found(values: Sequence[str | None], history: SearchHistory) -> list[tuple[str, int, int]]:
    line = timeline([str(n) for n in range(len(values))])
    return [
        (t.kind.value, int(t.last_before), int(t.first_after))
        for t in transitions(line, history, [VALUE], confirmations=2)
    ]


def truth(values: Sequence[str]) -> list[tuple[str, int, int]]:
    changes = [(n, values[n], values[n + 1]) for n in range(len(values) - 1) if values[n] != values[n + 1]]
    kinds = {(True, False): "regression", (False, True): "recovery", (False, False): "change"}
    return [(kinds[one == "0.0", other == "0.0"], n, n + 1) for n, one, other in changes]


PLATEAUS = st.lists(st.tuples(st.sampled_from(["0.0", "7.4", "2.1", "nan"]), st.integers(1, 4)), min_size=1, max_size=5)


@given(PLATEAUS)
def test_every_change_of_level_is_a_transition(plateaus):
    values = ["0.0", *(value for value, length in plateaus for _ in range(length))]
    history = searched(values, Policy())
    assert found(values, history) == truth(values)
    assert all(state.runs for state in history)


@settings(max_examples=25, deadline=None)  # each is a search over about a hundred releases
@given(st.permutations(["0.0", "7.4", "2.1"]), st.lists(st.integers(20, 40), min_size=3, max_size=3))
def test_on_a_long_timeline_the_gaps_between_levels_are_split(order, lengths):
    """Both ends may be wrong and in differing ways: a search for good and bad alone would not look between them."""
    values = [value for value, length in zip(order, lengths, strict=True) for _ in range(length)]
    history = searched(values, Policy(max_gap=None))
    seen = [values[0], values[-1]]
    if len(set(seen)) == 2:
        assert set(found(values, history)) >= {t for t in truth(values) if values[-1] in (values[t[1]], values[t[2]])}
    assert sum(bool(state.runs) for state in history) < len(values) / 2


def test_both_sides_of_a_change_are_run_twice():
    values = ["0.0"] * 3 + ["7.4"] * 3 + ["2.1"] * 3
    history = searched(values, Policy())
    assert all(len(history[place].runs) >= 2 for place in (2, 3, 5, 6))


def test_a_change_says_both_values_and_is_no_change_of_the_failure():
    values = ["0.0", "7.4", "7.4", "2.1", "0.0"]
    line, history = timeline(list("abcde")), searched(values, Policy())
    changes = transitions(line, history, [], confirmations=2)
    assert [(t.kind, t.before, t.after) for t in changes] == [
        (Kind.REGRESSION, "0.0", "7.4"),
        (Kind.CHANGE, "7.4", "2.1"),
        (Kind.RECOVERY, "2.1", "0.0"),
    ]
    assert describe(changes[1]).startswith("changed-value goes on with another value c -> d, 7.4 becomes 2.1")
    assert signature_changes(line, history, []) == []
    assert conclude(line, history, [], changes).history == (
        "The value changes 3 times in the range; a plain bisection finds one of the changes."
    )


def test_a_release_that_fails_hides_the_value_between_two_levels():
    values: list[str | None] = ["0.0", "7.4", None, "2.1", "2.1"]
    history = searched(values, Policy())
    assert found(values, history) == [("regression", 0, 1), ("change", 1, 3)]


def test_a_value_that_differs_in_every_release_is_noise_and_no_row_of_changes():
    values = ["0.0", *(str(n) for n in range(1, MOST_LEVELS + 3))]
    assert found(values, searched(values, Policy())) == [("regression", 0, 1)]


@pytest.mark.parametrize("symptoms", [[], [VALUE], [Symptom.EXCEPTION]])
def test_there_is_one_view_per_wrong_level_and_none_where_nobody_asks(symptoms):
    blocked = ReleaseState(blocked=recorded("broken"))
    history = [ReleaseState(runs=(run(value), {})) for value in ("0.0", "7.4", "2.1", None)]
    views = level_views([*history, blocked], symptoms)
    assert len(views) == (0 if symptoms == [Symptom.EXCEPTION] else 2)
    for view in views:
        tallies = [view[place].tally(VALUE) for place in range(4)]
        assert sum(tally.bad for tally in tallies) == 1
        assert [tally.runs for tally in tallies] == [1, 1, 1, 0]
        assert view[4].blocked is not None


def test_one_wrong_level_needs_no_view():
    assert level_views([ReleaseState(runs=(run("7.4"),)), ReleaseState(runs=({},))]) == []
    assert level_views([ReleaseState()]) == []
