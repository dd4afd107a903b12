"""What uv says of the index, read from what it really prints, and held against a real small index."""

from __future__ import annotations

import pytest

from harness.adapters.environments.index_faults import Claim, Kind, claims, examine
from harness.adapters.index.listings import Listings
from harness.adapters.storage.home import Home
from tests.local_index import LOGIN, Fault, LocalIndex, answers, corrupts, says
from tests.toys import Toy

WHEEL = "toykeras-1.1-py3-none-any.whl"
UNKNOWN = (
    "error: No solution found when resolving dependencies\n  cause: Because toykeras was not found in the package\n"
)
UNKNOWN += "         registry and you require toykeras==1.1, we can conclude that"
NONE = "No solution found\n cause: Because there is no version of toykeras==1.1 and you require toykeras==1.1, we"
RANGE = "No solution found\n cause: Because there are no versions of toykeras>1.0,<1.2 and you require"
GONE = f"error: Failed to fetch: x\n  cause: HTTP status client error (404 Not Found) for url (http://h/files/{WHEEL})"
PAGE = "error: Failed to fetch: x\n  cause: HTTP status client error (410 Gone) for url (http://h/simple/toykeras/)"
FORMAT = "No solution found\n cause: Because toykeras==1.1 has an invalid package format and you require toykeras==1.1"
ARCHIVE = (
    f"error: Failed to download `toykeras==1.1`\n  cause: Failed to extract archive: {WHEEL}\n  cause: Invalid zip"
)
CONFLICT = "No solution found\n cause: Because toykeras==1.8 depends on toynumpy>=2 and you require toynumpy<2, we"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (UNKNOWN, Claim(kind=Kind.ABSENT, name="toykeras")),
        (NONE, Claim(kind=Kind.ABSENT, name="toykeras", wanted="==1.1")),
        (RANGE, Claim(kind=Kind.ABSENT, name="toykeras", wanted=">1.0,<1.2")),
        (GONE, Claim(kind=Kind.GONE, name="toykeras", wanted="1.1", file=WHEEL)),
        (PAGE, Claim(kind=Kind.GONE, name="toykeras")),
        (FORMAT, Claim(kind=Kind.BROKEN, name="toykeras", wanted="1.1")),
        (ARCHIVE, Claim(kind=Kind.BROKEN, name="toykeras", wanted="1.1", file=WHEEL)),
        (CONFLICT, None),
        ("", None),
    ],
)
def test_claims(text: str, expected: Claim | None) -> None:
    assert claims(text) == ([] if expected is None else [expected])


@pytest.fixture
def listings(home: Home, index: LocalIndex) -> Listings:
    return Listings(home)


@pytest.mark.parametrize("text", [UNKNOWN, NONE, RANGE, GONE])
def test_what_a_valid_listing_has_is_denied_by_the_installer_or_the_index(listings: Listings, text: str) -> None:
    found = examine(text, listings)
    assert found.failure is not None
    assert found.failure.hint
    assert found.read_anew == ("toykeras",)
    assert bool(found.stale) == (text is not GONE)


@pytest.mark.parametrize("text", [NONE, GONE, FORMAT, ARCHIVE])
def test_what_a_valid_listing_lacks_is_so(listings: Listings, index: LocalIndex, text: str) -> None:
    index.withdraw("toykeras", "1.1")
    found = examine(text, listings)
    assert found.failure is None
    assert all("lists" in reason for reason in found.confirmed.values())


@pytest.mark.parametrize("fault", [answers(401), answers(204), answers(302), says("text/html", LOGIN), answers(410)])
@pytest.mark.parametrize("text", [UNKNOWN, NONE, RANGE, GONE, PAGE, FORMAT, ARCHIVE])
def test_no_valid_page_confirms_nothing(listings: Listings, index: LocalIndex, text: str, fault: Fault) -> None:
    index.faults["/simple/toykeras/"] = fault
    found = examine(text, listings)
    assert found.failure is not None
    assert "toykeras" in found.failure.what
    assert not found.confirmed


@pytest.mark.parametrize("text", [FORMAT, ARCHIVE])
@pytest.mark.parametrize("fault", [corrupts, says("text/html", LOGIN), answers(204), answers(403)])
def test_a_file_that_is_not_the_listed_one(listings: Listings, index: LocalIndex, text: str, fault: Fault) -> None:
    index.faults[WHEEL] = fault
    found = examine(text, listings)
    assert found.failure is not None
    assert WHEEL in str(found.failure)


@pytest.mark.parametrize("text", [FORMAT, ARCHIVE])
def test_a_file_that_is_the_listed_one_is_broken_by_its_publisher(listings: Listings, text: str) -> None:
    found = examine(text, listings)
    assert found.failure is None
    assert list(found.confirmed.values()) == ["its files are those that were published"]


def test_a_limit_of_time_hides_what_came_later(listings: Listings, index: LocalIndex) -> None:
    from datetime import datetime, timezone

    index.publish([Toy(version="9.0", uploaded=datetime(2030, 1, 1, tzinfo=timezone.utc))])
    text = NONE.replace("1.1", "9.0")
    early = datetime(2029, 1, 1, tzinfo=timezone.utc)
    assert examine(text, listings, before=early).failure is None
    assert examine(text, listings).failure is not None
