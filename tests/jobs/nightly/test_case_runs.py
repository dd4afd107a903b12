"""What a night needs of the other jobs: one case on one release, a fix looked for, a change narrowed down."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from harness.adapters.storage import case_files
from harness.domain.cases.case import Case
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import InfrastructureError, Untestable, UsageError
from harness.domain.nightly.expectations import AwaitedFix
from harness.domain.releases.companions import Companions, Mode
from harness.domain.releases.index_page import IndexPage
from harness.domain.releases.release import Channel, Release, Timeline
from harness.domain.trials.entry import Entry
from harness.domain.verdicts.verdict import Outcome
from harness.jobs.executor import Attempt, Runner
from harness.jobs.nightly.case_runs import (
    CertainIndex,
    ReleaseFixChecker,
    SearchNarrower,
    SlotRunner,
    search_request,
)
from harness.jobs.preparation import variant_of, with_reference
from harness.jobs.requests import NightlyRequest
from harness.services import CaseLibrary
from tests.examples import case
from tests.fakes import FakeServices, Heard, TableEnvironments, TableTrials, untestable
from tests.nights import NAN, STABLE, builds

NIGHTLY = Release(package="keras-nightly", version="3.9.0.dev2025032003", channel=Channel.NIGHTLY)
WATCH = AwaitedFix(case="some", symptom=NAN, broken="3.9.2", link="https://github.com/keras-team/keras/pull/21072")


@pytest.fixture
def some(tmp_path: Path) -> Case:
    path = tmp_path / "some.py"
    path.write_text(
        '# /// script\n# dependencies = ["keras", "tensorflow"]\n# [tool.harness]\n# title = "some"\n# ///\n'
        "def model(): ...\ndef data(): ...\n"
    )
    return case_files.read(str(path))


@dataclass
class TableAttempts:
    """Attempts over the table of the fakes."""

    shown: dict[str, str]
    blocked: tuple[str, ...] = ()

    def attempt(self, case: Case, release: Release, repeat: int) -> list[Entry]:
        variants = with_reference(case, variant_of(case))
        with ThreadPoolExecutor(1) as pool:
            runner = Runner(
                pool=pool,
                environments=TableEnvironments(untestable(*self.blocked)),
                trials=TableTrials(self.shown),
                listener=Heard(),
            )
            return runner.run(Attempt(case=case, release=release, variants=variants, repeats=(repeat,)))

    def attempt_alone(self, case: Case, release: Release) -> list[Entry]:
        return self.attempt(case, release, 0)

    def for_package(self, case: Case, package: str) -> Case:
        return case_files.read(case.path, package=package)


@pytest.mark.parametrize(
    ("broken", "nightly", "answer"),
    [
        ("nan", "good", "yes"),
        ("nan", "nan", "not yet"),
        ("nan", "wrong", "the symptom is gone, but the values are not right"),
        ("nan", "raises", "not yet: it fails, though in another way"),
        ("good", "good", "cannot be told"),
    ],
)
def test_is_the_fix_in_yet(some: Case, broken: str, nightly: str, answer: str) -> None:
    attempts = TableAttempts({"3.9.2": broken, NIGHTLY.version: nightly})
    status = ReleaseFixChecker(attempts, "keras").check(WATCH, some, NIGHTLY)
    assert (status.answer, status.link) == (answer, WATCH.link)


def test_a_release_that_cannot_be_tested_is_no_answer(some: Case) -> None:
    attempts = TableAttempts({"3.9.2": "nan", NIGHTLY.version: "good"}, blocked=(NIGHTLY.version,))
    status = ReleaseFixChecker(attempts, "keras").check(WATCH, some, NIGHTLY)
    assert status.answer == "cannot be told"
    assert "no wheel" in status.reason


class Pages:
    """An index with one page."""

    def __init__(self, stale_reason: str) -> None:
        self.stale_reason = stale_reason

    def page(self, package: str) -> IndexPage:
        return IndexPage(package=package, fetched=0.0, releases=(NIGHTLY,), stale_reason=self.stale_reason)


def test_a_page_that_could_not_be_renewed_is_a_fault_of_the_night() -> None:
    assert CertainIndex(Pages("")).releases("keras-nightly") == (NIGHTLY,)
    with pytest.raises(InfrastructureError, match="does not answer"):
        CertainIndex(Pages("the index does not answer (no connection)")).releases("keras-nightly")


NIGHTS = builds(9)
LINE = Timeline(releases=tuple(NIGHTS))


def request(**changes: object) -> NightlyRequest:
    return NightlyRequest(**{"jobs": 3, "pins": ("tensorflow==2.18.1",), **changes})  # type: ignore[arg-type]


def test_a_search_that_a_night_starts_asks_as_the_night_does(some: Case) -> None:
    asked = search_request(some, request(python="3.11"), LINE, Path("out"), symptoms=(Symptom.TIMEOUT,), max_gap=7)
    assert (asked.jobs, asked.pins, asked.mode, asked.python) == (3, ("tensorflow==2.18.1",), Mode.FIXED, "3.11")
    assert (asked.first, asked.last) == (NIGHTS[0].version, NIGHTS[-1].version)
    assert (asked.case, asked.symptoms, asked.max_gap) == (some.path, (Symptom.TIMEOUT,), 7)
    assert (asked.output, asked.resume, asked.settings) == (Path("out"), None, ())
    nightly = case_files.read(some.path, package="keras-nightly")
    assert search_request(nightly, request(), LINE, Path("out")).channels == (Channel.NIGHTLY,)


class BoundServices(FakeServices):
    """Notes for which timeline companions are chosen; for some packages there are none."""

    def __init__(self, folder: Path, shown: dict[str, str]) -> None:
        super().__init__(folder, [], [*STABLE, *NIGHTS], TableTrials(shown))
        self.cases = CaseLibrary()
        self.timelines: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = []
        self.without: tuple[str, ...] = ()

    def companions(
        self, cases: Sequence[Case], timeline: Timeline, pins: Sequence[str], mode: Mode, python: str | None
    ) -> Companions:
        package = timeline.releases[0].package
        self.timelines.append((package, timeline.versions, tuple(pins)))
        if package in self.without:
            raise UsageError("nothing fits")
        return super().companions(cases, timeline, pins, mode, python)


class TestSlotRunner:
    TABLE = {night.version: "nan" for night in NIGHTS} | {"3.6.0": "good"}

    def runner(self, world: BoundServices, some: Case, pins: tuple[str, ...] = (), **changes: object) -> SlotRunner:
        given: dict[str, object] = {"fresh": True, **changes}
        return SlotRunner(world, [some], request(pins=pins), ThreadPoolExecutor(1), Heard(), **given)  # type: ignore[arg-type]

    @pytest.fixture
    def world(self, tmp_path: Path) -> BoundServices:
        return BoundServices(tmp_path, dict(self.TABLE))

    def test_the_case_is_judged_on_the_nightly_and_on_the_control(self, world: BoundServices, some: Case) -> None:
        runner = self.runner(world, some)
        assert runner.look(some, NIGHTS[0], 2).verdicts[NAN].outcome is Outcome.BAD
        assert runner.look(some, STABLE[0], 0).verdicts[NAN].outcome is Outcome.GOOD
        assert {(t.release, t.repeat) for t in world.table.ran} == {(NIGHTS[0].version, 2), ("3.6.0", 0)}
        assert {fresh for fresh, _, _ in world.began} == {True}

    def test_the_control_takes_over_the_companions_of_the_nightly(self, world: BoundServices, some: Case) -> None:
        """Both slots differ in the package under test alone; what one pinned and nobody named is left to the other."""
        runner = self.runner(world, some, pins=("numpy==2.0.2",))
        runner.look(some, NIGHTS[0], 0)
        runner.look(some, STABLE[0], 0)
        nightly, control = world.timelines
        assert nightly == ("keras-nightly", (NIGHTS[0].version,), ("numpy==2.0.2",))
        assert control[:2] == ("keras", ("3.6.0",))
        assert set(control[2]) == {"numpy==2.0.2", "tensorflow==1.0"}

    def test_companions_are_chosen_once_for_a_package(self, world: BoundServices, some: Case) -> None:
        runner = self.runner(world, some, timelines={"keras-nightly": LINE})
        for repeat in range(3):
            runner.look(some, NIGHTS[repeat], repeat)
        assert [(package, versions) for package, versions, _ in world.timelines] == [("keras-nightly", LINE.versions)]

    def test_an_old_release_has_companions_of_its_own(self, world: BoundServices, some: Case) -> None:
        runner = self.runner(world, some, pins=("numpy==2.0.2",))
        runner.look(some, NIGHTS[0], 0)
        entries = runner.attempt_alone(runner.for_package(some, "keras"), STABLE[0])
        assert world.timelines[-1] == ("keras", ("3.6.0",), ("numpy==2.0.2",))
        assert [e.finished.trial.repeat for e in entries if e.finished] == [0, 0]

    def test_companions_that_cannot_be_had_are_no_verdict(self, world: BoundServices, some: Case) -> None:
        world.without = ("keras-nightly",)
        with pytest.raises(Untestable, match="its companions cannot be installed: nothing fits"):
            self.runner(world, some).look(some, NIGHTS[0], 0)

    def test_a_release_that_cannot_be_tested_says_why(self, world: BoundServices, some: Case) -> None:
        world.built.failures |= untestable(NIGHTS[0].version)
        found = self.runner(world, some).look(some, NIGHTS[0], 0)
        assert (dict(found.verdicts), found.blocked) == ({}, f"{NIGHTS[0].version}: no wheel for this Python")

    def test_a_fault_of_the_machine_comes_out(self, world: BoundServices, some: Case) -> None:
        world.built.failures[NIGHTS[0].version] = InfrastructureError("disk full")
        with pytest.raises(InfrastructureError, match="disk full"):
            self.runner(world, some).look(some, NIGHTS[0], 0)

    def test_a_replay_takes_what_is_cached(self, world: BoundServices, some: Case) -> None:
        self.runner(world, some, fresh=False).look(some, NIGHTS[0], 0)
        assert world.began == [(False, None, ())]


class TestSearchNarrower:
    WORDS = ["good"] * 4 + ["nan"] * 5

    def narrower(self, folder: Path, words: Sequence[str]) -> tuple[FakeServices, SearchNarrower]:
        shown = dict(zip(LINE.versions, words, strict=True))
        world = FakeServices(folder, [case()], [*STABLE, *NIGHTS], TableTrials(shown))
        return world, SearchNarrower(world, request(jobs=1, pins=()), folder / "night", Heard())

    def test_a_change_is_brought_down_to_two_neighbours(self, tmp_path: Path) -> None:
        world, narrower = self.narrower(tmp_path, self.WORDS)
        found = narrower.narrow(case(), NAN, LINE, turns_bad=True)
        assert (found.last_before, found.first_after) == (NIGHTS[3].version, NIGHTS[4].version)
        assert (found.case, found.symptom, found.turns_bad, found.confirmed) == ("identity", NAN, True, True)
        assert found.folder == str(tmp_path / "night" / "bisect-identity-nonfinite-metric")
        assert f"{NIGHTS[3].version} -> {NIGHTS[4].version}" in found.sentence
        assert world.runs.read(Path(found.folder))[0].question.package == "keras-nightly"

    def test_of_several_changes_the_last_of_its_kind_counts(self, tmp_path: Path) -> None:
        words = ["nan", "good", "good", "nan", "nan", "nan", "good", "good", "good"]
        _, narrower = self.narrower(tmp_path, words)
        found = narrower.narrow(case(), NAN, LINE, turns_bad=False)
        assert (found.last_before, found.first_after) == (NIGHTS[5].version, NIGHTS[6].version)

    def test_a_change_that_is_not_found_is_told_in_a_sentence(self, tmp_path: Path) -> None:
        _, narrower = self.narrower(tmp_path, ["good"] * 9)
        found = narrower.narrow(case(), NAN, LINE, turns_bad=True)
        assert (found.last_before, found.first_after, found.confirmed) == ("", "", False)
        assert found.sentence

    def test_a_second_search_of_a_night_has_a_folder_of_its_own(self, tmp_path: Path) -> None:
        _, narrower = self.narrower(tmp_path, self.WORDS)
        folders = {narrower.narrow(case(), NAN, LINE, turns_bad=True).folder for _ in range(2)}
        assert len(folders) == 2


def test_the_answer_names_the_fix_that_is_waited_for(some: Case) -> None:
    attempts = TableAttempts({"3.9.2": "nan", NIGHTLY.version: "good"})
    status = ReleaseFixChecker(attempts, "keras").check(replace(WATCH, link=""), some, NIGHTLY)
    assert (status.case, status.symptom, status.broken, status.link) == (some.name, NAN, "3.9.2", "")
