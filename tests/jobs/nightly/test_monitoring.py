"""The monitor over small real objects: an index in memory, a runner that reads a table, a journal in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta

import pytest

from harness.domain.cases.case import Case
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import HarnessError, InfrastructureError, Interrupted, Untestable
from harness.domain.nightly.alerts import NightlyHistory, nightly_history
from harness.domain.nightly.expectations import AwaitedFix, Expectation, Expectations
from harness.domain.nightly.nights import CaseResult, FixStatus, Narrowed, NightRecord
from harness.domain.releases.nightlies import day_of
from harness.domain.releases.release import Channel, Release, Timeline
from harness.domain.verdicts.verdict import Outcome
from harness.jobs.nightly.monitoring import NightlyPlan, NightlyServices, monitor
from tests.examples import case
from tests.fakes import Heard
from tests.nights import BAD, GOOD, NAN, STABLE, START, builds, look


class TableIndex:
    """Publishes what it is given; on some days it does not answer."""

    def __init__(self, published: Mapping[str, Sequence[Release]]) -> None:
        self.published = dict(published)
        self.down = False

    def releases(self, package: str) -> Sequence[Release]:
        if self.down:
            raise InfrastructureError("the package index does not answer")
        return self.published[package]


class TableRunner:
    """Answers by case, release and repeat."""

    def __init__(self, answer: Callable[[str, Release, int], CaseResult]) -> None:
        self.answer = answer
        self.ran: list[tuple[str, str, int]] = []

    def look(self, case: Case, release: Release, repeat: int) -> CaseResult:
        self.ran.append((case.name, release.version, repeat))
        return self.answer(case.name, release, repeat)


class LastPair:
    """Narrows to the last two releases, and remembers what it was given."""

    def __init__(self, failure: HarnessError | None = None) -> None:
        self.given: list[Timeline] = []
        self.failure = failure

    def narrow(self, case: Case, symptom: Symptom, timeline: Timeline, *, turns_bad: bool) -> Narrowed:
        self.given.append(timeline)
        if self.failure:
            raise self.failure
        before, after = timeline.versions[-2:]
        return Narrowed(
            case=case.name, symptom=symptom, turns_bad=turns_bad, last_before=before, first_after=after, confirmed=True
        )


class Answered:
    """Says yes, or fails."""

    def __init__(self, failure: HarnessError | None = None) -> None:
        self.failure = failure

    def check(self, watch: AwaitedFix, case: Case, release: Release) -> FixStatus:
        if self.failure:
            raise self.failure
        return FixStatus(case=case.name, symptom=watch.symptom, broken=watch.broken, answer="yes")


class MemoryNights:
    """A journal that a test can look into; a night can be killed in it."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.written: dict[str, NightRecord] = {}

    def begin(self, night: str, moment: datetime) -> None:
        self.begun.append(night)

    def end(self, record: NightRecord) -> None:
        self.written[record.night] = record

    def records(self) -> Sequence[NightRecord]:
        return [self.written[night] for night in sorted(self.written)]


def bad_since(first: date, last: date = date.max) -> Callable[[str, Release, int], CaseResult]:
    def answer(name: str, release: Release, repeat: int) -> CaseResult:
        day = day_of(release) if release.channel is Channel.NIGHTLY else None
        return BAD if day and first <= day <= last else GOOD

    return answer


class World:
    """One monitor with everything around it; `pass_nights` lets nights pass."""

    def __init__(self, answer: Callable[[str, Release, int], CaseResult], *, days: int = 40, **changes: object) -> None:
        self.index = TableIndex({"keras-nightly": builds(days), "keras": STABLE})
        self.runner, self.narrower, self.fixes = TableRunner(answer), LastPair(), Answered()
        self.journal, self.heard = MemoryNights(), Heard()
        given: dict[str, object] = {
            "package": "keras-nightly",
            "control_package": "keras",
            "cases": (case(),),
            "expectations": Expectations(),
        }
        self.plan = NightlyPlan(**{**given, **changes})  # type: ignore[arg-type]

    @property
    def tools(self) -> NightlyServices:
        return NightlyServices(
            index=self.index, runner=self.runner, narrower=self.narrower, fixes=self.fixes, listener=self.heard
        )

    def pass_nights(self, *days: int) -> NightlyHistory:
        moments = [START + timedelta(days=day) for day in days]
        for _ in monitor(self.plan, moments, self.tools, self.journal):
            pass
        return nightly_history(self.journal.records())


def words(history: NightlyHistory) -> list[str]:
    return [one.status.value for night in history.nights for one in night.judged]


def test_a_quiet_night_costs_one_run_of_each() -> None:
    world = World(bad_since(date.max))
    assert words(world.pass_nights(0)) == ["as expected"]
    assert sorted(world.runner.ran) == [("identity", "3.6.0", 0), ("identity", "3.7.0.dev2024110103", 0)]


