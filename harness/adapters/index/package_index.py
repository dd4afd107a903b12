"""The package index: releases with dates, yanked flags and requires-python, cached and usable offline."""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace
from pathlib import Path

import requests
import tenacity
from packaging.utils import InvalidName, canonicalize_name
from pypi_simple import DistributionPackage, NoSuchProjectError, PyPISimple
from pypi_simple.errors import UnsupportedRepoVersionError

import harness
from harness import codec
from harness.adapters.index.address import index_address
from harness.adapters.index.deadline import within
from harness.adapters.index.files import collect, pure_wheels
from harness.adapters.index.settings import ADDRESS_VARIABLES
from harness.adapters.storage.checksums import read_checked, write_checked
from harness.adapters.storage.home import Home
from harness.domain.errors import InfrastructureError, UsageError
from harness.domain.releases.index_page import IndexPage
from harness.domain.releases.release import Release

FRESH_SECONDS = 3600  # a release that came out within the last hour may be missed; --refresh asks again
TIMEOUT_SECONDS = (10.0, 30.0)  # to connect, and between two bytes
PAGE_SECONDS = 60.0  # for a whole page; that of keras-nightly, with 1,800 releases, takes under 2
LARGEST_PAGE = 100_000_000  # bytes; the largest pages of the public index have 20 million
ATTEMPTS = 3


class NoPage(ValueError):
    """What the index sent is not the page of the package."""


class PackageIndex:
    """Reads pages of the simple API; one file per page in the cache."""

    def __init__(self, home: Home, *, fresh_seconds: float = FRESH_SECONDS, address: str | None = None) -> None:
        self._address = address or index_address()
        self._home = home
        self._fresh_seconds = fresh_seconds

    def page(self, package: str) -> IndexPage:
        """Return the page of a package: the cached one while it is fresh or when the index fails, else a new one.

        Raises:
            UsageError: the index does not know the package.
            InfrastructureError: the index does not answer and no page is cached.
        """
        name = _checked_name(package)
        cached = self._cached(name)
        if cached is not None and 0 <= _age_seconds(cached) < self._fresh_seconds:
            return cached
        try:
            files = self._fetch(name)
        except NoSuchProjectError as error:
            if cached is not None:
                return self._fall_back(package, cached, error)
            raise UsageError(
                f"the index has no package {package!r}",
                where=package,
                hint=f"check the spelling of --package, and the index's address ({', '.join(ADDRESS_VARIABLES)})",
            ) from None
        except (requests.RequestException, ValueError, OSError) as error:
            return self._fall_back(package, cached, error)
        page = IndexPage(package=name, fetched=time.time(), releases=collect(name, files), wheels=pure_wheels(files))
        write_checked(self._file(name), codec.dumps(IndexPage, page), name)
        return page

    def releases(self, package: str) -> tuple[Release, ...]:
        """Return the releases of a package in no particular order."""
        return self.page(package).releases

    @property
    def folder_name(self) -> str:
        """Name of the folder that holds what this index said, below that of all indexes."""
        return hashlib.sha256(self._address.encode()).hexdigest()[:12]

    def has_cached(self, package: str) -> bool:
        """Whether this index had the package once."""
        return self._file(_checked_name(package)).exists()

    def files(self, package: str) -> list[DistributionPackage]:
        """Ask for the page anew, whatever is cached, and return its files.

        Raises:
            NoSuchProjectError: the index says that it has no such package.
            requests.RequestException, ValueError, OSError: it sent no valid page; `reason` words it.
        """
        return self._fetch(_checked_name(package))

    @staticmethod
    def reason(error: Exception) -> str:
        """Name a failure without the address, which may hold a password."""
        return _short(error)

    @tenacity.retry(
        retry=tenacity.retry_if_exception_type((requests.ConnectionError, requests.Timeout)),
        stop=tenacity.stop_after_attempt(ATTEMPTS),
        wait=tenacity.wait_exponential(multiplier=0.5, max=4),
        reraise=True,
    )
    def _fetch(self, package: str) -> list[DistributionPackage]:
        """Request the page; an answer that is no page, or one without files, is a `ValueError`."""
        try:
            files = within(PAGE_SECONDS, lambda: self._ask(package))
        except (AttributeError, KeyError, TypeError, RecursionError, UnsupportedRepoVersionError) as error:
            raise NoPage(f"not a page of the simple index: {type(error).__name__}") from error
        if not any(file.package_type and canonicalize_name(file.project or "") == package for file in files):
            raise NoPage("a page without files of the package")
        return files

    def _ask(self, package: str) -> list[DistributionPackage]:
        with requests.Session() as session:
            session.headers["User-Agent"] = f"regression-harness/{harness.__version__}"
            session.stream = True
            answers: list[requests.Response] = []
            session.hooks["response"] += [_read_within_limits, lambda answer, **_: answers.append(answer)]
            client = PyPISimple(self._address, session=session)
            try:
                return client.get_project_page(package, timeout=TIMEOUT_SECONDS).packages
            except NoSuchProjectError as error:
                if any(answer.is_redirect for answer in answers):  # to a page for logging in, say: no word of a package
                    raise NoPage("it leads to a page that is not there") from error
                raise

    def _fall_back(self, package: str, cached: IndexPage | None, error: Exception) -> IndexPage:
        reason = _short(error)
        if cached is None:
            raise InfrastructureError(
                f"the package index does not answer ({reason}) and no page of {package} is cached",
                where=", ".join(ADDRESS_VARIABLES) + " or the default index",
                hint="check the network or the index address, then run the same command again",
            ) from error
        hours = _age_seconds(cached) / 3600
        age = f"{hours:.1f} hours ago" if hours >= 0 else "at a time later than now by the clock"
        stale = f"the index does not answer ({reason}); using the page of {package} cached {age}"
        return replace(cached, stale_reason=stale)

    def _file(self, package: str) -> Path:
        """The cached page; its folder is made when it is needed, so that a mistake on the command line leaves none."""
        folder = self._home.folder("index", self.folder_name)
        return folder / f"{package}.json"

    def _cached(self, package: str) -> IndexPage | None:
        """Return the cached page; an unreadable one counts as absent."""
        try:
            return codec.loads(IndexPage, read_checked(self._file(package), package))
        except (OSError, ValueError):
            return None


