"""Wheels from an index that sends without end, or whose address holds a password."""

from __future__ import annotations

import pytest

from harness.adapters.index import wheels as module
from harness.adapters.index.address import with_password, without_password
from harness.adapters.index.package_index import PackageIndex
from harness.adapters.index.wheels import read_files
from harness.adapters.storage.home import Home
from harness.domain.errors import InfrastructureError
from harness.domain.releases.index_page import WheelFile
from tests.local_index import LocalIndex, breaks_off, corrupts, trickles

NAME = "toykeras/__init__.py"
WHEEL = "toykeras-1.0-py3-none-any.whl"


@pytest.fixture
def wheel(home: Home, index: LocalIndex) -> WheelFile:
    return PackageIndex(home).page("toykeras").wheels["1.0"]


def read(home: Home, wheel: WheelFile) -> dict[str, str]:
    return read_files(home, "toykeras", "1.0", wheel, [NAME])


def test_a_wheel_that_is_not_the_promised_one_is_not_kept(home: Home, wheel: WheelFile, index: LocalIndex) -> None:
    index.faults[WHEEL] = corrupts
    with pytest.raises(InfrastructureError, match="not the one that the index promised"):
        read(home, wheel)
    del index.faults[WHEEL]
    assert read(home, wheel) == {NAME: "__version__ = '1.0'\ndef check(): return 0\n"}


def test_an_index_that_breaks_off(home: Home, wheel: WheelFile, index: LocalIndex) -> None:
    index.faults[WHEEL] = breaks_off
    with pytest.raises(InfrastructureError, match="cannot be fetched"):
        read(home, wheel)


def test_an_index_that_sends_without_end(
    home: Home, wheel: WheelFile, index: LocalIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "WHEEL_SECONDS", 0.5)
    index.faults[WHEEL] = trickles(index)
    with pytest.raises(InfrastructureError, match="not done after"):
        read(home, wheel)


def test_passwords_are_not_kept_and_handed_to_the_index_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_INDEX_URL", "https://joe:pa55@host:8/simple")
    assert without_password("https://joe:pa55@host:8/f.whl") == "https://host:8/f.whl"
    assert with_password("https://host:8/f.whl") == "https://joe:pa55@host:8/f.whl"
    for other in ("https://host/f.whl", "http://host:8/f.whl", "https://evil/f.whl"):
        assert with_password(other) == other
