"""The main job over a small real world: requests become runs, and runs go on to finer channels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import InfrastructureError, Interrupted, UsageError
from harness.domain.findings import assemble
from harness.domain.findings.causes import KnownCause
from harness.domain.findings.finding import Finding
from harness.domain.findings.transition import Kind
from harness.domain.releases.release import Channel, Release
from harness.domain.search.policy import Policy
from harness.domain.trials.variant import Variant
from harness.jobs.bisection import bisect
from harness.jobs.events import EventKind
from harness.jobs.requests import BisectRequest
from tests.examples import FIRST_DAY, case, timeline
from tests.fakes import (
    FakeServices,
    Heard,
    TableTrials,
    commit,
)

STABLE = ("3.8.0", "3.9.0", "3.9.1", "3.10.0")
NIGHTS = [f"3.10.0.dev202503{day:02}03" for day in range(1, 8)]


def found(finding: Finding) -> set[tuple[str, str, str, str]]:
    return {(t.symptom.value, t.kind.value, t.last_before, t.first_after) for t in finding.transitions}


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeServices:
    """Keras breaks with 3.9.0 and is right again in 3.10.0."""
    monkeypatch.chdir(tmp_path)
    published = [release_of_keras(version, day) for day, version in enumerate(STABLE)]
    table = dict(zip(STABLE, ["good", "nan", "nan", "good"], strict=True))
    return FakeServices(tmp_path, [case(since="3.8.0")], published, TableTrials(table))


def release_of_keras(version: str, day: int) -> Release:
    (made,) = timeline([version]).releases
    return replace(made, released=FIRST_DAY.replace(day=day + 1))


def search(folder: Path, **changes: object) -> BisectRequest:
    return BisectRequest(**{"case": "identity", "jobs": 1, "output": folder / "run", **changes})  # type: ignore[arg-type]


class TestJob:
    def test_it_returns_the_finding_that_it_reports_and_the_folder(self, world: FakeServices, tmp_path: Path):
        finding, folder = bisect(world, search(tmp_path), Heard())
        assert folder == tmp_path / "run"
        assert world.reports.findings == {folder: finding}
        assert found(finding) == {
            ("nonfinite-metric", "regression", "3.8.0", "3.9.0"),
            ("nonfinite-metric", "recovery", "3.9.1", "3.10.0"),
        }
        assert finding.reproduce == "harness bisect identity --from 3.8.0 --to 3.10.0"
        assert repr(assemble.compose(*world.runs.read(folder))) == repr(finding)  # NaN is not equal to itself

    def test_the_request_s_changes_reach_case_policy_and_trials(self, world: FakeServices, tmp_path: Path):
        request = search(
            tmp_path,
            symptoms=(Symptom.EXCEPTION,),
            replicas=4,
            strategy="tpu",
            repeats=3,
            max_trials=40,
            confidence=0.999,
            memory_bytes=1 << 30,
            fresh=True,
        )
        bisect(world, request, Heard())
        made, _ = world.runs.read(tmp_path / "run")
        assert (made.case.replicas, made.case.strategy, made.case.repeats) == (4, "tpu", 3)
        assert made.policy == Policy(symptoms=(Symptom.EXCEPTION,), repeats=3, max_trials=40, confidence=0.999)
        assert world.began == [(True, 1 << 30, ())]
        assert {t.variant for t in world.table.ran} == {Variant(), Variant(replicas=4, strategy="tpu")}

    def test_a_second_search_for_the_same_goes_the_same_way(self, world: FakeServices, tmp_path: Path):
        bisect(world, search(tmp_path), Heard())
        first, world.table.ran = world.table.ran, []
        bisect(world, search(tmp_path, output=tmp_path / "again"), Heard())
        assert sorted(map(str, world.table.ran)) == sorted(map(str, first))

    @pytest.mark.parametrize("end", [KeyboardInterrupt(), Interrupted()])
    def test_interrupting_keeps_what_is_finished_and_says_how_to_go_on(
        self, world: FakeServices, tmp_path: Path, end: BaseException
    ):
        world.built.failures["3.9.1"] = end
        with pytest.raises(Interrupted) as stopped:
            bisect(world, search(tmp_path), Heard())
        _, entries = world.runs.read(tmp_path / "run")
        assert stopped.value.finished == len(entries) > 0
        command = "harness bisect identity --from 3.8.0 --to 3.10.0"
        assert stopped.value.resume == f"{command} --resume {tmp_path / 'run'}"
        world.built.failures.clear()
        before, world.table.ran = set(world.table.ran), []
        finding, _ = bisect(world, search(tmp_path, output=None, resume=tmp_path / "run"), Heard())
        assert len(finding.transitions) == 2
        assert not before & set(world.table.ran)

    def test_so_does_an_interruption_while_the_reports_are_written(
        self, world: FakeServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        def stop(*_: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(world.reports, "finding", stop)
        with pytest.raises(Interrupted) as stopped:
            bisect(world, search(tmp_path), Heard())
        assert stopped.value.resume.endswith(f"--resume {tmp_path / 'run'}")

    def test_a_failing_machine_says_how_to_go_on(self, world: FakeServices, tmp_path: Path):
        world.built.failures["3.9.1"] = InfrastructureError("the disk is full", hint="free some space")
        with pytest.raises(InfrastructureError, match="the disk is full") as failed:
            bisect(world, search(tmp_path), Heard())
        assert failed.value.hint is not None
        assert failed.value.hint.startswith("free some space; then resume with: harness bisect identity ")
        assert failed.value.hint.endswith(f"--resume {tmp_path / 'run'}")

    def test_another_question_is_not_resumed(self, world: FakeServices, tmp_path: Path):
        bisect(world, search(tmp_path), Heard())
        with pytest.raises(UsageError, match="the question changed"):
            bisect(world, search(tmp_path, resume=tmp_path / "run", replicas=4), Heard())

    def test_a_parameter_that_the_case_does_not_have_is_refused_before_anything_is_read(
        self, world: FakeServices, tmp_path: Path
    ):
        world.index.published.clear()
        with pytest.raises(UsageError, match="has no parameters"):
            bisect(world, search(tmp_path, settings=("fault=on",)), Heard())
        assert not (tmp_path / "run").exists()

    def test_a_page_that_is_stale_and_companions_that_stop_to_fit_are_warned_of(
        self, world: FakeServices, tmp_path: Path
    ):
        world.index.stale_reason, world.boundary = "the index does not answer", "tensorflow 2.16 fits up to 3.9.1"
        heard = Heard()
        bisect(world, search(tmp_path), heard)
        assert [e.detail for e in heard.events if e.kind is EventKind.WARNING] == [
            "the index does not answer",
            "tensorflow 2.16 fits up to 3.9.1",
        ]

    def test_a_case_of_the_framework_says_which_keras_it_has(self, tmp_path: Path):
        about = case(package="tensorflow", companions=("keras==3.9.2",), since="2.17.0")
        published = [Release(package="tensorflow", version=version) for version in ("2.17.0", "2.18.0")]
        world = FakeServices(tmp_path, [about], published, TableTrials({"2.17.0": "good", "2.18.0": "nan"}))
        heard = Heard()
        bisect(world, search(tmp_path), heard)
        assert "harness: tensorflow with keras==3.9.2" in [e.detail for e in heard.events]

    def test_what_of_a_nightly_transition_cannot_be_kept_is_warned_of(self, tmp_path: Path):
        nights = [Release(package="keras-nightly", version=v, channel=Channel.NIGHTLY) for v in NIGHTS]
        world = FakeServices(
            tmp_path,
            [case()],
            nights,
            TableTrials(dict.fromkeys(NIGHTS[:4], "good") | dict.fromkeys(NIGHTS[4:], "nan")),
        )
        world.reports.lost = ("the wheel is gone",)
        heard = Heard()
        finding, _ = bisect(world, search(tmp_path, channels=(Channel.NIGHTLY,), first="2025-03-01"), heard)
        assert found(finding) == {("nonfinite-metric", "regression", NIGHTS[3], NIGHTS[4])}
        assert "the wheel is gone" in [e.detail for e in heard.events if e.kind is EventKind.WARNING]


class TestCommits:
    COMMITS = tuple(commit(n, FIRST_DAY.replace(day=n + 1)) for n in range(4))

    @pytest.fixture
    def cloned(self, world: FakeServices) -> FakeServices:
        world.commits = self.COMMITS
        world.table.shown |= dict(zip([c.version for c in self.COMMITS], ["good", "good", "nan", "nan"], strict=True))
        return world

    def test_the_range_is_one_of_commits(self, cloned: FakeServices, tmp_path: Path):
        request = search(tmp_path, channels=(Channel.COMMIT,), clone=tmp_path / "clone", first="0000")
        finding, _ = bisect(cloned, request, Heard())
        assert finding.question.releases == tuple(c.version for c in self.COMMITS)
        assert found(finding) == {("nonfinite-metric", "regression", self.COMMITS[1].version, self.COMMITS[2].version)}

    def test_without_a_first_commit_it_is_asked_for(self, cloned: FakeServices, tmp_path: Path):
        with pytest.raises(UsageError, match="where should the search begin") as refused:
            bisect(cloned, search(tmp_path, channels=(Channel.COMMIT,), clone=tmp_path / "clone"), Heard())
        assert refused.value.hint == "give a commit or a day"

    def test_the_changed_lines_of_a_found_commit_are_kept(self, cloned: FakeServices, tmp_path: Path):
        heard = Heard()
        request = search(tmp_path, channels=(Channel.COMMIT,), clone=tmp_path / "clone", first="0000")
        finding, folder = bisect(cloned, request, heard)
        assert [cause.found for cause in finding.transitions[0].causes] == [True]
        (kept,) = (folder / "kept").iterdir()
        assert f"nonfinite-metric: changed lines: {kept}" in [e.detail for e in heard.events]


def test_a_known_cause_stands_beside_its_transition(world: FakeServices, tmp_path: Path):
    known = KnownCause(
        case="identity",
        symptom=Symptom.NONFINITE_METRIC,
        kind=Kind.REGRESSION,
        link="https://example.org/1",
        title="maps sum to SUM",
        release="3.9.0",
    )
    world.shelf.causes = (known,)
    finding, _ = bisect(world, search(tmp_path), Heard())
    assert [[c.link for c in t.causes] for t in finding.transitions] == [["https://example.org/1"], []]
