"""Nights and replays as whole jobs, over a small real world and the real journal of nights."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from harness.adapters.storage.nightly_journal import FileNightlyJournal
from harness.domain.cases.backends import Backend
from harness.domain.errors import Interrupted, UsageError
from harness.domain.nightly.alerts import nightly_history
from harness.domain.nightly.expectations import AwaitedFix, Expectations
from harness.domain.nightly.nights import NightRecord
from harness.domain.releases.release import Channel, Release
from harness.jobs.events import EventKind
from harness.jobs.nightly.night_run import run_nights
from harness.jobs.requests import NightlyRequest
from tests.examples import case
from tests.fakes import FakeServices, Heard, TableTrials
from tests.nights import NAN, STABLE, START, builds

NIGHTS = builds(20)
BAD_SINCE = 8
SHOWN = {night.version: "good" if day < BAD_SINCE else "nan" for day, night in enumerate(NIGHTS)} | {
    "3.6.0": "good",
    "3.5.0": "nan",
}


@pytest.fixture
def world(tmp_path: Path) -> FakeServices:
    """Twenty nights, NaN since the ninth."""
    cases = [case(), case(name="tf", package="tensorflow")]
    return FakeServices(tmp_path, cases, [*STABLE, *NIGHTS], TableTrials(SHOWN))


def run(world: FakeServices, folder: Path, heard: Heard | None = None, **changes: object) -> list[NightRecord]:
    """Run nights on the state below the folder; returns their records."""
    state = folder / "state"
    state.mkdir(exist_ok=True)
    request = NightlyRequest(**{"state": state, "jobs": 1, **changes})  # type: ignore[arg-type]
    return list(run_nights(world, request, FileNightlyJournal(state), heard or Heard()))


def replay(world: FakeServices, folder: Path, first: int, last: int, **changes: object) -> list[NightRecord]:
    days = [f"{START + timedelta(days=day):%Y-%m-%d}" for day in (first, last)]
    return run(world, folder, None, since=days[0], until=days[1], **changes)


def words(records: Sequence[NightRecord]) -> list[str]:
    """What each night says of NaN."""
    judged = [one for night in nightly_history(records).nights for one in night.judged]
    return [one.status.value for one in judged if one.symptom is NAN]


class TestReplay:
    def test_each_night_is_told_as_it_would_have_been_seen(self, world: FakeServices, tmp_path: Path) -> None:
        records = replay(world, tmp_path, 5, 10)
        assert [r.night for r in records] == [f"2024-11-{day:02}" for day in range(6, 12)]
        assert words(records) == ["as expected"] * 3 + ["new"] + ["still bad"] * 2
        assert all(r.simulated for r in records)

    def test_the_change_is_brought_down_to_its_night(self, world: FakeServices, tmp_path: Path) -> None:
        found = [one for record in replay(world, tmp_path, 5, 10) for one in record.narrowed]
        assert [(one.last_before, one.first_after) for one in found] == [
            (NIGHTS[BAD_SINCE - 1].version, NIGHTS[BAD_SINCE].version)
        ]

    def test_few_nights_are_run_and_the_others_say_so(self, world: FakeServices, tmp_path: Path) -> None:
        records = replay(world, tmp_path, 0, 19)
        inferred = [look.inferred for record in records for seen in record.cases for look in seen.nightly[:1]]
        assert len(records) == 20
        assert any(inferred)
        assert len({t.release for t in world.table.ran if t.release in SHOWN}) < 20

    def test_the_journal_s_nights_are_not_replayed_again(self, world: FakeServices, tmp_path: Path) -> None:
        first = replay(world, tmp_path, 5, 10)
        state = tmp_path / "state"
        lines = (state / "nights.jsonl").read_text().splitlines(keepends=True)
        (state / "nights.jsonl").write_text("".join(lines[:8]))  # two lines a night: the last two are lost
        world.table.ran = []
        again = replay(world, tmp_path, 5, 10)
        assert [r.night for r in again] == ["2024-11-10", "2024-11-11"]
        assert words([*first[:4], *again]) == words(first)
        assert replay(world, tmp_path, 5, 10) == []

    def test_one_that_is_interrupted_loses_no_night(self, world: FakeServices, tmp_path: Path) -> None:
        state = tmp_path / "state"
        state.mkdir()
        request = NightlyRequest(state=state, jobs=1, since="2024-11-06", until="2024-11-09")
        nights = run_nights(world, request, FileNightlyJournal(state), Heard())
        first = next(nights)
        del nights  # what Ctrl-C does to a loop over it
        assert FileNightlyJournal(state).records() == (first,)
        assert [r.night for r in replay(world, tmp_path, 5, 8)] == ["2024-11-07", "2024-11-08", "2024-11-09"]

    def test_a_search_that_is_interrupted_says_so_and_goes_on(self, world: FakeServices, tmp_path: Path) -> None:
        world.built.failures[NIGHTS[6].version] = KeyboardInterrupt()
        with pytest.raises(Interrupted):
            replay(world, tmp_path, 5, 10)
        world.built.failures.clear()
        before, world.table.ran = set(world.table.ran), []
        assert words(replay(world, tmp_path, 5, 10)) == ["as expected"] * 3 + ["new"] + ["still bad"] * 2
        assert not {t for t in before if t.release in SHOWN and t.release != "3.6.0"} & set(world.table.ran)

    def test_the_control_is_the_release_that_was_the_newest_then(self, world: FakeServices, tmp_path: Path) -> None:
        late = Release(package="keras", version="3.6.1", released=START + timedelta(days=6, hours=1))
        old = Release(package="keras", version="3.5.0", released=START - timedelta(days=90))
        rc = Release(package="keras", version="3.7.0rc0", released=START - timedelta(days=1))
        world.index.published += [late, old, rc]
        world.table.shown |= {"3.6.1": "good"}
        records = replay(world, tmp_path, 5, 7)
        assert [r.control for r in records] == ["3.6.0", "3.6.0", "3.6.1"]
        assert {t.release for t in world.table.ran} & {"3.5.0", "3.7.0rc0"} == set()

    def test_what_is_waited_for_tonight_is_not_looked_for_in_the_past(
        self, world: FakeServices, tmp_path: Path
    ) -> None:
        world.shelf.known = Expectations(watches=(AwaitedFix(case="identity", symptom=NAN, broken="3.5.0"),))
        assert [r.watched for r in replay(world, tmp_path, 5, 6)] == [(), ()]

    @pytest.mark.parametrize(
        ("since", "until", "what"),
        [("2024-11-10", "2024-11-09", "comes after"), ("soon", "2024-11-09", "is not a day")],
    )
    def test_wrong_days_are_refused(
        self, world: FakeServices, tmp_path: Path, since: str, until: str, what: str
    ) -> None:
        with pytest.raises(UsageError, match=what):
            run(world, tmp_path, since=since, until=until)


class TestTonight:
    @pytest.fixture
    def tonight(self, world: FakeServices) -> FakeServices:
        """The index has a build of today; yesterday's was good."""
        today = datetime.now(timezone.utc)
        build = Release(
            package="keras-nightly",
            version=f"3.7.0.dev{today:%Y%m%d}03",
            channel=Channel.NIGHTLY,
            released=today - timedelta(hours=1),
        )
        world.index.published.append(build)
        world.table.shown[build.version] = "good"
        return world

    def test_the_newest_build_runs_beside_the_newest_stable_release(
        self, tonight: FakeServices, tmp_path: Path
    ) -> None:
        heard = Heard()
        (record,) = run(tonight, tmp_path, heard)
        assert (record.nightly, record.control) == (tonight.index.published[-1].version, "3.6.0")
        assert words([record]) == ["as expected"]
        assert not record.simulated
        assert {t.release for t in tonight.table.ran} == {record.nightly, record.control}
        assert {fresh for fresh, _, _ in tonight.began} == {True}  # a cached trial would say nothing of tonight
        assert [e.release for e in heard.events if e.kind is EventKind.CASE] == ["identity"]

    def test_it_is_in_the_journal(self, tonight: FakeServices, tmp_path: Path) -> None:
        (record,) = run(tonight, tmp_path)
        assert FileNightlyJournal(tmp_path / "state").records() == (record,)

    def test_cases_of_other_packages_are_named_and_left_out(self, tonight: FakeServices, tmp_path: Path) -> None:
        (record,) = run(tonight, tmp_path)
        assert record.notes == ("tf is a case of tensorflow and was left out",)

    def test_another_backend_has_its_own_cases_and_no_expectations(self, tonight: FakeServices, tmp_path: Path) -> None:
        tonight.shelf.known = Expectations(watches=(AwaitedFix(case="identity", symptom=NAN, broken="3.5.0"),))
        tonight.shelf.cases["bound"] = case(name="bound", path="bound.py", text="import tensorflow\n")
        (record,) = run(tonight, tmp_path, backend=Backend.JAX)
        assert record.notes[1:] == ("bound imports another framework and was left out",)
        assert record.watched == ()

    def test_without_any_case_of_keras_it_is_refused(self, tonight: FakeServices, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="no case is left to run"):
            run(tonight, tmp_path, cases=("tf",))

    def test_a_fix_that_is_waited_for_is_looked_for(self, tonight: FakeServices, tmp_path: Path) -> None:
        tonight.shelf.known = Expectations(watches=(AwaitedFix(case="identity", symptom=NAN, broken="3.5.0"),))
        (record,) = run(tonight, tmp_path)
        assert [(one.broken, one.answer) for one in record.watched] == [("3.5.0", "yes")]

    def test_a_page_that_could_not_be_renewed_is_a_fault_of_the_night(
        self, tonight: FakeServices, tmp_path: Path
    ) -> None:
        tonight.index.stale_reason = "the index does not answer"
        (record,) = run(tonight, tmp_path)
        assert (record.fault, record.cases) == ("the index does not answer", ())

    def test_nightlies_of_tensorflow_are_held_against_this_machine_s_tensorflow(
        self, tonight: FakeServices, tmp_path: Path
    ) -> None:
        build = tonight.index.published[-1]
        tonight.index.published += [
            Release(package="tf-nightly", version=build.version, channel=Channel.NIGHTLY, released=build.released),
            Release(package="tensorflow-cpu", version="2.18.1", released=START),
        ]
        tonight.table.shown["2.18.1"] = "good"
        (record,) = run(tonight, tmp_path, package="tf-nightly")
        assert (record.nightly, record.control) == (build.version, "2.18.1")
        assert words([record]) == ["as expected"]
