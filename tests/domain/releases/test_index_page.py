"""What an index says of a package, as a value."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from harness import codec
from harness.domain.releases.index_page import IndexPage, WheelFile
from tests.examples import release

PAGE = IndexPage(
    package="keras",
    fetched=1_700_000_000.0,
    releases=(release("3.9.2", day=3, yanked="forgot a file"), release("3.10.0")),
    wheels={"3.9.2": WheelFile(url="https://example.org/keras-3.9.2-py3-none-any.whl", sha256="aa", size=12)},
)


def test_a_page_is_kept_and_read_again_as_it_was() -> None:
    """The cache holds pages; an index that does not answer is replaced by them."""
    assert codec.loads(IndexPage, codec.dumps(IndexPage, PAGE)) == PAGE


def test_a_page_is_fresh_and_without_wheels_unless_it_says_otherwise() -> None:
    bare = IndexPage(package="keras", fetched=0.0, releases=())
    assert (bare.stale_reason, dict(bare.wheels)) == ("", {})


def test_two_pages_share_no_wheels() -> None:
    one, other = (IndexPage(package="keras", fetched=0.0, releases=()) for _ in range(2))
    assert one.wheels is not other.wheels


def test_it_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        PAGE.stale_reason = "stale"  # type: ignore[misc]


def test_a_wheel_may_come_without_size() -> None:
    assert WheelFile(url="https://example.org/a.whl", sha256=None).size is None