def test_a_change_is_confirmed_by_fresh_runs_and_a_second_run_of_the_control() -> None:
    world = World(bad_since(date(2024, 11, 3)))
    history = world.pass_nights(0, 1, 2, 3)
    assert words(history) == ["as expected", "as expected", "new", "still bad"]
    night = [(version, repeat) for _, version, repeat in world.runner.ran[4:9]]
    assert sorted(night) == [
        ("3.6.0", 0),
        ("3.6.0", 1),
        ("3.7.0.dev2024110303", 0),
        ("3.7.0.dev2024110303", 1),
        ("3.7.0.dev2024110303", 2),
    ]
    assert len(world.runner.ran) == 4 + 5 + 2


def test_neighbouring_nights_need_no_search_and_a_gap_does() -> None:
    world = World(bad_since(date(2024, 11, 3)))
    (found,) = world.pass_nights(1, 2).nights[-1].record.narrowed
    assert (found.last_before, found.first_after, found.confirmed) == (
        "3.7.0.dev2024110203",
        "3.7.0.dev2024110303",
        True,
    )
    assert world.narrower.given == []
    later = World(bad_since(date(2024, 11, 3)))
    later.pass_nights(1, 9)
    (timeline,) = later.narrower.given
    assert (timeline.versions[0], timeline.versions[-1]) == ("3.7.0.dev2024110203", "3.7.0.dev2024111003")


def test_on_the_first_night_the_search_begins_at_the_control() -> None:
    world = World(bad_since(date(2024, 11, 3)))
    assert words(world.pass_nights(20)) == ["new"]
    assert world.narrower.given[0].versions[0] == "3.7.0.dev2024110103"


def test_a_search_that_fails_keeps_the_alert() -> None:
    world = World(bad_since(date(2024, 11, 3)))
    world.narrower = LastPair(InfrastructureError("the disk is full"))
    history = world.pass_nights(0, 9)
    assert [alert.is_open for alert in history.alerts] == [True]
    assert history.nights[-1].record.narrowed[0].sentence == "not narrowed further: the disk is full"


def test_only_what_existed_on_a_night_is_used() -> None:
    world = World(bad_since(date.max))
    late = Release(package="keras", version="3.7.0", released=START + timedelta(days=5))
    world.index.published["keras"] = [*STABLE, late]
    history = world.pass_nights(4, 6)
    assert [night.record.control for night in history.nights] == ["3.6.0", "3.7.0"]
    assert [night.record.nightly for night in history.nights] == ["3.7.0.dev2024110503", "3.7.0.dev2024110703"]


def test_a_broken_index_neither_opens_nor_closes_and_the_next_night_goes_on() -> None:
    world = World(bad_since(date(2024, 11, 3), date(2024, 11, 6)))
    world.pass_nights(1, 2)
    world.index.down = True
    history = world.pass_nights(3)
    assert history.nights[-1].record.fault == "the package index does not answer"
    assert [alert.is_open for alert in history.alerts] == [True]
    world.index.down = False
    history = world.pass_nights(6, 7, 8)
    assert [alert.is_open for alert in history.alerts] == [False]
    assert [change.status for change in history.alerts[0].changes] == ["new", "fixed", "closed"]


def test_an_empty_index_is_a_fault_and_no_answer() -> None:
    world = World(bad_since(date.max), days=0)
    history = world.pass_nights(0)
    assert "no release of keras-nightly" in history.nights[-1].record.fault
    assert history.alerts == ()


@pytest.mark.parametrize("where", ["keras-nightly", "keras"])
def test_a_red_canary_neither_opens_nor_closes(where: str) -> None:
    red: list[bool] = []

    def answer(name: str, release: Release, repeat: int) -> CaseResult:
        if red and release.package == where:
            raise Untestable("the canary (a tiny one-replica training) is red")
        return bad_since(date(2024, 11, 3), date(2024, 11, 6))(name, release, repeat)

    world = World(answer)
    red.append(True)
    assert world.pass_nights(0, 2).alerts == ()
    red.clear()
    world = World(answer)
    world.pass_nights(1, 2)
    red.append(True)
    history = world.pass_nights(7)
    assert [alert.is_open for alert in history.alerts] == [True]
    assert words(history)[-1] == ("insufficient data" if where == "keras-nightly" else "suspicious")


def test_a_fault_in_one_case_is_no_word_about_the_others() -> None:
    def answer(name: str, release: Release, repeat: int) -> CaseResult:
        if name == "unlucky":
            raise InfrastructureError("the disk is full")
        return GOOD

    world = World(answer, cases=(case(name="unlucky"), case()))
    history = world.pass_nights(0)
    assert [night.record.fault for night in history.nights] == [""]
    assert words(history) == ["infrastructure", "as expected"]
    assert history.nights[0].record.cases[0].nightly[0].fault == "the disk is full"


def test_a_night_that_is_killed_half_way_leaves_nothing_and_the_next_goes_on() -> None:
    class Killed(BaseException):
        pass

    def answer(name: str, release: Release, repeat: int) -> CaseResult:
        if name == "second" and armed:
            raise Killed
        return bad_since(date(2024, 11, 3))(name, release, repeat)

    armed: list[bool] = []
    world = World(answer, cases=(case(), case(name="second")))
    world.pass_nights(1)
    armed.append(True)
    with pytest.raises(Killed):
        world.pass_nights(2)
    assert world.journal.begun == ["2024-11-02", "2024-11-03"]
    assert list(world.journal.written) == ["2024-11-02"]
    armed.clear()
    history = world.pass_nights(3)
    assert words(history)[-2:] == ["new", "new"]


