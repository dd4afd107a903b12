"""The package index: releases with dates, yanked flags and requires-python, cached and usable offline."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

import requests
import tenacity
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version
from pypi_simple import PYPI_SIMPLE_ENDPOINT, DistributionPackage, NoSuchProjectError, PyPISimple

from harness.core.errors import SurroundingsError, UsageError
from harness.core.releases import Channel, Release
from harness.core.timelines import is_nightly
from harness.edge import codec
from harness.edge.home import Home

ADDRESS_VARIABLES = ("HARNESS_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL")
FRESH_SECONDS = 3600  # a release that came out within the last hour may be missed; --refresh asks again
TIMEOUT_SECONDS = (10.0, 30.0)  # to connect, and between two bytes
ATTEMPTS = 3


def index_address() -> str:
    """Address of the simple index: the usual pip and uv variables, else the library's default."""
    for name in ADDRESS_VARIABLES:
        if address := os.environ.get(name, "").strip():
            return address
    return PYPI_SIMPLE_ENDPOINT


@dataclass(frozen=True, kw_only=True)
class WheelFile:
    """The pure-Python wheel of one release, as the index offers it."""

    url: str
    sha256: str | None
    size: int | None = None


@dataclass(frozen=True, kw_only=True)
class IndexPage:
    """What one index says of one package, and when it said so (seconds since the epoch).

    Attributes:
        package: Canonical name.
        fetched: When the index said so.
        releases: In no particular order.
        wheels: Pure-Python wheels by version.
        stale_reason: Why the page could not be renewed; "" when it is fresh.
    """

    package: str
    fetched: float
    releases: tuple[Release, ...]
    wheels: Mapping[str, WheelFile] = field(default_factory=dict)
    stale_reason: str = ""

    @property
    def age_seconds(self) -> float:
        """How old the page is; a clock that was set back makes it new, never negative."""
        return max(0.0, time.time() - self.fetched)


class PackageIndex:
    """Reads pages of the simple API; one file per page in the cache."""

    def __init__(self, home: Home, *, fresh_seconds: float = FRESH_SECONDS, address: str | None = None) -> None:
        self._address = address or index_address()
        self._folder = home.folder("index", hashlib.sha256(self._address.encode()).hexdigest()[:12])
        self._fresh_seconds = fresh_seconds

    def page(self, package: str) -> IndexPage:
        """Return the page of a package: cached while fresh, asked for when older, cached again when that fails.

        Raises:
            UsageError: the index does not know the package.
            SurroundingsError: the index does not answer and no page is cached.
        """
        name = canonicalize_name(package)
        cached = self._cached(name)
        if cached is not None and cached.age_seconds < self._fresh_seconds:
            return cached
        try:
            files = self._fetch(name)
        except NoSuchProjectError:
            raise UsageError(
                f"the index has no package {package!r}", where=package, hint="check the spelling of --package"
            ) from None
        except (requests.RequestException, ValueError, OSError) as error:
            return self._fall_back(package, cached, error)
        page = IndexPage(package=name, fetched=time.time(), releases=collect(name, files), wheels=pure_wheels(files))
        codec.write_whole(self._file(name), codec.dumps(IndexPage, page))
        return page

    def releases(self, package: str) -> tuple[Release, ...]:
        """Return the releases of a package in no particular order."""
        return self.page(package).releases

    @tenacity.retry(
        retry=tenacity.retry_if_exception_type((requests.ConnectionError, requests.Timeout)),
        stop=tenacity.stop_after_attempt(ATTEMPTS),
        wait=tenacity.wait_exponential(multiplier=0.5, max=4),
        reraise=True,
    )
    def _fetch(self, package: str) -> list[DistributionPackage]:
        with PyPISimple(self._address) as client:
            return client.get_project_page(package, timeout=TIMEOUT_SECONDS).packages

    def _fall_back(self, package: str, cached: IndexPage | None, error: Exception) -> IndexPage:
        reason = _short(error)
        if cached is None:
            raise SurroundingsError(
                f"the package index does not answer ({reason}) and no page of {package} is cached",
                where=", ".join(ADDRESS_VARIABLES) + " or the default index",
                hint="check the network or the index address, then run the same command again",
            ) from error
        hours = cached.age_seconds / 3600
        stale = f"the index does not answer ({reason}); using the page of {package} cached {hours:.1f} hours ago"
        return replace(cached, stale_reason=stale)

    def _file(self, package: str) -> Path:
        return self._folder / f"{package}.json"

    def _cached(self, package: str) -> IndexPage | None:
        """Return the cached page; an unreadable one counts as absent."""
        try:
            return codec.loads(IndexPage, self._file(package).read_bytes())
        except (OSError, codec.Malformed):
            return None


def collect(package: str, files: Iterable[DistributionPackage]) -> tuple[Release, ...]:
    """Group the files of a page into releases; versions that PEP 440 does not know are dropped."""
    by_version: dict[Version, list[DistributionPackage]] = {}
    for file in files:
        try:
            version = Version(file.version or "")
        except InvalidVersion:
            continue
        if file.package_type in ("wheel", "sdist"):
            by_version.setdefault(version, []).append(file)
    return tuple(_release(package, version, group) for version, group in sorted(by_version.items()))


def pure_wheels(files: Iterable[DistributionPackage]) -> dict[str, WheelFile]:
    """The wheels for any platform, by version as PEP 440 writes it."""
    found = {}
    for file in files:
        if file.package_type == "wheel" and file.filename.endswith("-none-any.whl"):
            with suppress(InvalidVersion):
                digests = file.digests or {}
                found[str(Version(file.version or ""))] = WheelFile(
                    url=file.url, sha256=digests.get("sha256"), size=file.size
                )
    return found


def _release(package: str, version: Version, files: list[DistributionPackage]) -> Release:
    times: list[datetime] = [file.upload_time for file in files if file.upload_time is not None]
    yanked = all(file.is_yanked for file in files)
    wheels = [file for file in files if file.package_type == "wheel"]
    return Release(
        package=package,
        version=str(version),
        channel=Channel.NIGHTLY if is_nightly(package) else Channel.STABLE,
        released=min(times, default=None),
        yanked=next((file.yanked_reason or "" for file in files), "") if yanked else None,
        requires_python=(wheels or files)[0].requires_python,
    )


def _short(error: Exception) -> str:
    """Name the failure without the address, which may hold a password."""
    names = {
        requests.ConnectTimeout: "connection timed out",
        requests.ReadTimeout: "no data for too long",
        requests.exceptions.SSLError: "TLS failed",
        requests.ConnectionError: "no connection",
    }
    for kind, name in names.items():
        if isinstance(error, kind):
            return name
    response = getattr(error, "response", None)
    return f"HTTP {response.status_code}" if response is not None else f"unreadable answer: {type(error).__name__}"
