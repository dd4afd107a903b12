"""A real index on loopback, honest and otherwise."""

from __future__ import annotations

import json
import time
from datetime import datetime, timezone
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.adapters.index import package_index as module
from harness.adapters.index.package_index import PackageIndex
from harness.adapters.storage.checksums import read_checked, write_checked
from harness.adapters.storage.home import Home
from harness.domain.errors import InfrastructureError, UsageError
from harness.domain.releases.index_page import IndexPage
from tests.local_index import (
    HTML,
    JSON,
    Fault,
    LocalIndex,
    breaks_off,
    fails_with,
    says,
    stalls,
    times,
    trickles,
)
from tests.toys import Toy, table

PAGE = "/simple/toykeras/"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TIMEOUT_SECONDS", (1.0, 0.3))
    monkeypatch.setattr(module, "PAGE_SECONDS", 1.0)
    monkeypatch.setattr(PackageIndex._fetch.retry, "wait", lambda state: 0.0)


@pytest.fixture
def pages(home: Home, index: LocalIndex) -> PackageIndex:
    return PackageIndex(home)


def stale(pages: PackageIndex, seconds: float = 7200.0) -> IndexPage:
    """Age the cached page."""
    page = pages.page("toykeras")
    path = pages._file("toykeras")
    stored = json.loads(read_checked(path, "toykeras"))
    stored["fetched"] -= seconds
    write_checked(path, json.dumps(stored), "toykeras")
    return page


@pytest.mark.parametrize("as_json", [True, False], ids=["json", "html"])
def test_every_release_is_read(pages: PackageIndex, index: LocalIndex, as_json: bool) -> None:
    index.json = as_json
    found = {r.version: r for r in pages.page("toykeras").releases}
    assert list(found) == [toy.version for toy in table() if toy.name == "toykeras"]
    assert found["1.7"].yanked == "broken [link] <b>metadata</b>"
    assert found["1.2"].requires_python == ">=3.99"
    assert found["1.0"].yanked is None
    assert found["1.0"].released == (datetime(2024, 1, 1, tzinfo=timezone.utc) if as_json else None)


def test_a_fresh_page_asks_nothing(pages: PackageIndex, index: LocalIndex, home: Home) -> None:
    pages.page("toykeras")
    index.asked.clear()
    assert PackageIndex(home).page("ToyKeras").releases
    assert index.asked == []


def test_refresh_asks_again_and_finds_what_came_out(pages: PackageIndex, index: LocalIndex, home: Home) -> None:
    pages.page("toykeras")
    index.publish([Toy(version="9.0")])
    assert "9.0" not in {r.version for r in pages.page("toykeras").releases}
    assert "9.0" in {r.version for r in PackageIndex(home, fresh_seconds=0.0).page("toykeras").releases}


def test_an_old_page_is_renewed(pages: PackageIndex, index: LocalIndex) -> None:
    stale(pages)
    index.publish([Toy(version="9.0")])
    page = pages.page("toykeras")
    assert "9.0" in {r.version for r in page.releases}
    assert not page.stale_reason


def test_a_page_from_the_future_is_renewed(pages: PackageIndex, index: LocalIndex) -> None:
    """The clock was wrong when the page was written, and would keep it fresh for years."""
    stale(pages, seconds=-10 * 365 * 86_400)
    index.publish([Toy(version="9.0")])
    assert "9.0" in {r.version for r in pages.page("toykeras").releases}
    stale(pages, seconds=-86_400)
    index.faults[PAGE] = fails_with(503)
    assert "later than now by the clock" in pages.page("toykeras").stale_reason


def faults(index: LocalIndex) -> dict[str, Fault]:
    return {
        "server error": fails_with(503),
        "forbidden": fails_with(403),
        "stalls": stalls(index),
        "trickles": trickles(index),
        "breaks off": breaks_off,
        "not json": says(JSON, b"{"),
        "json of something else": says(JSON, b'{"meta": 3, "files": [1, null]}'),
        "json list": says(JSON, b"[]"),
        "deep json": says(JSON, b"[" * 100_000),
        "future api": says(JSON, b'{"meta": {"api-version": "9.0"}, "name": "toykeras", "files": []}'),
        "log-in page": says("text/html", b"<h1>Please log in</h1>"),
        "empty": says(HTML, b""),
        "picture": says("image/png", b"\x89PNG"),
    }


