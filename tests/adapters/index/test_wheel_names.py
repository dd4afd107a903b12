"""The list of a wheel's files, by its end alone or by all of it."""

from __future__ import annotations

import io
import zipfile
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
import requests

from harness.adapters.index.package_index import PackageIndex
from harness.adapters.index.wheel_names import names, wheel_of
from harness.adapters.storage.home import Home
from harness.domain.errors import Untestable
from tests.local_index import Fault, LocalIndex, fails_with, says
from tests.toys import Toy

COUNT = 3000  # files: their directory is longer than what is asked for first


def ranged(sent: list[int]) -> Fault:
    """Answer with the end that a request asks for, and note how long it was."""

    def answer(handler: BaseHTTPRequestHandler, body: bytes) -> None:
        wanted = int((handler.headers["Range"] or "").removeprefix("bytes=-"))
        part = body[-wanted:]
        sent.append(len(part))
        handler.send_response(206)
        handler.send_header("Content-Range", f"bytes {len(body) - len(part)}-{len(body) - 1}/{len(body)}")
        handler.send_header("Content-Length", str(len(part)))
        handler.end_headers()
        handler.wfile.write(part)

    return answer


def large() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("toykeras/data.bin", b"\1" * 3_000_000)
        for number in range(COUNT):
            archive.writestr(f"toykeras/module_{number:04}.py", "")
    return made.getvalue()


@pytest.fixture
def url(home: Home, index: LocalIndex) -> str:
    files = PackageIndex(home).files("toykeras")
    wheel = wheel_of(files, "1.0")
    assert wheel is not None
    assert wheel_of(files, "77") is None
    assert wheel_of(files, "1.5") is None, "a source distribution"
    return wheel.url


def test_the_end_is_enough(url: str, index: LocalIndex) -> None:
    sent: list[int] = []
    index.faults["toykeras-1.0-py3-none-any.whl"] = ranged(sent)
    assert "toykeras/__init__.py" in names(url)
    assert len(sent) == 1


def test_a_long_directory_takes_a_second_request_and_not_the_whole(home: Home, index: LocalIndex) -> None:
    content = large()
    index.publish_bytes(Toy(version="8.0"), content)
    sent: list[int] = []
    index.faults["toykeras-8.0-py3-none-any.whl"] = ranged(sent)
    wheel = wheel_of(PackageIndex(home).files("toykeras"), "8.0")
    assert wheel is not None
    assert len(names(wheel.url)) == COUNT + 1
    assert (len(sent), sum(sent) < len(content) / 2) == (2, True)


def test_an_index_that_knows_no_ranges_sends_all(url: str) -> None:
    assert "toykeras/__init__.py" in names(url)


def test_what_is_no_wheel_is_untestable(url: str, index: LocalIndex) -> None:
    index.faults["toykeras-1.0-py3-none-any.whl"] = says("application/octet-stream", b"x" * 100)
    with pytest.raises(Untestable, match=r"list of files cannot be read: it is no zip archive"):
        names(url)
    index.faults["toykeras-1.0-py3-none-any.whl"] = fails_with(500)
    with pytest.raises(requests.HTTPError):
        names(url)


def test_a_wheel_for_this_machine_is_taken_first(home: Home, index: LocalIndex) -> None:
    found = wheel_of(PackageIndex(home).files("toynumpy"), "2.0")
    assert found is not None
    assert Path(found.filename).suffix == ".whl"
