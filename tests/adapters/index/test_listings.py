"""New pages of the index, asked for while it works and while it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.adapters.index import listings as module
from harness.adapters.index.listings import Listings
from harness.adapters.storage.home import Home
from harness.domain.errors import InfrastructureError
from tests.local_index import LocalIndex, answers, corrupts, fails_with
from tests.toys import Toy


@pytest.fixture
def listings(home: Home, index: LocalIndex) -> Listings:
    return Listings(home)


def test_a_listing_says_which_versions_there_are(listings: Listings) -> None:
    found = listings.of("Toy_Keras".replace("_", "").lower())
    assert found.has("==1.1")
    assert found.has(">1.4,<2")
    assert not found.has("==1.1.1")
    assert not found.has(">3.4"), "no version is so new"
    assert found.has("==1.7"), "one that is yanked is there for who names it"
    assert found.has("")
    assert [file.filename for file in found.of("1.1")] == ["toykeras-1.1-py3-none-any.whl"]
    assert found.of("1.1+cu12") == []


def test_a_package_that_nobody_saw_does_not_exist(listings: Listings) -> None:
    assert listings.of("nosuch").files == ()


def test_a_package_that_was_there_is_denied(listings: Listings, index: LocalIndex) -> None:
    listings.remember(["toynumpy"])
    index.faults["/simple/toynumpy/"] = fails_with(404)
    with pytest.raises(InfrastructureError, match="denies toynumpy"):
        listings.of("toynumpy")


def test_a_redirect_to_nowhere_is_no_answer(listings: Listings, index: LocalIndex) -> None:
    index.faults["/simple/toynumpy/"] = answers(302, location="/login/")
    with pytest.raises(InfrastructureError, match="no valid page of toynumpy"):
        listings.of("toynumpy")


def test_a_page_is_asked_for_once_in_a_while(
    listings: Listings, index: LocalIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    listings.of("toykeras")
    listings.of("toykeras")
    assert index.asked == ["/simple/toykeras/"]
    monkeypatch.setattr(module, "REUSE_SECONDS", 0.0)
    listings.of("toykeras")
    assert len(index.asked) == 2


def test_a_further_index_counts_too(
    home: Home, index: LocalIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "more").mkdir()
    more = LocalIndex(tmp_path / "more")
    more.publish([Toy(name="extra", version="1.0")])
    monkeypatch.setenv("UV_INDEX", f"named={more.address}")
    assert Listings(home).of("extra").has("==1.0")
    more.close()
    Listings(home).remember(["extra"])
    assert Listings(home).of("extra").files == (), "it cannot be told: that index is no longer there"


def test_files_are_compared_with_their_hashes(listings: Listings, index: LocalIndex) -> None:
    files = listings.of("toykeras").of("1.1")
    assert listings.damaged(files, whole=True) == ""
    index.faults[files[0].filename] = corrupts
    assert "its hash is not the one" in listings.damaged(files, whole=False)
    index.faults[files[0].filename] = fails_with(403)
    with pytest.raises(InfrastructureError, match=r"does not send toykeras-1.1-.*HTTP 403"):
        listings.damaged(files, whole=True)
