"""From the transitions of one search to a finer one inside them: stable, then nightly, then commit."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import InfrastructureError, Interrupted, UsageError
from harness.domain.findings.finding import Finding
from harness.domain.findings.transition import Kind, Transition
from harness.domain.releases.release import Channel, Release
from harness.jobs.bisection import bisect
from harness.jobs.events import EventKind
from harness.jobs.refinement import FOLDER, _same_change, report_again
from harness.jobs.requests import BisectRequest, ReportRequest
from tests.examples import case
from tests.fakes import FakeServices, Heard, TableTrials, commit

DAY = datetime(2025, 3, 1, tzinfo=timezone.utc)
BROKEN = 20
"""The day on which a commit breaks Keras; 3.9.0 comes out on day 10, 3.10.0 on day 40."""


def on(day: int, hour: int = 0) -> datetime:
    return DAY + timedelta(days=day, hours=hour)


def night(day: int) -> Release:
    return Release(
        package="keras-nightly", version=f"3.10.0.dev{on(day):%Y%m%d}03", channel=Channel.NIGHTLY, released=on(day, 4)
    )


STABLE = [
    Release(package="keras", version="3.9.0", released=on(10)),
    Release(package="keras", version="3.10.0", released=on(40)),
]
NIGHTS = [night(day) for day in range(50)]
COMMITS = tuple(commit(n, on(n // 2, 12 * (n % 2) + 1)) for n in range(100))
CULPRIT = 2 * BROKEN
"""The first commit of that day, at one o'clock: the build of three o'clock has it."""


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeServices:
    monkeypatch.chdir(tmp_path)
    shown = {"3.9.0": "good", "3.10.0": "nan"}
    shown |= {r.version: "good" if day < BROKEN else "nan" for day, r in enumerate(NIGHTS)}
    shown |= {c.version: "good" if n < CULPRIT else "nan" for n, c in enumerate(COMMITS)}
    made = FakeServices(tmp_path, [case(since="3.9.0")], [*STABLE, *NIGHTS], TableTrials(shown))
    made.commits = COMMITS
    return made


def search(
    world: FakeServices, folder: Path, *channels: Channel, heard: Heard | None = None, **changes: object
) -> Finding:
    clone = folder / "clone" if Channel.COMMIT in channels else None
    given: dict[str, object] = {"case": "identity", "jobs": 1, "output": folder / "run", "clone": clone}
    request = BisectRequest(**{**given, "channels": channels, **changes})  # type: ignore[arg-type]
    finding, _ = bisect(world, request, heard or Heard())
    return finding


def sides(finding: Finding) -> list[tuple[str, str]]:
    return [(t.last_before, t.first_after) for t in finding.transitions]


class TestDescend:
    def test_from_releases_to_nights_to_the_commit(self, world: FakeServices, tmp_path: Path):
        finding = search(world, tmp_path, Channel.STABLE, Channel.NIGHTLY, Channel.COMMIT)
        (nights,) = finding.stages
        (commits,) = nights.stages
        assert sides(finding) == [("3.9.0", "3.10.0")]
        assert sides(nights) == [(NIGHTS[BROKEN - 1].version, NIGHTS[BROKEN].version)]
        assert sides(commits) == [(COMMITS[CULPRIT - 1].version, COMMITS[CULPRIT].version)]
        assert (finding.question.package, nights.question.package, commits.question.package) == (
            "keras",
            "keras-nightly",
            "keras",
        )

    def test_from_releases_to_the_commit_directly(self, world: FakeServices, tmp_path: Path):
        finding = search(world, tmp_path, Channel.STABLE, Channel.COMMIT)
        assert [sides(one) for one in finding.stages] == [[(COMMITS[CULPRIT - 1].version, COMMITS[CULPRIT].version)]]

    def test_each_finer_search_asks_for_the_symptom_of_its_transition_beside_the_same_companions(
        self, world: FakeServices, tmp_path: Path
    ):
        finding = search(world, tmp_path, Channel.STABLE, Channel.NIGHTLY)
        (nights,) = finding.stages
        assert nights.question.symptoms == (finding.transitions[0].symptom,)
        assert nights.environment.companions == finding.environment.companions == ("tensorflow==1.0",)
        assert "tensorflow==1.0" in nights.reproduce

    def test_it_lies_in_the_folder_of_the_coarser_one_and_both_are_reported(self, world: FakeServices, tmp_path: Path):
        finding = search(world, tmp_path, Channel.STABLE, Channel.NIGHTLY)
        place = tmp_path / "run" / FOLDER / "nonfinite-metric-3.9.0-3.10.0"
        assert world.runs.below(tmp_path / "run" / FOLDER) == [place]
        assert set(world.reports.findings) == {tmp_path / "run", place}
        assert repr(world.reports.findings[tmp_path / "run"]) == repr(finding)

    def test_without_a_transition_nothing_finer_is_searched(self, world: FakeServices, tmp_path: Path):
        world.table.shown["3.10.0"] = "good"
        assert search(world, tmp_path, Channel.STABLE, Channel.NIGHTLY).stages == ()

    def test_what_is_searched_is_told(self, world: FakeServices, tmp_path: Path):
        heard = Heard()
        search(world, tmp_path, Channel.STABLE, Channel.NIGHTLY, heard=heard)
        assert [e.detail for e in heard.events if e.kind is EventKind.MESSAGE] == [
            f"nonfinite-metric: keras-nightly {NIGHTS[10].version} to {NIGHTS[40].version}"
        ]


class TestWider:
    def test_a_change_that_is_older_than_the_release_before_is_looked_for_where_its_branch_was_cut(
        self, world: FakeServices, tmp_path: Path
    ):
        """A patch release is younger than the change and does not have it."""
        world.table.shown |= {r.version: "good" if day < 5 else "nan" for day, r in enumerate(NIGHTS)}
        finding = search(world, tmp_path, Channel.STABLE, Channel.NIGHTLY)
        likely, wider = finding.stages
        assert sides(likely) == []
        assert sides(wider) == [(NIGHTS[4].version, NIGHTS[5].version)]
        assert wider.question.first == NIGHTS[0].version
        assert [p.name for p in world.runs.below(tmp_path / "run" / FOLDER)][1].endswith("-wider")

    def test_a_change_that_no_span_shows_leaves_the_finer_searches_without_one(
        self, world: FakeServices, tmp_path: Path
    ):
        world.table.shown |= dict.fromkeys((r.version for r in NIGHTS), "good")
        finding = search(world, tmp_path, Channel.STABLE, Channel.NIGHTLY)
        assert [sides(one) for one in finding.stages] == [[], []]
        assert sides(finding) == [("3.9.0", "3.10.0")]

    def test_a_wider_span_that_has_no_more_builds_is_not_searched_again(self, world: FakeServices, tmp_path: Path):
        """The index keeps nightlies for some weeks only."""
        world.index.published = [*STABLE, *NIGHTS[15:]]
        world.table.shown |= dict.fromkeys((r.version for r in NIGHTS), "good")
        assert len(search(world, tmp_path, Channel.STABLE, Channel.NIGHTLY).stages) == 1

    def test_where_the_likely_span_has_it_nothing_wider_is_run(self, world: FakeServices, tmp_path: Path):
        search(world, tmp_path, Channel.STABLE, Channel.NIGHTLY)
        assert not {r.version for r in NIGHTS[:10]} & {t.release for t in world.table.ran}

    def test_between_two_builds_without_a_commit_the_days_around_are_searched(
        self, world: FakeServices, tmp_path: Path
    ):
        """A build may have been made of older sources than its day says."""
        world.commits = (*COMMITS[: CULPRIT - 3], COMMITS[CULPRIT + 3])
        shown = {c.version: "good" for c in COMMITS[: CULPRIT - 4]} | {c.version: "nan" for c in COMMITS[CULPRIT - 4 :]}
        world.table.shown |= shown
        first, last = NIGHTS[BROKEN - 1].version, NIGHTS[BROKEN].version
        finding = search(world, tmp_path, Channel.NIGHTLY, Channel.COMMIT, first=first, last=last)
        assert [sides(one) for one in finding.stages] == [
            [(COMMITS[CULPRIT - 5].version, COMMITS[CULPRIT - 4].version)]
        ]


class TestFailures:
    def test_what_cannot_be_searched_is_a_warning_and_the_coarser_answer_stands(
        self, world: FakeServices, tmp_path: Path
    ):
        world.commits = (commit(500, on(-90)), commit(501, on(-60)))
        heard = Heard()
        finding = search(world, tmp_path, Channel.STABLE, Channel.COMMIT, heard=heard)
        (warning,) = [e.detail for e in heard.events if e.kind is EventKind.WARNING]
        assert warning.startswith("3.9.0 -> 3.10.0: the clone has no commit between ")
        assert f"it ends with {world.commits[1].version[:12]} of 2024-12-31" in warning
        assert (sides(finding), finding.stages) == ([("3.9.0", "3.10.0")], ())

    def test_releases_without_dates_have_nothing_between_them(self, world: FakeServices, tmp_path: Path):
        world.index.published[:2] = [Release(package="keras", version=v) for v in ("3.9.0", "3.10.0")]
        heard = Heard()
        search(world, tmp_path, Channel.STABLE, Channel.NIGHTLY, heard=heard)
        (warning,) = [e.detail for e in heard.events if e.kind is EventKind.WARNING]
        assert "its releases have no dates to search between" in warning

    def test_a_fault_of_the_machine_ends_it(self, world: FakeServices, tmp_path: Path):
        world.built.failures[NIGHTS[10].version] = InfrastructureError("disk full")
        with pytest.raises(InfrastructureError, match="disk full"):
            search(world, tmp_path, Channel.STABLE, Channel.NIGHTLY)

    def test_a_finer_search_that_is_interrupted_is_gone_on_with(self, world: FakeServices, tmp_path: Path):
        """What is interrupted inside is interrupted as a whole, and nothing that is finished runs again."""
        world.built.failures[NIGHTS[BROKEN].version] = KeyboardInterrupt()
        with pytest.raises(Interrupted) as stopped:
            search(world, tmp_path, Channel.STABLE, Channel.NIGHTLY)
        command = "harness bisect identity --from 3.9.0 --to 3.10.0 --channel stable,nightly"
        assert stopped.value.resume == f"{command} --resume {tmp_path / 'run'}"
        assert stopped.value.finished == len(world.runs.read(world.runs.below(tmp_path / "run" / FOLDER)[0])[1]) > 0
        world.built.failures.clear()
        before, world.table.ran = set(world.table.ran), []
        finding = search(world, tmp_path, Channel.STABLE, Channel.NIGHTLY, output=None, resume=tmp_path / "run")
        assert sides(finding.stages[0]) == [(NIGHTS[BROKEN - 1].version, NIGHTS[BROKEN].version)]
        assert not before & set(world.table.ran)


class TestReportAgain:
    def test_the_journals_alone_give_the_same_finding(self, world: FakeServices, tmp_path: Path):
        finding = search(world, tmp_path, Channel.STABLE, Channel.NIGHTLY, Channel.COMMIT)
        world.reports.findings.clear()
        again, folder = report_again(world, ReportRequest(run=tmp_path / "run"))
        assert repr(again) == repr(finding)
        assert world.reports.findings == {folder: again}

    def test_a_run_is_found_by_its_id(self, world: FakeServices, tmp_path: Path):
        search(world, tmp_path, Channel.STABLE, output=tmp_path / "reports" / "some-run")
        _, folder = report_again(world, ReportRequest(run=Path("some-run")))
        assert folder == Path("reports/some-run")

    def test_a_folder_without_a_run_is_refused(self, world: FakeServices, tmp_path: Path):
        with pytest.raises(UsageError):
            report_again(world, ReportRequest(run=tmp_path / "gone"))


def test_a_changed_value_is_the_same_change_whatever_it_is_called_on_the_finer_channel():
    change = Transition(symptom=Symptom.CHANGED_VALUE, kind=Kind.CHANGE, last_before="1", first_after="2")
    assert _same_change(replace(change, kind=Kind.REGRESSION), change)
    raised = replace(change, symptom=Symptom.EXCEPTION, kind=Kind.REGRESSION)
    assert _same_change(raised, raised)
    assert not _same_change(replace(raised, kind=Kind.RECOVERY), raised)
