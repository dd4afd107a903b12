"""Listing the timeline of a package."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.domain.errors import UsageError
from harness.domain.releases.release import Order
from harness.jobs.protocols import EventKind
from harness.jobs.releases import list_releases
from harness.jobs.requests import ReleasesRequest
from tests.fakes import FakeServices, Heard
from tests.nights import builds
from tests.offline import PUBLISHED


@pytest.fixture
def world(tmp_path: Path) -> FakeServices:
    return FakeServices(tmp_path, [], [*PUBLISHED, *builds(3)])


def test_every_release_of_the_range_is_listed_for_the_pythons_of_this_machine(world: FakeServices):
    listing = list_releases(world, ReleasesRequest(first="3.6.0"), Heard())
    assert (listing.package, listing.order, listing.left_out) == ("keras", Order.VERSION, 1)
    assert {row.version: row.usable for row in listing.releases} == {
        "3.6.0": "yes, on Python 3.11",
        "3.6.1": "left out: yanked: forgot a file",
        "3.7.0": "yes, on Python 3.11",
        "3.9.9": "yes, on Python 3.11",
        "3.10.0": "no: no Python >=3.20 here",
    }


def test_without_a_range_everything_is_listed_by_the_order_asked_for(world: FakeServices):
    listing = list_releases(world, ReleasesRequest(order=Order.DATE), Heard())
    assert listing.order is Order.DATE
    assert {row.version for row in listing.releases} == {r.version for r in PUBLISHED}


def test_nightlies_are_listed_from_the_first_build_on(world: FakeServices):
    listing = list_releases(world, ReleasesRequest(package="keras-nightly"), Heard())
    assert [row.version for row in listing.releases] == [build.version for build in builds(3)]


def test_a_stale_page_is_warned_of(world: FakeServices):
    world.index.stale_reason, heard = "the index does not answer", Heard()
    list_releases(world, ReleasesRequest(), heard)
    assert [(e.kind, e.detail) for e in heard.events] == [(EventKind.WARNING, "the index does not answer")]


def test_a_range_that_runs_backwards_is_refused(world: FakeServices):
    with pytest.raises(UsageError, match="comes after"):
        list_releases(world, ReleasesRequest(first="3.7.0", last="3.5.0"), Heard())