NAMES = [
    "server error", "forbidden", "stalls", "trickles", "breaks off", "not json", "json of something else", "json list",
    "deep json", "future api", "log-in page", "empty", "picture",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_broken_index_is_said_when_nothing_is_cached(pages: PackageIndex, index: LocalIndex, name: str) -> None:
    index.faults[PAGE] = faults(index)[name]
    with pytest.raises(InfrastructureError, match="does not answer") as failure:
        pages.page("toykeras")
    assert failure.value.hint
    assert str(index.port) not in str(failure.value), "an address may hold a password"
    assert not pages._file("toykeras").exists()


@pytest.mark.parametrize("name", NAMES)
def test_a_broken_index_leaves_the_cached_page_and_its_age(pages: PackageIndex, index: LocalIndex, name: str) -> None:
    known = stale(pages)
    index.faults[PAGE] = faults(index)[name]
    page = pages.page("toykeras")
    assert page.releases == known.releases
    assert "2.0 hours ago" in page.stale_reason
    del index.faults[PAGE]
    assert not pages.page("toykeras").stale_reason


def test_an_index_that_is_down(home: Home, index: LocalIndex) -> None:
    index.close()
    with pytest.raises(InfrastructureError, match="no connection"):
        PackageIndex(home).page("toykeras")


def test_a_page_without_end_is_refused(pages: PackageIndex, index: LocalIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST_PAGE", 1000)
    with pytest.raises(InfrastructureError):
        pages.page("toykeras")


def test_a_short_fault_is_tried_again(pages: PackageIndex, index: LocalIndex) -> None:
    honest = says(JSON, (index.body(PAGE, JSON) or ("", b""))[1])
    index.faults[PAGE] = times(1, lambda handler, _: handler.connection.close(), honest)
    assert pages.page("toykeras").releases


def test_an_unknown_package_is_bad_usage(pages: PackageIndex) -> None:
    with pytest.raises(UsageError, match="no package 'nosuch'"):
        pages.page("nosuch")


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b", "", " ", "a?b", "a\nb", "-x", "http://x", "a" * 100 + "!"])
def test_a_name_that_is_none_never_becomes_a_path(pages: PackageIndex, index: LocalIndex, name: str) -> None:
    with pytest.raises(UsageError, match="not the name of a package"):
        pages.page(name)
    assert index.asked == []


@pytest.mark.parametrize("text", [b"", b"{", b"null", b"\xff\xfe", b"[" * 100_000, b'{"package": "x"}'])
def test_a_damaged_cache_counts_as_absent(pages: PackageIndex, text: bytes) -> None:
    pages._file("toykeras").write_bytes(text)
    assert pages.page("toykeras").releases


def test_two_indexes_do_not_share_pages(home: Home, index: LocalIndex, pages: PackageIndex, tmp_path: Path) -> None:
    pages.page("toykeras")
    (tmp_path / "other").mkdir()
    other = LocalIndex(tmp_path / "other")
    other.publish([Toy(version="7.0")])
    assert [r.version for r in PackageIndex(home, address=other.address).page("toykeras").releases] == ["7.0"]
    other.close()


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=20) | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
filenames = st.text(max_size=30) | st.from_regex(
    r"toykeras-[0-9a-z.!+]{0,12}(-py3-none-any\.whl|\.tar\.gz|\.egg)", fullmatch=True
)
files = st.fixed_dictionaries(
    {
        "filename": filenames,
        "url": st.text(max_size=20),
        "hashes": st.dictionaries(st.text(max_size=8), st.text(max_size=8)),
    },
    optional={
        "requires-python": json_values,
        "yanked": json_values,
        "size": json_values,
        "upload-time": json_values | st.datetimes().map(str),
        "core-metadata": json_values,
    },
)
fuzzed_pages = st.one_of(
    json_values.map(lambda value: (JSON, json.dumps(value).encode())),
    st.lists(files, max_size=4).map(
        lambda rows: (JSON, json.dumps({"meta": {"api-version": "1.1"}, "name": "toykeras", "files": rows}).encode())
    ),
    st.tuples(st.sampled_from([JSON, HTML, "text/html; charset=\x22", "text/plain"]), st.binary(max_size=200)),
    st.text(max_size=100).map(lambda text: (HTML, f'<a href="{text}">{text}</a><a data-yanked={text}>x'.encode())),
)


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(page=fuzzed_pages)
def test_any_page_is_read_or_refused(index: LocalIndex, home: Home, page: tuple[str, bytes]) -> None:
    index.faults[PAGE] = says(page[0].encode("latin-1", "replace").decode("latin-1"), page[1])
    index.asked.clear()
    pages = PackageIndex(home, fresh_seconds=0.0)
    pages._file("toykeras").unlink(missing_ok=True)
    try:
        found = pages.page("toykeras")
    except (UsageError, InfrastructureError) as refused:
        assert refused.hint
    else:
        assert found.fetched <= time.time()
