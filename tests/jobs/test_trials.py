"""Trials without a search: `run`, `repro` and `reproduce`."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.domain.cases.backends import Backend
from harness.domain.cases.case import Level
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import (
    EnvironmentChanged,
    HarnessError,
    InfrastructureError,
    Interrupted,
    Untestable,
    UsageError,
)
from harness.domain.releases.companions import Interpreter
from harness.domain.trials.variant import REFERENCE, Variant
from harness.domain.verdicts.reasons import recorded
from harness.domain.verdicts.verdict import GOOD, Outcome, Verdict
from harness.jobs.bisection import bisect
from harness.jobs.events import EventKind
from harness.jobs.requests import BisectRequest, EnvironmentRequest, ReproduceRequest, ReproRequest, TrialRequest
from harness.jobs.trials import prepare_release, repro, reproduce, run, summary
from tests.examples import case, release, timeline
from tests.fakes import TWO, FakeServices, Heard, TableTrials, untestable

NAN = Verdict(outcome=Outcome.BAD, reason=recorded("loss is nan"))
HIDDEN = Verdict(outcome=Outcome.SKIP, reason=recorded("hidden by nonfinite-metric"))
TABLE = {"3.8.0": "good", "3.9.0": "nan", "3.10.0": "good"}


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeServices:
    monkeypatch.chdir(tmp_path)
    cases = [case(), case(name="loud", level=Level.SCRIPT, replicas=1), case(name="tf", package="tensorflow")]
    return FakeServices(tmp_path, cases, list(timeline(list(TABLE)).releases), TableTrials(TABLE))


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ({Symptom.EXCEPTION: GOOD}, ("good", "equals its reference on one replica")),
        ({Symptom.EXCEPTION: GOOD, Symptom.WRONG_WEIGHTS: HIDDEN}, ("good", "not judged: hidden by nonfinite-metric")),
        ({Symptom.NONFINITE_METRIC: NAN, Symptom.WRONG_METRIC: HIDDEN}, ("bad", "nonfinite-metric: loss is nan")),
        ({Symptom.EXCEPTION: HIDDEN, Symptom.KILLED: HIDDEN}, ("skip", "hidden by nonfinite-metric")),
        ({}, ("skip", "nothing to judge")),
    ],
)
def test_the_worst_decides_and_what_was_not_judged_is_told(verdicts, expected):
    assert summary(verdicts, good="equals its reference on one replica") == expected


class ChangedOnce(TableTrials):
    """The first group of trials runs in an environment that something else changes."""

    def run(self, environment, case, trials):
        if not self.ran:
            self.ran += trials
            raise EnvironmentChanged("a trial changed a file")
        return super().run(environment, case, trials)


class TestBackend:
    def test_the_framework_of_the_backend_is_the_companion(self, world: FakeServices):
        done = run(world, TrialRequest(case="identity", release="3.8.0", backend=Backend.JAX, env=("A=1",)), Heard())
        assert (done.case.companions, done.case.backend) == (("jax",), Backend.JAX)
        assert done.case.trial_env == {"KERAS_BACKEND": "jax", "A": "1"}

    def test_a_case_that_imports_another_framework_is_left_out(self, tmp_path: Path):
        bound = case(name="bound", text="import tensorflow\n")
        releases = list(timeline(list(TABLE)).releases)
        world = FakeServices(tmp_path, [case(), bound], releases, TableTrials(TABLE))
        lines = list(repro(world, ReproRequest(release="3.8.0", backend=Backend.JAX), Heard()).outcomes)
        assert [(line.case, line.outcome) for line in lines] == [("identity", Outcome.GOOD), ("bound", Outcome.SKIP)]
        assert lines[1].sentence == "imports tensorflow itself, and says nothing of another backend"


class TestRun:
    def test_the_case_runs_once_beside_its_reference(self, world: FakeServices):
        done = run(world, TrialRequest(case="identity", release="3.9.0"), Heard())
        assert [t.variant for t in world.table.ran] == [REFERENCE, TWO]
        assert (done.release.version, done.finished[-1].trial.variant) == ("3.9.0", TWO)
        assert done.verdicts[Symptom.NONFINITE_METRIC].outcome is Outcome.BAD

    def test_the_latest_release_is_meant_unless_one_is_named(self, world: FakeServices):
        assert run(world, TrialRequest(case="identity"), Heard()).release.version == "3.10.0"

    def test_a_script_has_no_reference(self, world: FakeServices):
        world.table.shown["3.9.0"] = "exit 1"
        done = run(world, TrialRequest(case="loud", release="3.9.0"), Heard())
        assert [t.variant for t in world.table.ran] == [Variant()]
        assert done.verdicts[Symptom.EXCEPTION].outcome is Outcome.BAD

    def test_what_the_request_says_goes_before_what_the_case_says(self, world: FakeServices):
        world.shelf.cases["identity"] = case(parameters={"fault": ("none", "on")})
        request = TrialRequest(
            case="identity", replicas=4, strategy="tpu", settings=("fault=on",), fresh=True, pins=("numpy==2.0.2",)
        )
        done = run(world, request, Heard())
        assert done.finished[-1].trial.variant == Variant(replicas=4, strategy="tpu", options=(("fault", "on"),))
        assert (done.case.replicas, world.began) == (4, [(True, None, ())])
        assert "numpy==2.0.2" in world.chosen[0].pinned

    def test_an_untestable_release_says_why(self, world: FakeServices):
        world.built.failures |= untestable("3.9.0")
        with pytest.raises(Untestable, match="no wheel for this Python"):
            run(world, TrialRequest(case="identity", release="3.9.0"), Heard())

    @pytest.mark.parametrize(
        ("changes", "where"), [({"release": "3.9.5"}, "--release"), ({"settings": ("fault=on",)}, "--set fault=on")]
    )
    def test_what_is_not_there_is_refused_by_its_option(self, world: FakeServices, changes, where):
        with pytest.raises(UsageError) as refused:
            run(world, TrialRequest(case="identity", **changes), Heard())
        assert refused.value.where == where


def test_one_environment_serves_all_cases(world: FakeServices):
    cases = [case(companions=("tensorflow",)), case(companions=("numpy",))]
    made = prepare_release(world, cases, release("3.9.0"), EnvironmentRequest(), Heard())
    assert made.key == "key-3.9.0"
    assert world.chosen[0].wanted.requirements == ("tensorflow", "numpy")


class TestRepro:
    def test_every_case_has_a_line_in_turn(self, world: FakeServices):
        world.shelf.cases.pop("loud")
        made = repro(world, ReproRequest(release="3.9.0"), Heard())
        assert world.table.ran == []  # each runs when its line is asked for
        assert [(one.case, one.outcome, one.sentence.partition(",")[0]) for one in made.outcomes] == [
            ("identity", Outcome.BAD, "nonfinite-metric: loss is nan"),
            ("tf", Outcome.SKIP, "is about tensorflow: harness bisect tf"),
        ]
        assert (made.release.version, made.environment.key) == ("3.9.0", "key-3.9.0")

    def test_only_those_named_run(self, world: FakeServices):
        made = repro(world, ReproRequest(release="3.10.0", cases=("identity",)), Heard())
        assert [(one.case, one.outcome) for one in made.outcomes] == [("identity", Outcome.GOOD)]
        assert all(one.seconds >= 0 for one in made.outcomes)

    def test_a_case_that_cannot_be_tested_ends_nothing(self, world: FakeServices):
        class Refusing(TableTrials):
            def run(self, environment, case, trials):
                if case.name == "identity":
                    raise Untestable("the canary is red")
                return super().run(environment, case, trials)

        world.table = Refusing({"3.9.0": "exit 0"})
        made = repro(world, ReproRequest(release="3.9.0", cases=("identity", "loud")), Heard())
        first, second = made.outcomes
        assert (first.case, first.outcome, first.sentence) == ("identity", Outcome.SKIP, "the canary is red")
        assert (second.case, second.outcome, second.sentence) == ("loud", Outcome.GOOD, "exit code 0")

    def test_what_a_good_model_showed(self, world: FakeServices):
        (only,) = repro(world, ReproRequest(release="3.8.0", cases=("identity",)), Heard()).outcomes
        assert (only.outcome, only.sentence) == (Outcome.GOOD, "equals its reference on one replica")

    @pytest.mark.parametrize("end", [InfrastructureError("disk full"), Interrupted()])
    def test_a_fault_of_the_machine_and_the_user_s_stop_end_it(self, world: FakeServices, end: HarnessError):
        class Broken(TableTrials):
            def run(self, environment, case, trials):
                raise end

        world.table = Broken({})
        with pytest.raises(type(end)):
            list(repro(world, ReproRequest(release="3.9.0"), Heard()).outcomes)

    def test_no_case_of_the_package_is_refused_before_anything_is_built(self, world: FakeServices):
        with pytest.raises(UsageError, match="no case is about tf-keras"):
            repro(world, ReproRequest(release="3.9.0", package="tf-keras"), Heard())
        assert world.built.prepared == []


class TestReproduce:
    @pytest.fixture
    def folder(self, world: FakeServices, tmp_path: Path) -> Path:
        request = BisectRequest(case="identity", first="3.8.0", jobs=1, output=tmp_path / "run")
        _, folder = bisect(world, request, Heard())
        world.table.ran, world.built.prepared, world.began, world.chosen = [], [], [], []
        return folder

    def test_the_recorded_environment_is_restored_and_its_first_trials_run_again(
        self, world: FakeServices, folder: Path
    ):
        again = reproduce(world, ReproduceRequest(run=folder, release="3.9.0"), Heard())
        assert [e.key for e in world.built.restored] == ["key-3.9.0"]
        assert (world.built.prepared, world.chosen) == ([], [])  # nothing is chosen or resolved anew
        assert [(t.variant, t.repeat) for t in world.table.ran] == [(REFERENCE, 0), (TWO, 0)]
        assert world.began == [(True, None, ())]
        assert (again.same_environment, again.same_numbers) == (True, True)
        assert [e.finished.trial for e in again.recorded if e.finished] == [f.trial for f in again.finished]

    def test_an_environment_that_was_changed_is_restored_once_more(self, world: FakeServices, folder: Path):
        world.table = ChangedOnce(TABLE)
        heard = Heard()
        assert reproduce(world, ReproduceRequest(run=folder, release="3.9.0"), heard).same_numbers
        assert [e.key for e in world.built.restored] == ["key-3.9.0"] * 2
        assert [e.detail for e in heard.events] == ["a trial changed a file: running it once more"]

    def test_other_numbers_are_told(self, world: FakeServices, folder: Path):
        world.table.shown["3.9.0"] = "wrong"
        assert not reproduce(world, ReproduceRequest(run=folder, release="3.9.0"), Heard()).same_numbers

    def test_another_python_of_the_same_minor_version_is_warned_of(self, world: FakeServices, folder: Path):
        class Newer:
            def candidates(self) -> list[Interpreter]:
                return [self.named("3.11")]

            def named(self, wanted: str) -> Interpreter:
                assert wanted == "3.11"
                return Interpreter(version="3.11.9", path="/python")

        world.pythons = Newer()
        heard = Heard()
        reproduce(world, ReproduceRequest(run=folder, release="3.9.0"), heard)
        assert [(e.kind, e.detail) for e in heard.events] == [
            (EventKind.WARNING, "the run had Python 3.11.7, this machine has 3.11.9")
        ]

    def test_a_release_without_trials_is_refused_with_those_that_have_some(self, world: FakeServices, folder: Path):
        with pytest.raises(UsageError, match=r"the run has no trial of 3\.7\.0") as refused:
            reproduce(world, ReproduceRequest(run=folder, release="3.7.0"), Heard())
        known = (refused.value.hint or "").removeprefix("releases with trials: ").split(", ")
        assert sorted(known) == sorted(TABLE)

    def test_a_run_is_found_by_its_id(self, world: FakeServices, folder: Path, tmp_path: Path):
        (tmp_path / "reports").mkdir()
        folder.rename(tmp_path / "reports" / "some-run")
        assert reproduce(world, ReproduceRequest(run=Path("some-run"), release="3.9.0"), Heard()).same_numbers
