"""Verifying a fix: reference, without and with, for each release, from small real objects behind the protocols."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.domain.cases.backends import Backend
from harness.domain.cases.case import Case, Level
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import InfrastructureError, Interrupted, UsageError
from harness.domain.fixes.grades import FixExit, Grade
from harness.domain.trials.observation import FixFacts, Observation
from harness.domain.trials.trial import Environment, FinishedTrial, Trial
from harness.domain.trials.variant import Variant
from harness.jobs.events import EventKind
from harness.jobs.executor import Runner
from harness.jobs.fixes.verification import CONTROL_LIMIT, Verification, grade_release, run_verification, verify_fix
from harness.jobs.requests import VerifyRequest
from tests.examples import case, observation, release, timeline
from tests.fakes import TWO, FakeServices, Heard, MemoryJournal, TableEnvironments, TableTrials, untestable

NAN = Symptom.NONFINITE_METRIC
SICK = observation({"loss": math.nan})
VERSIONS = ["3.7.0", "3.8.0", "3.9.0", "3.10.0"]


def asked(*fixes, versions=VERSIONS, **changes):
    given = {
        "case": case(expects=NAN),
        "releases": timeline(versions).releases,
        "variant": TWO,
        "fixes": fixes,
        "targets": (NAN,),
    }
    return Verification(**{**given, **changes})


def verify(
    question: Verification,
    environments: TableEnvironments,
    trials: TableTrials,
    journal: MemoryJournal,
    heard: Heard | None = None,
    jobs: int = 1,
) -> None:
    with ThreadPoolExecutor(jobs) as pool:
        runner = Runner(
            pool=pool, room=jobs, environments=environments, trials=trials, listener=heard if heard else Heard()
        )
        run_verification(question, runner, journal)


def grades(question, journal):
    held = journal.entries()
    return {
        r.version: grade_release(question, r, [e for e in held if e.release == r.version], question.fixes[0]).grade
        for r in question.releases
    }


class TestVerify:
    def test_every_release_is_tried_without_and_with_the_fix_in_one_call(self):
        question = asked("f", "g")
        table = {"3.7.0": "good", "3.8.0": "nan", "3.9.0": "wrong", "3.10.0": "good"}
        trials = TableTrials(
            {"3.7.0": "nan", "3.8.0": "nan", "3.9.0": "nan", "3.10.0": "good"}, fixed={"f": table, "g": table}
        )
        journal, heard = MemoryJournal(), Heard()
        verify(question, TableEnvironments(), trials, journal, heard)
        assert grades(question, journal) == {
            "3.7.0": Grade.PROVEN,
            "3.8.0": Grade.NO_EFFECT,
            "3.9.0": Grade.MASKS,
            "3.10.0": Grade.NOT_REPRODUCED,
        }
        assert [t.variant for t in trials.ran[:4]] == [Variant(), TWO, replace(TWO, fix="f"), replace(TWO, fix="g")]
        events = [(e.release, e.detail, e.left) for e in heard.events if e.kind == "done"]
        assert events[0] == ("3.7.0", "f: proven, g: proven", 3)
        assert events[-1] == ("3.10.0", "f: not reproduced, g: not reproduced", 0)
        assert (heard.events[0].kind, heard.events[0].left) == (EventKind.BEGIN, 4)
        assert heard.events[-1].kind is EventKind.END

    def test_several_jobs_give_the_same_grades_as_one(self):
        question = asked("f")
        shown, cured = dict.fromkeys(VERSIONS, "nan"), dict.fromkeys(VERSIONS, "good")
        journal = MemoryJournal()
        verify(question, TableEnvironments(), TableTrials(shown, fixed={"f": cured}), journal, jobs=3)
        assert grades(question, journal) == dict.fromkeys(VERSIONS, Grade.PROVEN)

    def test_an_untestable_release_is_inconclusive_with_its_reason(self):
        question = asked("f", versions=["3.7.0"])
        journal = MemoryJournal()
        verify(question, TableEnvironments(untestable("3.7.0")), TableTrials({}), journal)
        graded = grade_release(question, release("3.7.0"), journal.entries(), "f")
        assert (graded.grade, graded.reason) == (Grade.INCONCLUSIVE, "3.7.0: no wheel for this Python")

    def test_what_was_never_run_is_inconclusive(self):
        graded = grade_release(asked("f"), release("3.7.0"), [], "f")
        assert (graded.grade, graded.reason) == (Grade.INCONCLUSIVE, "not run")

    def test_a_failing_machine_stops_it_and_keeps_what_is_finished(self):
        question = asked("f", versions=["3.7.0", "3.8.0"])
        environments = TableEnvironments({"3.8.0": InfrastructureError("the disk is full")})
        trials, journal = TableTrials({"3.7.0": "nan"}, fixed={"f": {"3.7.0": "good"}}), MemoryJournal()
        with pytest.raises(InfrastructureError):
            verify(question, environments, trials, journal)
        assert grades(question, journal) == {"3.7.0": Grade.PROVEN, "3.8.0": Grade.INCONCLUSIVE}

    def test_resuming_runs_only_what_is_missing(self):
        question = asked("f", versions=["3.7.0", "3.8.0"])
        trials = TableTrials(dict.fromkeys(VERSIONS, "nan"), fixed={"f": dict.fromkeys(VERSIONS, "good")})
        journal = MemoryJournal()
        verify(question, TableEnvironments(), trials, journal)
        again = TableEnvironments()
        verify(question, again, trials, journal)
        assert again.prepared == []
        torn = MemoryJournal(journal.entries()[:-1])
        verify(question, again, trials, torn)
        assert again.prepared == ["3.8.0"]
        assert grades(question, torn) == {"3.7.0": Grade.PROVEN, "3.8.0": Grade.PROVEN}

    def test_a_release_that_never_gets_complete_is_tried_once(self):
        class Forgetful(TableTrials):
            def run(self, environment: Environment, case: Case, trials: Sequence[Trial]) -> Sequence[FinishedTrial]:
                return super().run(environment, case, trials)[:1]

        question, environments = asked("f", versions=["3.7.0"]), TableEnvironments()
        trials = Forgetful({"3.7.0": "nan"}, fixed={"f": {"3.7.0": "good"}})
        verify(question, environments, trials, MemoryJournal())
        assert environments.prepared == ["3.7.0"]


class FlakyTrials(TableTrials):
    """Shows the symptom in some repeats only, and never with the fix."""

    def __init__(self, bad_repeats: set[int]) -> None:
        super().__init__({})
        self.bad_repeats = bad_repeats

    def _observe(self, case: Case, trial: Trial) -> Observation:
        if trial.variant.replicas == 1:
            return observation()
        if trial.variant.fix is not None:
            return replace(observation(), fix=FixFacts(name="f", outcome="applied"))
        return SICK if trial.repeat in self.bad_repeats else observation()


class TestRepeats:
    @pytest.mark.parametrize(
        ("repeats", "bad", "expected"),
        [
            (1, {0}, Grade.PROVEN),
            (3, {0, 1, 2}, Grade.PROVEN),
            (4, {0, 1}, Grade.INCONCLUSIVE),
            (8, set(range(7)), Grade.PROVEN),
            (4, set(), Grade.NOT_REPRODUCED),
        ],
    )
    def test_a_flaky_symptom_must_stay_away_longer_than_luck_explains(self, repeats, bad, expected):
        question = asked("f", versions=["3.7.0"], case=case(repeats=repeats))
        journal = MemoryJournal()
        trials = FlakyTrials(bad)
        verify(question, TableEnvironments(), trials, journal)
        assert len(trials.ran) == 3 * repeats
        graded = grade_release(question, question.releases[0], journal.entries(), "f")
        assert graded.grade is expected
        if expected is Grade.INCONCLUSIVE:
            assert graded.reason.endswith("may stay away by chance (6%): ask for more --repeats")

    def test_an_untestable_release_is_not_repeated(self):
        environments = TableEnvironments(untestable("3.7.0"))
        question = asked("f", versions=["3.7.0"], case=case(repeats=3))
        verify(question, environments, TableTrials({}), MemoryJournal())
        assert environments.prepared == ["3.7.0"]


STABLE = ["3.6.0", "3.7.0", "3.8.0", "3.9.0"]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeServices:
    """Everything from 3.7.0 on shows NaN; the fix f cures it."""
    monkeypatch.chdir(tmp_path)
    shown = {"3.6.0": "good"} | dict.fromkeys(STABLE[1:], "nan")
    fixes = {name: dict.fromkeys(STABLE, "good") for name in ("f", "p.diff", "sum->NONE", "sum->MEAN")}
    fixes["hides"] = dict.fromkeys(STABLE, "wrong")
    fixes["sum->MEAN"] = dict(shown)
    return FakeServices(
        tmp_path, [case(expects=NAN, since="3.7.0")], list(timeline(STABLE).releases), TableTrials(shown, fixed=fixes)
    )


def request(folder: Path, **changes: object) -> VerifyRequest:
    given: dict[str, object] = {"case": "identity", "jobs": 1, "output": folder / "run", "fixes": ("f",)}
    return VerifyRequest(**{**given, **changes})  # type: ignore[arg-type]


class TestJob:
    def test_the_report_is_the_one_that_lies_in_the_folder(self, world: FakeServices, tmp_path: Path):
        report, folder = verify_fix(world, request(tmp_path), Heard())
        assert world.reports.verified == {tmp_path / "run": report}
        assert folder == tmp_path / "run"
        assert report.exit_code == FixExit.PROVEN
        assert report.targets == (NAN,)
        assert report.reproduce == "harness verify-fix identity --from 3.7.0 --to 3.9.0 --fix f"
        assert report.question.fixes == ("f@d1",)

    def test_where_every_release_is_sick_the_last_healthy_one_before_is_tried_too(
        self, world: FakeServices, tmp_path: Path
    ):
        """A fix that breaks a healthy release must not pass because none was in the range."""
        report, _ = verify_fix(world, request(tmp_path), Heard())
        assert report.control == "3.6.0"
        assert [(g.version, g.grade) for g in report.fixes[0].releases][:2] == [
            ("3.6.0", Grade.NOT_REPRODUCED),
            ("3.7.0", Grade.PROVEN),
        ]

    def test_a_range_with_a_healthy_release_needs_no_control(self, world: FakeServices, tmp_path: Path):
        report, _ = verify_fix(world, request(tmp_path, first="3.6.0"), Heard())
        assert report.control == ""
        assert [g.version for g in report.fixes[0].releases] == STABLE

    def test_only_so_many_releases_before_the_range_are_tried(self, tmp_path: Path):
        versions = [f"3.{n}.0" for n in range(12)]
        sick = TableTrials(dict.fromkeys(versions, "nan"), fixed={"f": dict.fromkeys(versions, "good")})
        world = FakeServices(tmp_path, [case(expects=NAN)], list(timeline(versions).releases), sick)
        report, _ = verify_fix(world, request(tmp_path, first="3.11.0"), Heard())
        assert report.control == ""
        assert len(world.built.prepared) == 1 + CONTROL_LIMIT

    def test_each_kind_of_fix_is_tried_alone(self, world: FakeServices, tmp_path: Path):
        wanted = request(tmp_path, fixes=("f", "hides"), patch=Path("p.diff"), sweep_mapping=True)
        report, _ = verify_fix(world, wanted, Heard())
        assert [one.name for one in report.fixes] == ["f", "hides", "p.diff", "sum->NONE", "sum->MEAN"]
        assert world.began == [(False, None, ("f", "hides", "p.diff", "sum->NONE", "sum->MEAN"))]
        grades = {one.name: {g.grade for g in one.releases if g.version == "3.9.0"} for one in report.fixes}
        assert grades == {
            "f": {Grade.PROVEN},
            "hides": {Grade.MASKS},
            "p.diff": {Grade.PROVEN},
            "sum->NONE": {Grade.PROVEN},
            "sum->MEAN": {Grade.NO_EFFECT},
        }
        assert report.exit_code == FixExit.BREAKS  # "hides" makes the values of the healthy 3.6.0 wrong
        assert [sentence.partition(":")[0] for sentence in report.workarounds] == [
            "pin keras 3.6.0",
            "pin keras 3.7.0 to 3.9.0",
        ]

    def test_two_fixes_of_one_name_are_refused(self, world: FakeServices, tmp_path: Path):
        with pytest.raises(UsageError, match="two fixes have the same name"):
            verify_fix(world, request(tmp_path, fixes=("a/f.py", "b/f.py")), Heard())

    @pytest.mark.parametrize("asked", [{"fixes": ("f",)}, {"sweep_mapping": True}])
    def test_a_fix_of_tensorflow_s_is_refused_elsewhere(self, world: FakeServices, asked: dict[str, Any]):
        with pytest.raises(UsageError, match="patches what Keras does with TensorFlow"):
            verify_fix(world, VerifyRequest(case="identity", backend=Backend.TORCH, **asked), Heard())

    def test_a_script_takes_no_fix(self, world: FakeServices, tmp_path: Path):
        world.shelf.cases["identity"] = case(level=Level.SCRIPT)
        with pytest.raises(UsageError, match="inside a script of its own"):
            verify_fix(world, request(tmp_path), Heard())

    def test_symptoms_that_are_asked_for_stand_above_the_case_s(self, world: FakeServices, tmp_path: Path):
        report, _ = verify_fix(world, request(tmp_path, symptoms=(Symptom.EXCEPTION,)), Heard())
        assert report.targets == (Symptom.EXCEPTION,)
        assert {g.grade for g in report.fixes[0].releases} == {Grade.NOT_REPRODUCED}

    @pytest.mark.parametrize("end", [KeyboardInterrupt(), Interrupted()])
    def test_interrupting_keeps_what_is_finished_and_says_how_to_go_on(
        self, world: FakeServices, tmp_path: Path, end: BaseException
    ):
        world.built.failures["3.8.0"] = end
        with pytest.raises(Interrupted) as stopped:
            verify_fix(world, request(tmp_path), Heard())
        assert stopped.value.finished == 3
        assert stopped.value.resume == (
            f"harness verify-fix identity --from 3.7.0 --to 3.9.0 --fix f --resume {tmp_path / 'run'}"
        )
        world.built.failures.clear()
        world.built.prepared.clear()
        report, _ = verify_fix(world, request(tmp_path, output=None, resume=tmp_path / "run"), Heard())
        assert world.built.prepared == ["3.8.0", "3.9.0", "3.6.0"]
        assert report.exit_code == FixExit.PROVEN

    def test_resuming_a_finished_run_runs_nothing(self, world: FakeServices, tmp_path: Path):
        first, _ = verify_fix(world, request(tmp_path), Heard())
        world.built.prepared.clear()
        again, _ = verify_fix(world, request(tmp_path, output=None, resume=tmp_path / "run"), Heard())
        assert world.built.prepared == []
        assert repr(replace(again, timing={})) == repr(replace(first, timing={}))  # the index was read twice
