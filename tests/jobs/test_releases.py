"""Listing the timeline of a package, and what the source of each release says beside live variables."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.domain.errors import HarnessError, InfrastructureError, Interrupted, UsageError
from harness.domain.releases.aggregation import CORE_FILE, FILES, METRIC_FILE
from harness.domain.releases.companions import Mode
from harness.domain.releases.release import Order
from harness.domain.trials.observation import Observation, VariableFacts
from harness.jobs.events import EventKind
from harness.jobs.releases import by_role, list_releases, read_aggregation
from harness.jobs.requests import AggregationRequest, ReleasesRequest
from tests.domain.releases.test_aggregation import MAPPED
from tests.examples import case, observation, release
from tests.fakes import FakeServices, Heard, TableTrials, untestable
from tests.nights import builds
from tests.offline import PUBLISHED


@pytest.fixture
def listed_world(tmp_path: Path) -> FakeServices:
    return FakeServices(tmp_path, [], [*PUBLISHED, *builds(3)])


def test_every_release_of_the_range_is_listed_for_the_pythons_of_this_machine(listed_world: FakeServices):
    listing = list_releases(listed_world, ReleasesRequest(first="3.6.0"), Heard())
    assert (listing.package, listing.order, listing.left_out) == ("keras", Order.VERSION, 1)
    assert {row.version: row.usable for row in listing.releases} == {
        "3.6.0": "yes, on Python 3.11",
        "3.6.1": "left out: yanked: forgot a file",
        "3.7.0": "yes, on Python 3.11",
        "3.9.9": "yes, on Python 3.11",
        "3.10.0": "no: no Python >=3.20 here",
    }


def test_without_a_range_everything_is_listed_by_the_order_asked_for(listed_world: FakeServices):
    listing = list_releases(listed_world, ReleasesRequest(order=Order.DATE), Heard())
    assert listing.order is Order.DATE
    assert {row.version for row in listing.releases} == {r.version for r in PUBLISHED}


def test_nightlies_are_listed_from_the_first_build_on(listed_world: FakeServices):
    listing = list_releases(listed_world, ReleasesRequest(package="keras-nightly"), Heard())
    assert [row.version for row in listing.releases] == [build.version for build in builds(3)]


def test_a_stale_page_is_warned_of(listed_world: FakeServices):
    listed_world.index.stale_reason, heard = "the index does not answer", Heard()
    list_releases(listed_world, ReleasesRequest(), heard)
    assert [(e.kind, e.detail) for e in heard.events] == [(EventKind.WARNING, "the index does not answer")]


def test_a_range_that_runs_backwards_is_refused(listed_world: FakeServices):
    with pytest.raises(UsageError, match="comes after"):
        list_releases(listed_world, ReleasesRequest(first="3.7.0", last="3.5.0"), Heard())


METRIC = 'def add_variable(self, aggregation="sum"):\n    return backend.Variable(aggregation=aggregation)\n'
SOURCE = {CORE_FILE: MAPPED, METRIC_FILE: METRIC, "keras/src/other.py": "1 / 0"}


def variable(role: str = "metric", aggregation: str = "SUM", synchronization: str = "ON_WRITE") -> VariableFacts:
    return VariableFacts(
        path="total",
        role=role,
        dtype="float32",
        shape=(),
        aggregation=aggregation,
        synchronization=synchronization,
    )


class VariableTrials(TableTrials):
    """Every trial has one metric variable."""

    def __init__(self, aggregation: str) -> None:
        super().__init__({})
        self.aggregation = aggregation

    def _observe(self, case, trial) -> Observation:
        return observation(variables=(variable(aggregation=self.aggregation),))


@pytest.fixture
def world(tmp_path: Path) -> FakeServices:
    published = [
        release("2.15.0", day=0),
        release("3.0.0", day=1),
        release("3.1.0rc0", day=2),
        release("3.1.0"),
        release("3.2.0", day=9),
        *builds(3),
    ]
    made = FakeServices(tmp_path, [case()], published, VariableTrials("SUM"))
    made.index.files = {"3.0.0": {CORE_FILE: ""}, "3.1.0": SOURCE, "3.2.0": {}}
    return made


class TestSource:
    def test_each_stable_release_since_the_third_keras_is_read(self, world: FakeServices):
        facts = read_aggregation(world, AggregationRequest(), Heard())
        assert [(one.source.version, one.released) for one in facts] == [
            ("3.0.0", "2024-01-02"),
            ("3.1.0", None),
            ("3.2.0", "2024-01-10"),
        ]
        assert facts[1].source.aggregation == {"none": "NONE", "sum": "SUM", "mean": "MEAN"}
        assert all((one.live, one.disagreement) == (None, "") for one in facts)
        assert world.built.prepared == []  # no TensorFlow is needed

    def test_the_range_and_the_order_are_those_asked_for(self, world: FakeServices):
        request = AggregationRequest(first="2.15.0", last="3.1.0", order=Order.DATE)
        facts = read_aggregation(world, request, Heard())
        assert [one.source.version for one in facts] == ["2.15.0", "3.0.0", "3.1.0"]

    @pytest.mark.parametrize(
        ("version", "problem"),
        [("2.15.0", "no wheel on the index"), ("3.2.0", "the wheel of keras 3.2.0 cannot be read")],
    )
    def test_a_release_that_cannot_be_read_says_why_and_the_others_go_on(
        self, world: FakeServices, version: str, problem: str
    ):
        facts = read_aggregation(world, AggregationRequest(first="2.15.0"), Heard())
        assert {one.source.version: one.source.problem for one in facts}[version] == problem
        assert len(facts) == 4

    def test_only_the_files_that_say_something_are_asked_for(self, world: FakeServices):
        wheel = world.index.page("keras").wheels["3.1.0"]
        assert set(world.index.wheel_files("keras", "3.1.0", wheel, FILES)) == {CORE_FILE, METRIC_FILE}

    @pytest.mark.parametrize(
        ("first", "last", "days"),
        [(None, "latest", [1, 2, 3]), ("3.7.0.dev2024110203", "latest", [2, 3]), (None, "3.7.0.dev2024110203", [1, 2])],
    )
    def test_nightlies_are_pre_releases_all_and_none_is_left_out(
        self, world: FakeServices, first: str | None, last: str, days: list[int]
    ):
        request = AggregationRequest(package="keras-nightly", first=first, last=last)
        facts = read_aggregation(world, request, Heard())
        assert [one.source.version for one in facts] == [f"3.7.0.dev2024110{day}03" for day in days]

    def test_a_bound_that_is_no_version_is_refused_by_its_option(self, world: FakeServices):
        with pytest.raises(UsageError, match="is not a version") as refused:
            read_aggregation(world, AggregationRequest(package="keras-nightly", first="soon"), Heard())
        assert refused.value.where == "--from"

    def test_a_stale_page_is_warned_of(self, world: FakeServices):
        world.index.stale_reason, heard = "the index does not answer", Heard()
        read_aggregation(world, AggregationRequest(), heard)
        assert [e.detail for e in heard.events if e.kind is EventKind.WARNING] == ["the index does not answer"]


class TestLive:
    REQUEST = AggregationRequest(first="3.1.0", last="3.1.0", live=True, mode=Mode.AS_OF)

    def test_the_identity_model_is_trained_and_its_variables_compared(self, world: FakeServices):
        (facts,) = read_aggregation(world, self.REQUEST, Heard())
        assert (facts.live, facts.disagreement) == ({"metric": ["SUM/ON_WRITE"]}, "")
        assert world.built.prepared == ["3.1.0"]

    def test_companions_are_held_fixed_whatever_was_asked(self, world: FakeServices):
        read_aggregation(world, self.REQUEST, Heard())
        assert [one.mode for one in world.chosen] == [Mode.FIXED]

    def test_a_disagreement_is_told(self, world: FakeServices):
        world.table = VariableTrials("NONE")
        (facts,) = read_aggregation(world, self.REQUEST, Heard())
        assert facts.disagreement == "metric variables: the source says SUM/ON_WRITE, live they are NONE/ON_WRITE"

    def test_a_release_that_cannot_be_run_says_why(self, world: FakeServices):
        world.built.failures |= untestable("3.1.0")
        (facts,) = read_aggregation(world, self.REQUEST, Heard())
        assert (facts.live, facts.disagreement) == ({}, "live: 3.1.0: no wheel for this Python")
        assert facts.source.aggregation is not None

    @pytest.mark.parametrize("end", [InfrastructureError("disk full"), Interrupted()])
    def test_a_fault_of_the_machine_and_the_user_s_stop_end_it(self, world: FakeServices, end: HarnessError):
        world.built.failures["3.1.0"] = end
        with pytest.raises(type(end)):
            read_aggregation(world, self.REQUEST, Heard())


def test_each_kind_of_variable_is_told_once_by_its_role():
    seen = observation(
        variables=(variable(), variable(), variable(aggregation="MEAN"), variable("model", "NONE", "AUTO"))
    )
    assert by_role(seen) == {"metric": ["SUM/ON_WRITE", "MEAN/ON_WRITE"], "model": ["NONE/AUTO"]}
