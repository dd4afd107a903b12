"""What a set of changes shows, and when it says nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.domain.cases.case import Case, Level
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import HarnessError, InfrastructureError, Untestable
from harness.domain.findings.transition import Kind, Transition
from harness.domain.search.delta import Effect
from harness.domain.trials.observation import EndingKind, NonFinite, Observation, Stage
from harness.domain.trials.trial import Environment, FinishedTrial, Trial
from harness.domain.verdicts.verdict import Outcome
from harness.jobs.changes.experiments import Experiments, Setting, Shown, agreed, judged
from tests.examples import case, ending, observation, script
from tests.fakes import TWO, FakeServices, Heard, TableTrials

NAN = observation({"loss": math.nan}, first_nonfinite_metric=NonFinite(name="loss", step=125, value=math.nan))


class Trials(TableTrials):
    """Shows what a table says of the files that are replaced."""

    def __init__(self, shown: dict[str, Observation | HarnessError]) -> None:
        super().__init__({})
        self.table = shown

    def run(self, environment: Environment, case: Case, trials: Sequence[Trial]) -> Sequence[FinishedTrial]:
        self.ran += trials
        found = self.table[(trials[0].variant.fix or "").removeprefix("lines:")]
        if isinstance(found, HarnessError):
            raise found
        return [
            FinishedTrial(trial=t, observation=observation() if t.variant.replicas == 1 else found, seconds=0.0)
            for t in trials
        ]


def experiments(folder: Path, shown: dict[str, Observation | HarnessError], kind: Kind, budget: int = 9) -> Experiments:
    services = FakeServices(folder, [], [], Trials(shown))
    setting = Setting(
        services=services,
        listener=Heard(),
        case=case(),
        variant=TWO,
        transition=Transition(symptom=Symptom.NONFINITE_METRIC, kind=kind, last_before="1.0", first_after="1.1"),
        environments=services.built,
        environment=Environment(key="key-1.0", executable="/python", python="3.11", lock=()),
    )
    return Experiments(setting=setting, budget=budget)


class TestEffect:
    @pytest.mark.parametrize(
        ("kind", "flips", "keeps"), [(Kind.REGRESSION, "bad", "good"), (Kind.RECOVERY, "good", "bad")]
    )
    def test_it_is_that_of_the_side_after_or_before(self, tmp_path: Path, kind: Kind, flips: str, keeps: str):
        tried = experiments(tmp_path, {"a=bad": NAN, "a=good": observation()}, kind)
        assert tried.effect({"a": flips}) is Effect.FLIPS
        assert tried.effect({"a": keeps}) is Effect.KEEPS
        assert tried.unresolved == 0

    def test_what_fails_in_another_way_or_cannot_be_tested_is_unresolved(self, tmp_path: Path):
        raised = observation({}, weights=None, ending=ending(EndingKind.RAISED, Stage.BUILD, exception="TypeError"))
        tried = experiments(tmp_path, {"a=raises": raised, "a=red": Untestable("the canary is red")}, Kind.REGRESSION)
        assert tried.effect({"a": "raises"}) is Effect.UNRESOLVED
        assert tried.effect({"a": "red"}) is Effect.UNRESOLVED
        assert tried.unresolved == 2

    def test_a_fault_of_the_machine_is_no_effect(self, tmp_path: Path):
        tried = experiments(tmp_path, {"a=1": InfrastructureError("the disk is full")}, Kind.REGRESSION)
        with pytest.raises(InfrastructureError):
            tried.effect({"a": "1"})

    def test_the_same_files_are_run_once_and_the_budget_ends_with_new_ones(self, tmp_path: Path):
        tried = experiments(tmp_path, {"a=1": NAN, "a=2": NAN}, Kind.REGRESSION, budget=1)
        assert [tried.effect({"a": "1"}), tried.effect({"a": "2"}), tried.effect({"a": "1"})] == [
            Effect.FLIPS,
            None,
            Effect.FLIPS,
        ]
        assert tried.trials == 1

    def test_another_failure_than_the_known_one_is_unresolved_where_a_trial_ends_with_it(self, tmp_path: Path):
        tried = experiments(tmp_path, {}, Kind.REGRESSION)
        other = Shown(outcome=Outcome.BAD, signature="exception | ImportError")
        assert tried.effect_of(other) is Effect.FLIPS  # NaN is NaN, wherever it shows first
        tried.known_by = "exception | exit code 1 | counted wrong"
        object.__setattr__(tried.setting.transition, "symptom", Symptom.EXCEPTION)
        assert tried.effect_of(other) is Effect.UNRESOLVED
        assert tried.effect_of(Shown(outcome=Outcome.BAD, signature=tried.known_by)) is Effect.FLIPS

    def test_the_reference_runs_on_the_same_copy(self, tmp_path: Path):
        tried = experiments(tmp_path, {"a=1": NAN}, Kind.REGRESSION)
        tried.effect({"a": "1"})
        trials = tried.setting.services.trials()
        assert isinstance(trials, Trials)
        assert [(t.variant.replicas, t.variant.fix) for t in trials.ran] == [(1, "lines:a=1"), (2, "lines:a=1")]


class TestJudged:
    def test_a_copy_that_cannot_be_imported_is_never_bad(self):
        seen = observation(ending=ending(EndingKind.RAISED, Stage.FIX, exception="ImportError", message="no b"))
        assert judged(case(), Symptom.EXCEPTION, seen, None) == Shown(outcome=Outcome.SKIP, reason="no b")

    def test_a_script_that_aborts_says_nothing(self):
        shown = judged(case(level=Level.SCRIPT), Symptom.EXCEPTION, script(139), None)
        assert shown.outcome is Outcome.SKIP
        assert "ended by force" in shown.reason

    def test_a_symptom_that_the_case_cannot_show(self):
        shown = judged(case(level=Level.SCRIPT), Symptom.NONFINITE_METRIC, script(0), None)
        assert shown == Shown(outcome=Outcome.SKIP, reason="nonfinite-metric cannot be judged")


def test_repeats_have_to_agree():
    good, bad = Shown(outcome=Outcome.GOOD), Shown(outcome=Outcome.BAD, signature="s")
    assert agreed([bad, bad]) == bad
    assert agreed([good, bad]) == Shown(outcome=Outcome.SKIP, reason="its repeats do not agree: good, bad")
