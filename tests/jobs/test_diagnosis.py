"""Diagnosing a case: which trials are watched, with which controls, and the commands of the advice."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.domain.cases.backends import Backend
from harness.domain.cases.case import Case, Level
from harness.domain.diagnosis.diagnosis import Boundary
from harness.domain.errors import EnvironmentChanged, UsageError
from harness.domain.trials.diagnosis_facts import ArrayFacts, BadVariable, DiagnosisFacts, ShareFacts
from harness.domain.trials.observation import Observation
from harness.domain.trials.trial import Environment, FinishedTrial, Trial
from harness.domain.trials.variant import REFERENCE, Variant
from harness.jobs.diagnosis import (
    alone,
    complete_command,
    diagnose_case,
    diagnoses,
    in_float32,
    plain_variant,
)
from harness.jobs.requests import DiagnoseRequest
from tests.examples import case, observation, timeline
from tests.fakes import TWO, FakeServices, Heard, TableTrials

POLICY = {"policy": ("float32", "mixed_float16")}
ENVIRONMENT = Environment(key="key-3.9.0", executable="/python", python="3.11.7", lock=())
HEALTHY = DiagnosisFacts(steps=20)
POISONED = DiagnosisFacts(
    arrays=(ArrayFacts(name="x", dtype="float32", shape=(64, 8), finite=False, bad_rows=1, first_bad_row=20),),
    steps=20,
    step=7,
    bad=(BadVariable(role="log", path="loss", replica=0, replicas=1),),
    shares=(ShareFacts(replica=0, rows=4, input_shape=(4, 8), loss=math.nan),),
)
LOW = DiagnosisFacts(
    compute_dtype="float16",
    compute_max=65504.0,
    steps=20,
    step=7,
    bad=POISONED.bad,
    shares=(ShareFacts(replica=0, rows=4, input_shape=(4, 8), loss=math.inf),),
)


class WatchedTrials(TableTrials):
    """Every watched trial sees the same facts; calls are kept apart."""

    def __init__(self, facts: DiagnosisFacts) -> None:
        super().__init__({})
        self.facts = facts
        self.calls: list[list[Trial]] = []

    def run(self, environment: Environment, case: Case, trials: Sequence[Trial]) -> Sequence[FinishedTrial]:
        self.calls.append(list(trials))
        return super().run(environment, case, trials)

    def _observe(self, case: Case, trial: Trial) -> Observation:
        final = {"loss": math.nan} if self.facts.step is not None and trial.variant.policy is None else {"loss": 0.0873}
        return observation(final, diagnosis=self.facts if trial.variant.watched else None)

    @property
    def variants(self) -> list[list[Variant]]:
        return [[trial.variant for trial in call] for call in self.calls]


def watched(plain: Variant) -> Variant:
    return Variant(
        replicas=plain.replicas, strategy=plain.strategy, options=plain.options, policy=plain.policy, watched=True
    )


def test_an_environment_that_was_changed_is_built_once_more(tmp_path: Path) -> None:
    class ChangedOnce(WatchedTrials):
        def run(self, environment: Environment, case: Case, trials: Sequence[Trial]) -> Sequence[FinishedTrial]:
            if not self.calls:
                self.calls.append(list(trials))
                raise EnvironmentChanged("a trial changed a file")
            return super().run(environment, case, trials)

    world = FakeServices(tmp_path, [case()], list(timeline(["3.9.0"]).releases), ChangedOnce(POISONED))
    heard = Heard()
    found = diagnose_case(world, DiagnoseRequest(case="identity", release="3.9.0"), heard)
    assert found.diagnosis.boundary is Boundary.DATA
    assert world.built.prepared == ["3.9.0", "3.9.0"]
    assert "a trial changed a file: diagnosing it once more" in [event.detail for event in heard.events]


class TestDiagnoses:
    def test_the_watched_trial_stands_beside_the_plain_one_and_one_replica(self):
        trials = WatchedTrials(HEALTHY)
        (found,) = diagnoses(trials, ENVIRONMENT, case(), "3.9.0", [TWO])
        assert trials.variants == [[watched(TWO), TWO, REFERENCE]]
        assert found.boundary is Boundary.NONE

    def test_on_one_replica_no_second_one_is_run(self):
        trials = WatchedTrials(HEALTHY)
        diagnoses(trials, ENVIRONMENT, case(), "3.9.0", [REFERENCE])
        assert trials.variants == [[watched(REFERENCE), REFERENCE]]

    def test_bare_leaves_out_what_only_adds_evidence(self):
        trials = WatchedTrials(POISONED)
        (found,) = diagnoses(trials, ENVIRONMENT, case(), "3.9.0", [TWO], bare=True)
        assert trials.variants == [[watched(TWO)]]
        assert found.boundary is Boundary.DATA

    def test_a_failure_in_a_small_type_is_tried_in_float32_after_it_is_known(self):
        trials = WatchedTrials(LOW)
        about = case(parameters=POLICY)
        mixed = Variant(replicas=2, strategy="mirrored", options=(("policy", "mixed_float16"),))
        diagnoses(trials, ENVIRONMENT, about, "3.9.0", [mixed], bare=True)
        assert trials.variants == [[watched(mixed)], [in_float32(about, mixed)]]

    @pytest.mark.parametrize("facts", [HEALTHY, POISONED])
    def test_what_float32_cannot_cure_is_not_tried_in_it(self, facts: DiagnosisFacts):
        trials = WatchedTrials(facts)
        diagnoses(trials, ENVIRONMENT, case(), "3.9.0", [TWO], bare=True)
        assert len(trials.calls) == 1

    def test_several_share_one_call_and_each_trial_runs_once(self):
        """Each call imports the framework; that takes longer than the trials."""
        trials = WatchedTrials(HEALTHY)
        four = Variant(replicas=4, strategy="mirrored")
        found = diagnoses(trials, ENVIRONMENT, case(), "3.9.0", [TWO, four])
        assert len(found) == 2
        assert trials.variants == [[watched(TWO), TWO, REFERENCE, watched(four), four]]


class TestControls:
    @given(st.integers(1, 8), st.lists(st.sampled_from(["fault", "policy"]), unique=True))
    def test_on_one_replica_everything_else_is_the_same(self, replicas: int, names: list[str]):
        plain = Variant(replicas=replicas, strategy="mirrored", options=tuple((name, "x") for name in names))
        single = alone(plain)
        assert (single.replicas, single.strategy) == (1, "none")
        assert (single.options, single.policy, single.fix) == (plain.options, plain.policy, plain.fix)

    def test_float32_also_sets_the_case_s_own_parameter(self):
        assert in_float32(case(parameters=POLICY), TWO).options == (("policy", "float32"),)
        assert in_float32(case(), TWO).options == ()
        assert in_float32(case(), TWO).policy == "float32"


class TestPlainVariant:
    def test_a_policy_also_sets_the_case_s_parameter(self):
        about = case(parameters={**POLICY, "fault": ("none", "on")})
        request = DiagnoseRequest(case="identity", policy="mixed_float16", settings=("fault=on",))
        plain = plain_variant(about, request)
        assert plain.options == (("fault", "on"), ("policy", "mixed_float16"))
        assert plain.policy == "mixed_float16"

    def test_without_one_the_case_s_own_trial_is_diagnosed(self):
        assert plain_variant(case(), DiagnoseRequest(case="identity")) == TWO


class TestCommand:
    def test_placeholders_become_what_can_be_typed(self):
        plain = Variant(options=(("fault", "silent log"), ("policy", "float32")))
        completed = complete_command("ask since when: harness bisect CASE RANGE SETTINGS", "my case.py", "3.9.0", plain)
        words = shlex.split(completed.partition(": ")[2])
        assert words == [
            *["harness", "bisect", "my case.py", "--from", "3.9.0", "--to", "3.9.0"],
            *["--set", "fault=silent log", "--set", "policy=float32"],
        ]

    def test_without_settings_no_gap_is_left(self):
        assert complete_command("harness bisect CASE SETTINGS", "identity", "3.9.0", TWO) == "harness bisect identity"

    def test_other_advice_stays_as_it_is(self):
        assert (
            complete_command("divide the learning rate by ten", "c", "3.9.0", TWO) == "divide the learning rate by ten"
        )


class TestJob:
    @pytest.fixture
    def world(self, tmp_path: Path) -> FakeServices:
        return FakeServices(
            tmp_path,
            [case(), case(name="loud", level=Level.SCRIPT)],
            list(timeline(["3.8.0", "3.9.0"]).releases),
            WatchedTrials(POISONED),
        )

    def test_another_backend_is_refused(self, world: FakeServices):
        with pytest.raises(UsageError, match="replayed with TensorFlow's means alone"):
            diagnose_case(world, DiagnoseRequest(case="identity", release="3.9.0", backend=Backend.JAX), Heard())

    def test_it_says_what_was_diagnosed_and_where(self, world: FakeServices):
        done = diagnose_case(world, DiagnoseRequest(case="identity", release="3.9.0", replicas=4, fresh=True), Heard())
        assert (done.release.version, done.case.replicas) == ("3.9.0", 4)
        assert done.variant == Variant(replicas=4, strategy="mirrored")
        assert done.diagnosis.boundary is Boundary.DATA
        assert world.began == [(True, None, ())]
        assert world.built.prepared == ["3.9.0"]

    def test_the_advice_has_no_placeholder_left(self, world: FakeServices):
        done = diagnose_case(world, DiagnoseRequest(case="identity"), Heard())
        assert not {"CASE", "SETTINGS", "RANGE"} & set(done.diagnosis.next_change.split())

    def test_a_script_is_refused(self, world: FakeServices):
        with pytest.raises(UsageError, match="only a case with model"):
            diagnose_case(world, DiagnoseRequest(case="loud"), Heard())
        assert world.built.prepared == []
