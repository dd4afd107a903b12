"""A search that stops before its end, spent or interrupted, says nothing that its own runs contradict."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.domain.findings.caveats import caveats
from harness.domain.findings.conclusions import conclude
from harness.domain.findings.finding import Answer, Conclusion
from harness.domain.findings.transition import Transition
from harness.domain.findings.transitions import transitions
from harness.domain.search.history import ReleaseState
from harness.domain.search.policy import Policy
from harness.domain.search.posterior import settle, settled
from harness.domain.search.strategy import StoppedBy, stopped_early
from harness.domain.verdicts.verdict import GOOD, Outcome
from tests.histories.simulate import NAN, RAISES, WRONG, Run, bad, play, record, script, timeline, true_transitions

SYMPTOMS = (RAISES, NAN, WRONG)
RANGES = st.lists(st.tuples(st.sampled_from("ggggnnwesx"), st.integers(1, 8)), min_size=1, max_size=6)
HISTORIES = RANGES.map(lambda ranges: "".join(letter * length for letter, length in ranges))
BUDGETS = st.integers(2, 20)


def contradictions(history: list[ReleaseState]) -> list[str]:
    """Verdicts and sides of transitions that every run of the release contradicts."""
    found = []
    for symptom in SYMPTOMS:
        stated = {i: v.outcome is Outcome.BAD for i, v in enumerate(settle(history, symptom)) if v and says(v.outcome)}
        sides = [
            side
            for t in settled(history, symptom).transitions
            for side in ((t.before, not t.turns_bad), (t.after, t.turns_bad))
        ]
        for i, shown in [*stated.items(), *sides]:
            tally = history[i].tally(symptom)
            if not (tally.bad if shown else tally.good):
                found.append(f"{symptom.value} {i}: {'bad' if shown else 'good'} against {tally}")
    return found


def says(outcome: Outcome) -> bool:
    return outcome is not Outcome.SKIP


def own_transitions(history: list[ReleaseState], symptom) -> set[tuple[int, int, bool]]:
    """What the runs alone show, where every run of a release shows the same."""
    tallies = [state.tally(symptom) for state in history]
    return true_transitions([tally.bad > 0 if tally.runs else None for tally in tallies])


def prefixes(length: int, run: Run, policy: Policy):
    """What was known after each of the trials of one search, the last state included."""
    order = play(length, run, policy).order
    history = [ReleaseState() for _ in range(length)]
    yield history
    for index, _ in order:
        record(history, index, run(index, len(history[index].runs)))
        yield history


@given(HISTORIES, BUDGETS)
def test_a_deterministic_history_is_stated_as_it_was_run(letters, budget) -> None:
    """Whatever the budget and wherever it is cut: the transitions are those of the runs, and no verdict differs."""
    for policy in (Policy(max_trials=budget), Policy(), Policy(max_gap=None)):
        for history in prefixes(len(letters), script(letters), policy):
            assert contradictions(history) == []
            for symptom in SYMPTOMS:
                found = {(t.before, t.after, t.turns_bad) for t in settled(history, symptom).transitions}
                assert found == own_transitions(history, symptom)
                assert not settled(history, symptom).undecided


@given(HISTORIES, BUDGETS, st.sampled_from((0.9, 0.5, 0.2)), st.integers(0, 10_000))
def test_a_flaky_history_is_never_stated_against_its_own_runs(letters, budget, rate, seed) -> None:
    flaky = letters.upper().replace("X", "x")
    run, again = (script(flaky, rate=rate, seed=seed) for _ in range(2))
    history = [ReleaseState() for _ in letters]
    for index, _ in play(len(letters), again, Policy(max_trials=budget)).order:
        record(history, index, run(index, len(history[index].runs)))
        assert contradictions(history) == []


@given(HISTORIES, BUDGETS)
def test_what_stopped_a_search_is_known(letters, budget) -> None:
    """Before its end it was interrupted; at its end it is complete, or the budget ended it."""
    length, run = len(letters), script(letters)
    for policy, ends in ((Policy(max_trials=budget), {None, StoppedBy.BUDGET}), (Policy(), {None})):
        *before, last = [stopped_early(list(history), policy) for history in prefixes(length, run, policy)]
        assert set(before) <= {StoppedBy.INTERRUPTION}
        assert last in ends


def answer(letters: str, policy: Policy, runs: int | None = None) -> tuple[list[Transition], Conclusion]:
    """The answer of a search that its policy ends, or that is cut after some runs."""
    history = [
        *itertools.islice(
            map(list, prefixes(len(letters), script(letters), policy)), None if runs is None else runs + 1
        )
    ][-1]
    line = timeline(len(letters))
    found = transitions(line, history, policy.symptoms, policy.confirmations, policy.confidence)
    return found, conclude(line, history, policy.symptoms, found, stopped=stopped_early(history, policy))


class TestIssue:
    """The history of the report: good, bad, good again in the newest; three runs are allowed."""

    LETTERS = "ggggnnnnnnng"

    @pytest.mark.parametrize(("policy", "runs"), [(Policy(max_trials=3), None), (Policy(), 3)], ids=["spent", "cut"])
    def test_the_recovery_is_stated_and_the_newest_is_good(self, policy, runs) -> None:
        found, told = answer(self.LETTERS, policy, runs)
        assert [(t.kind.value, t.last_before, t.first_after, t.rate) for t in found] == [
            ("regression", "0", "6", 1.0),
            ("recovery", "6", "11", 1.0),
        ]
        assert not any(t.confirmed for t in found)
        assert told.answer is Answer.ANSWERED
        assert not told.complete
        assert "flaky" not in told.sentence
        assert {str(u.reason) for t in found for u in t.untested} == {"not run"}

    def test_a_spent_budget_is_said(self) -> None:
        _, told = answer(self.LETTERS, Policy(max_trials=3))
        assert told.caveats[0] == (
            "The answer was cut short: the budget is spent (3 runs), and the search wanted more. Ask again with a larger "
            "--max-trials; what was run is not run again."
        )

    def test_an_interruption_is_said(self) -> None:
        _, told = answer(self.LETTERS, Policy(), 3)
        assert told.caveats[0] == (
            "The answer is cut short: the search was interrupted before its end. Go on with --resume."
        )

    def test_that_a_flake_would_explain_it_better_is_said(self) -> None:
        _, told = answer(self.LETTERS, Policy(max_trials=3))
        (sentence,) = [c for c in told.caveats if "explain" in c]
        assert sentence.startswith("nonfinite-metric: all runs of 11 were good, and that is stated; a flaky symptom")

    def test_without_a_limit_it_is_complete(self) -> None:
        found, told = answer(self.LETTERS, Policy())
        assert told.complete
        assert len(found) == 2
        assert all(t.confirmed for t in found)
        assert not [c for c in told.caveats if "cut short" in c or "explain" in c]


class TestSentences:
    def test_no_release_means_none_that_was_run(self) -> None:
        _, told = answer("gggggggggg", Policy(symptoms=(NAN,)), 2)
        assert told.sentence == "nonfinite-metric: in no release that was run, from 0 to 9."
        assert told.history == "As far as it was run, there is no transition."

    def test_every_release_means_every_one_that_was_run(self) -> None:
        _, told = answer("nnnnnnnnnn", Policy(symptoms=(NAN,)), 2)
        assert told.sentence == "nonfinite-metric: in every release that was run, from 0 to 9."

    def test_monotonic_as_far_as_it_was_run(self) -> None:
        _, told = answer("gggggnnnnn", Policy(max_trials=4))
        assert told.history == "As far as it was run, the history is monotonic."


def test_a_release_between_flaky_ones_that_only_passed_is_undecided() -> None:
    """One run says that the symptom is flaky, so a single pass inside its range is no recovery."""
    passes, fails = {NAN: GOOD}, {NAN: bad()}
    history = [ReleaseState(runs=((passes if i < 2 else fails),) * 3) for i in range(8)]
    history[3] = ReleaseState(runs=(passes,))
    history[6] = ReleaseState(runs=(fails, passes))
    known = settled(history, NAN)
    assert known.undecided == {3}
    assert [(t.before, t.after) for t in known.transitions] == [(1, 2)]
    assert known.bad_ranges == [[2, 3, 4, 5, 6, 7]]
    verdict = settle(history, NAN)[3]
    assert verdict is not None
    assert str(verdict.reason).startswith("0 of 1 runs were bad; with its neighbours in view")
    (sentence,) = [s for s in caveats("abcdefgh", history, [NAN]) if "decided" in s]
    assert sentence.startswith("nonfinite-metric is flaky, and d could not be decided")
