"""A page of the index is kept on the disk and used when the index does not answer."""

from __future__ import annotations

from harness import codec
from harness.domain.releases.index_page import IndexPage, WheelFile
from tests.examples import release


def test_a_page_comes_back_as_it_was():
    wheel = WheelFile(url="https://index.example/keras-3.9.0-py3-none-any.whl", sha256=None, size=1)
    page = IndexPage(package="keras", fetched=1.5, releases=(release("3.9.0", day=3),), wheels={"3.9.0": wheel})
    assert codec.loads(IndexPage, codec.dumps(IndexPage, page)) == page


def test_a_page_of_an_older_version_has_no_wheels_and_is_fresh():
    page = codec.loads(IndexPage, '{"package": "keras", "fetched": 0, "releases": []}')
    assert (page.wheels, page.stale_reason) == ({}, "")