def _age_seconds(page: IndexPage) -> float:
    """How old the page is; negative when the clock was set back since."""
    return time.time() - page.fetched


def _checked_name(package: str) -> str:
    """The canonical name; it becomes part of an address and of a file's name."""
    try:
        return canonicalize_name(package, validate=True)
    except InvalidName:
        raise UsageError(
            f"{package[:80]!r} is not the name of a package",
            where="--package",
            hint="write it as keras or keras-nightly",
        ) from None


def _read_within_limits(response: requests.Response, **_: object) -> None:
    """Read the whole answer now, unless it is too large."""
    body = bytearray()
    for chunk in response.iter_content(1 << 16):
        body += chunk
        if len(body) > LARGEST_PAGE:
            raise requests.exceptions.ContentDecodingError(f"a page of more than {LARGEST_PAGE} bytes")
    response._content = bytes(body)  # what `content` and `json()` return; requests offers no public way


def _short(error: Exception) -> str:
    """Name the failure without the address, which may hold a password."""
    names: dict[type[Exception], str] = {
        requests.ConnectTimeout: "connection timed out",
        requests.ReadTimeout: "no data for too long",
        TimeoutError: "it sent data without end",
        requests.exceptions.SSLError: "TLS failed",
        requests.ConnectionError: "no connection",
    }
    for kind, name in names.items():
        if isinstance(error, kind):
            return name
    if isinstance(error, NoSuchProjectError):
        return "HTTP 404"
    response = getattr(error, "response", None)
    if isinstance(error, NoPage):
        return str(error)
    return f"HTTP {response.status_code}" if response is not None else f"unreadable answer: {type(error).__name__}"
