"""``verify-fix --fixed-in``: a release, a nightly or a commit is the fix; a run goes on where it stopped."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from harness.cli.commands import verify_fix
from harness.domain.cases.case import Level
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import InfrastructureError, Interrupted, UsageError
from harness.domain.fixes.grades import FixExit, FixReport, Grade
from harness.domain.releases.release import Channel, Release
from harness.jobs.fixes.verification import verify_fix as verify
from harness.jobs.requests import VerifyRequest
from tests.examples import FIRST_DAY, case, timeline
from tests.fakes import FakeServices, Heard, MemoryIndex, TableEnvironments, TableTrials, commit, untestable

NAN = Symptom.NONFINITE_METRIC
STABLE = ["3.8.0", "3.9.0", "3.9.2", "3.10.0"]
NIGHT = "3.11.0.dev2025040103"
COMMIT = commit(7, FIRST_DAY)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeServices:
    """NaN in 3.9.0 alone; 3.9.2 cannot be installed, and everything from 3.10.0 on is right."""
    monkeypatch.chdir(tmp_path)
    table = {"3.8.0": "good", "3.9.0": "nan", "3.9.2": "good", "3.10.0": "good", NIGHT: "good", COMMIT.version: "good"}
    published = [
        *timeline(STABLE).releases,
        Release(package="keras-nightly", version="3.11.0.dev2025033103", channel=Channel.NIGHTLY),
        Release(package="keras-nightly", version=NIGHT, channel=Channel.NIGHTLY),
        Release(package="keras-nightly", version="3.12.0.dev2025040203", channel=Channel.NIGHTLY, yanked="broken"),
    ]
    made = FakeServices(
        tmp_path,
        [case(expects=NAN, since="3.8.0")],
        published,
        TableTrials(table),
        TableEnvironments(untestable("3.9.2")),
    )
    made.commits = (COMMIT,)
    return made


def request(folder: Path, **changes: object) -> VerifyRequest:
    given: dict[str, object] = {"case": "identity", "jobs": 1, "output": folder / "run", "fixed_in": "3.10.0"}
    return VerifyRequest(**{**given, **changes})  # type: ignore[arg-type]


def grade(report: FixReport) -> tuple[str, Grade]:
    (only,) = report.fixes
    (graded,) = only.releases
    return graded.version, graded.grade


class TestAnswer:
    def test_the_release_is_held_against_the_last_one_before_it_that_shows_the_symptom(
        self, world: FakeServices, tmp_path: Path
    ):
        report, folder = verify(world, request(tmp_path), Heard())
        assert world.reports.verified == {folder: report}
        assert grade(report) == ("3.10.0", Grade.PROVEN)
        assert report.exit_code == FixExit.PROVEN
        assert report.fixes[0].name == "fixed in keras 3.10.0"
        assert report.fixes[0].sentence.startswith("keras 3.10.0 is proven against 3.9.0: ")
        assert report.fixes[0].releases[0].by_symptom[NAN.value] == ("bad", "good")

    def test_it_walks_back_from_the_newest_and_stops_at_the_first(self, world: FakeServices, tmp_path: Path):
        verify(world, request(tmp_path), Heard())
        assert world.built.prepared == ["3.9.2", "3.9.0", "3.10.0"]

    @pytest.mark.parametrize(
        ("word", "grade_of_it", "code"),
        [
            ("nan", Grade.NO_EFFECT, FixExit.NO_CURE),
            ("wrong", Grade.MASKS, FixExit.NOT_RIGHT),
            ("raises", Grade.BREAKS, FixExit.BREAKS),
        ],
    )
    def test_a_release_that_is_not_the_fix(
        self, world: FakeServices, tmp_path: Path, word: str, grade_of_it: Grade, code: FixExit
    ):
        world.table.shown["3.10.0"] = word
        report, _ = verify(world, request(tmp_path), Heard())
        assert (grade(report)[1], report.exit_code) == (grade_of_it, code)

    def test_where_no_release_shows_the_symptom_the_newest_before_is_taken(self, world: FakeServices, tmp_path: Path):
        world.table.shown["3.9.0"] = "good"
        world.built.failures.clear()
        report, _ = verify(world, request(tmp_path), Heard())
        assert grade(report) == ("3.10.0", Grade.NOT_REPRODUCED)
        assert "against 3.9.2" in report.fixes[0].sentence
        assert world.built.prepared == ["3.9.2", "3.9.0", "3.8.0", "3.10.0"]

    def test_a_fixed_release_that_cannot_be_tested_is_inconclusive_with_its_reason(
        self, world: FakeServices, tmp_path: Path
    ):
        world.built.failures |= untestable("3.10.0")
        report, _ = verify(world, request(tmp_path), Heard())
        (graded,) = report.fixes[0].releases
        assert (graded.grade, graded.reason) == (Grade.INCONCLUSIVE, "3.10.0: no wheel for this Python")
        assert report.exit_code == FixExit.INCONCLUSIVE

    def test_the_range_begins_where_it_is_asked_to(self, world: FakeServices, tmp_path: Path):
        world.table.shown["3.9.0"] = "good"
        report, _ = verify(world, request(tmp_path, first="3.9.0"), Heard())
        assert "3.8.0" not in world.built.prepared
        assert report.question.first == "3.9.0"

    def test_every_repeat_counts(self, world: FakeServices, tmp_path: Path):
        verify(world, request(tmp_path, repeats=3), Heard())
        assert [t.repeat for t in world.table.ran if t.release == "3.10.0" and t.variant.replicas == 2] == [0, 1, 2]

    def test_a_script_may_be_fixed_in_a_release(self, world: FakeServices, tmp_path: Path):
        world.shelf.cases["identity"] = case(level=Level.SCRIPT, since="3.8.0", replicas=1)
        world.table.shown |= {"3.9.0": "exit 1", "3.10.0": "exit 0"}
        report, _ = verify(world, request(tmp_path), Heard())
        assert grade(report)[1] is Grade.PROVEN

    def test_nothing_before_it_is_refused(self, world: FakeServices, tmp_path: Path):
        with pytest.raises(UsageError, match=r"there is no release before 3\.8\.0"):
            verify(world, request(tmp_path, fixed_in="3.8.0"), Heard())
        assert not (tmp_path / "run").exists()

    def test_a_release_that_is_not_published_is_refused_by_its_option(self, world: FakeServices, tmp_path: Path):
        with pytest.raises(UsageError, match="is not on the index") as refused:
            verify(world, request(tmp_path, fixed_in="3.11.7"), Heard())
        assert refused.value.where == "--fixed-in"


class TestOtherChannels:
    def test_the_nightly_is_the_newest_that_is_not_yanked(self, world: FakeServices, tmp_path: Path):
        report, _ = verify(world, request(tmp_path, fixed_in="nightly"), Heard())
        assert grade(report) == (NIGHT, Grade.PROVEN)
        assert report.fixes[0].name == f"fixed in keras-nightly {NIGHT}"

    def test_without_a_nightly_that_can_be_used_it_is_refused(self, world: FakeServices, tmp_path: Path):
        yanked = Release(package="keras-nightly", version=NIGHT, channel=Channel.NIGHTLY, yanked="broken")
        world.index = MemoryIndex([*timeline(STABLE).releases, yanked])
        with pytest.raises(UsageError, match="no nightly of keras that is not yanked") as refused:
            verify(world, request(tmp_path, fixed_in="nightly"), Heard())
        assert refused.value.where == "--fixed-in nightly"

    def test_beside_it_stand_the_companions_of_the_broken_release(self, world: FakeServices, tmp_path: Path):
        """A cure must not come from another TensorFlow."""
        verify(world, request(tmp_path, fixed_in="nightly", pins=("tensorflow==2.18.1",)), Heard())
        broken, cure = world.chosen
        assert cure.wanted.package == "keras-nightly"
        assert cure.pinned == broken.pinned == ("tensorflow==2.18.1",)
        assert cure.interpreter == broken.interpreter

    def test_a_stable_release_shares_the_environment_s_companions(self, world: FakeServices, tmp_path: Path):
        verify(world, request(tmp_path), Heard())
        assert len(world.chosen) == 1

    @pytest.mark.parametrize("text", ["commit:0007", COMMIT.version])
    def test_a_commit_comes_from_the_clone(self, world: FakeServices, tmp_path: Path, text: str):
        report, _ = verify(world, request(tmp_path, fixed_in=text, clone=tmp_path), Heard())
        assert grade(report) == (COMMIT.version, Grade.PROVEN)
        assert world.built.prepared[-1] == COMMIT.version


class TestGoingOn:
    @pytest.mark.parametrize("end", [KeyboardInterrupt(), Interrupted(), InfrastructureError("disk full", hint="wait")])
    @pytest.mark.parametrize(("last", "finished"), [("3.9.0", 1), ("3.10.0", 3)])
    def test_nothing_finished_is_lost_and_the_way_to_go_on_is_told(
        self, world: FakeServices, tmp_path: Path, end: BaseException, last: str, finished: int
    ):
        world.built.failures[last] = end
        with pytest.raises((Interrupted, InfrastructureError)) as stopped:
            verify(world, request(tmp_path), Heard())
        _, entries = world.runs.read(tmp_path / "run")
        assert len(entries) == finished
        command = f"harness verify-fix identity --fixed-in 3.10.0 --resume {tmp_path / 'run'}"
        assert (stopped.value.hint or "").endswith(f"resume with: {command}")
        if isinstance(stopped.value, Interrupted):
            assert stopped.value.finished == finished

    def test_the_command_that_is_told_asks_the_same(self, world: FakeServices, tmp_path: Path):
        """It is parsed by the command line itself, and what it makes goes on with the run."""
        world.built.failures["3.10.0"] = KeyboardInterrupt()
        with pytest.raises(Interrupted) as stopped:
            verify(world, request(tmp_path, pins=("tensorflow==2.18.1",), repeats=2), Heard())
        words = shlex.split(stopped.value.resume)
        given = verify_fix.command.make_context("verify-fix", words[2:]).params
        del given["as_json"]
        world.built.failures.pop("3.10.0")
        report, folder = verify(world, VerifyRequest(**given), Heard())
        assert folder == tmp_path / "run"
        assert grade(report) == ("3.10.0", Grade.PROVEN)

    @pytest.mark.parametrize("last", ["3.9.0", "3.10.0"])
    def test_resuming_runs_nothing_again_that_the_journal_holds(self, world: FakeServices, tmp_path: Path, last: str):
        world.built.failures[last] = KeyboardInterrupt()
        with pytest.raises(Interrupted):
            verify(world, request(tmp_path), Heard())
        del world.built.failures[last]
        before, world.table.ran, world.built.prepared = set(world.table.ran), [], []
        report, _ = verify(world, request(tmp_path, output=None, resume=tmp_path / "run"), Heard())
        assert not before & set(world.table.ran)
        assert world.built.prepared == ["3.9.0", "3.10.0"][["3.9.0", "3.10.0"].index(last) :]
        assert grade(report) == ("3.10.0", Grade.PROVEN)

    def test_resuming_a_finished_run_runs_nothing_and_says_the_same(self, world: FakeServices, tmp_path: Path):
        first, _ = verify(world, request(tmp_path), Heard())
        world.table.ran, world.built.prepared = [], []
        again, _ = verify(world, request(tmp_path, output=None, resume=tmp_path / "run"), Heard())
        assert (world.table.ran, world.built.prepared) == ([], [])
        assert repr(again) == repr(first)

    def test_a_run_about_another_release_is_not_gone_on_with(self, world: FakeServices, tmp_path: Path):
        verify(world, request(tmp_path), Heard())
        with pytest.raises(UsageError, match="the question changed"):
            verify(world, request(tmp_path, fixed_in="nightly", resume=tmp_path / "run"), Heard())