@pytest.mark.parametrize("where", ["index", "runner", "narrower", "fixes"])
def test_a_night_that_is_interrupted_anywhere_is_no_record(where: str) -> None:
    """Ctrl-C is no fault of a release, of the index or of a search: nothing is concluded from it."""

    def answer(name: str, release: Release, repeat: int) -> CaseResult:
        if where == "runner" and stopped:
            raise Interrupted
        return bad_since(date(2024, 11, 3))(name, release, repeat)

    class Stopping(TableIndex):
        def releases(self, package: str) -> Sequence[Release]:
            if where == "index" and stopped:
                raise Interrupted
            return super().releases(package)

    stopped: list[bool] = []
    watch = AwaitedFix(case="identity", symptom=NAN, broken="3.9.2")
    world = World(answer, expectations=Expectations(watches=(watch,)))
    world.index = Stopping(world.index.published)
    world.pass_nights(1)
    stopped.append(True)
    if where == "narrower":
        world.narrower = LastPair(Interrupted())
    if where == "fixes":
        world.fixes = Answered(Interrupted())
    with pytest.raises(Interrupted):
        world.pass_nights(9)
    assert list(world.journal.written) == ["2024-11-02"]
    stopped.clear()
    world.narrower, world.fixes = LastPair(), Answered()
    assert words(world.pass_nights(9))[-1] == "new"


def test_a_night_repeated_on_the_same_day_replaces_the_earlier_one() -> None:
    world = World(bad_since(date(2024, 11, 3)))
    history = world.pass_nights(1, 2)
    again = world.pass_nights(2)
    assert [night.judged for night in again.nights] == [night.judged for night in history.nights]


def test_what_is_recorded_is_no_alert_until_it_is_over() -> None:
    known = Expectation(
        case="identity", symptom=NAN, range=">=3.7.0.dev20241103", reason="under review", expires=date(2024, 11, 10)
    )
    world = World(bad_since(date(2024, 11, 3)), expectations=Expectations(expected=(known,)))
    history = world.pass_nights(1, 2, 3)
    assert history.alerts == ()
    history = world.pass_nights(12)
    assert words(history)[-1] == "regressed"
    assert any("expired on 2024-11-10" in note for note in history.nights[-1].record.notes)


def test_a_misspelt_case_in_the_expectations_is_named() -> None:
    known = Expectation(case="identiti", symptom=NAN, range=">=3", reason="a typing error")
    world = World(bad_since(date.max), expectations=Expectations(expected=(known,)))
    (note,) = world.pass_nights(0).nights[0].record.notes
    assert "identiti" in note


def test_watched_fixes_are_answered_and_a_failure_is_told() -> None:
    watch = AwaitedFix(case="identity", symptom=NAN, broken="3.9.2")
    world = World(bad_since(date.max), expectations=Expectations(watches=(watch, replace(watch, case="other"))))
    assert [w.answer for w in world.pass_nights(0).nights[0].record.watched] == ["yes"]
    world.fixes = Answered(Untestable("3.9.2 cannot be installed"))
    (watched,) = world.pass_nights(1).nights[-1].record.watched
    assert (watched.answer, watched.reason) == ("cannot be told", "3.9.2 cannot be installed")


def test_an_index_without_a_recent_build_is_an_alert_of_its_own() -> None:
    world = World(bad_since(date.max), days=2)
    history = world.pass_nights(1, 4, 5, 6)
    assert [(alert.symptom, alert.opened) for alert in history.alerts] == [(None, "2024-11-06")]


def test_flaky_runs_are_told_as_such() -> None:
    def answer(name: str, release: Release, repeat: int) -> CaseResult:
        return BAD if release.package == "keras-nightly" and repeat == 0 else GOOD

    world = World(answer)
    history = world.pass_nights(0)
    assert words(history) == ["flaky"]
    assert "bad in 1 of 3 runs" in history.nights[0].judged[0].reason


def test_a_run_that_fails_while_confirming_ends_the_confirmation() -> None:
    def answer(name: str, release: Release, repeat: int) -> CaseResult:
        if repeat == 1 and release.package == "keras-nightly":
            raise InfrastructureError("the disk is full")
        return BAD if release.package == "keras-nightly" else GOOD

    history = World(answer).pass_nights(0)
    assert words(history) == ["infrastructure"]
    assert history.alerts == ()


def test_hidden_symptoms_stay_untested() -> None:
    hidden = look(Outcome.SKIP, "hidden by exception")

    def answer(name: str, release: Release, repeat: int) -> CaseResult:
        return hidden if release.package == "keras-nightly" else GOOD

    assert words(World(answer).pass_nights(0)) == ["insufficient data"]
