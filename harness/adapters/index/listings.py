"""Ask the index itself whether what an installer says of it is so.

An installer reads a login page as "there is no version of keras" and a foreign file as a broken wheel. Only a new,
valid page may say that a release is gone, and only a file with the hash of that page may say that it is broken.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import requests
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.tags import platform_tags
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion, Version
from pypi_simple import DistributionPackage, NoSuchProjectError

from harness.adapters.index.address import with_password, without_password
from harness.adapters.index.deadline import within
from harness.adapters.index.package_index import TIMEOUT_SECONDS, PackageIndex
from harness.adapters.index.settings import index_settings
from harness.adapters.storage.files import disk_errors
from harness.adapters.storage.home import Home
from harness.domain.errors import InfrastructureError

REUSE_SECONDS = 20.0  # a page is believed so long: a plan meets the same conflict many times in a row
FILE_SECONDS = 900.0  # for a whole file; the largest wheels have 600 MB
FILES = 8  # so many files of one release are compared with their hashes
MOST_BYTES = 2_000_000_000
HINT = "check the network, the address of the index and its credentials, then run the same command again"


@dataclass(frozen=True, kw_only=True)
class Listing:
    """What the index says of one package at this moment; `files` is empty where it says that there is none."""

    name: str
    files: tuple[DistributionPackage, ...]

    def has(self, specifier: str, *, before: datetime | None = None) -> bool:
        """Whether a version fits, and is there for somebody who sees only what was uploaded before a time."""
        seen = [file for file in self.files if before is None or _uploaded_before(file, before)]
        if not specifier:
            return any(not file.is_yanked for file in seen)
        try:
            wanted = SpecifierSet(specifier)
        except InvalidSpecifier:
            return False
        named = specifier.startswith("==")
        versions = [_version(file) for file in seen if named or not file.is_yanked]
        return any(found is not None and wanted.contains(found, prereleases=named or None) for found in versions)

    def of(self, version: str) -> list[DistributionPackage]:
        """The files of exactly one version."""
        try:
            wanted = Version(version)
        except InvalidVersion:
            return []
        return [file for file in self.files if _version(file) == wanted]

    def file(self, filename: str) -> DistributionPackage | None:
        """The file of this name."""
        return next((file for file in self.files if file.filename == filename), None)


class Listings:
    """New pages of every index that the installer reads, and the files that they promise."""

    def __init__(self, home: Home) -> None:
        own = PackageIndex(home)
        further = _further_addresses()
        self._indexes = [own, *(PackageIndex(home, address=one) for one in further if one.startswith("http"))]
        self._whole = len(self._indexes) == 1 + len(further)  # else an index in a folder may have what these lack
        self._home = home
        self._pages: dict[str, tuple[float, Listing]] = {}
        self._guard = threading.Lock()

    def remember(self, names: Iterable[str]) -> None:
        """Keep in mind that the index has these packages: a later 404 is then its failure and no answer."""
        for name in map(canonicalize_name, names):
            if self._knows(name):
                continue
            place = self._home.folder("index", self._indexes[0].folder_name, "known") / name
            with disk_errors(place, "set HARNESS_HOME to a folder that can be written"):
                place.touch()

    def of(self, package: str) -> Listing:
        """Return what the index says of a package now.

        Raises:
            InfrastructureError: it answers with no valid page, or denies a package that it had before.
        """
        name = canonicalize_name(package)
        with self._guard:
            asked, listing = self._pages.get(name, (0.0, None))
            if listing is None or not 0 <= time.monotonic() - asked < REUSE_SECONDS:
                listing = self._ask(name)
                self._pages[name] = (time.monotonic(), listing)
        return listing

    @property
    def folder_name(self) -> str:
        """Name of the folder that holds what the default index said."""
        return self._indexes[0].folder_name

    def _knows(self, name: str) -> bool:
        return (self._home.root / "index" / self._indexes[0].folder_name / "known" / name).exists()

    def _ask(self, name: str) -> Listing:
        files: list[DistributionPackage] = []
        whole = self._whole
        for number, index in enumerate(self._indexes):
            try:
                files += index.files(name)
            except NoSuchProjectError:
                continue
            except (requests.RequestException, ValueError, OSError) as error:
                if number == 0:
                    raise InfrastructureError(
                        f"the package index sent no valid page of {name} ({index.reason(error)})",
                        where=f"the page of {name}",
                        hint=HINT,
                    ) from error
                whole = False
        if whole and not files and (self._knows(name) or self._indexes[0].has_cached(name)):
            raise InfrastructureError(
                f"the package index denies {name}, which it had before (HTTP 404)",
                where=f"the page of {name}",
                hint=HINT,
            )
        if files:
            self.remember([name])
        return Listing(name=name, files=tuple(files))

    def damaged(self, files: Sequence[DistributionPackage], *, whole: bool) -> str:
        """Say which of the files is not the one that the index promises, and how; "" where each of them is.

        Args:
            files: What to fetch.
            whole: The files themselves; else their metadata where the index offers them, as a resolver does.

        Raises:
            InfrastructureError: a file cannot be fetched.
        """
        fitting = [file for file in files if whole or _fits(file)]
        for file in fitting[:FILES]:
            apart = bool(file.has_metadata) and not whole
            digests = (file.metadata_digests if apart else file.digests) or {}
            if why := _compared(file.metadata_url if apart else file.url, digests.get("sha256")):
                return f"{file.filename}{'.metadata' if apart else ''}: {why}"
        return ""


def _fits(file: DistributionPackage) -> bool:
    """Whether a file may be installed on this machine, by any Python."""
    if file.package_type != "wheel":
        return True
    try:
        platforms = {tag.platform for tag in parse_wheel_filename(file.filename)[3]}
    except InvalidWheelFilename:
        return True
    return not platforms.isdisjoint(("any", *platform_tags()))


def _compared(url: str, sha256: str | None) -> str:
    """Fetch a file and say what is wrong with it; "" where it has its hash, or has none and is an archive."""
    try:
        digest, start, kind = within(FILE_SECONDS, lambda: _fetch(url))
    except (requests.RequestException, TimeoutError) as error:
        status = getattr(getattr(error, "response", None), "status_code", None)
        why = f"HTTP {status}" if status is not None else type(error).__name__
        name = without_password(url).rsplit("/", 1)[-1]
        raise InfrastructureError(f"the package index does not send {name} ({why})", where=name, hint=HINT) from error
    if sha256 is not None:
        return "" if digest == sha256 else "its hash is not the one that the index promises"
    page = kind.startswith("text/html") or not start
    return "a page or nothing came in its place" if page else ""


def _fetch(url: str) -> tuple[str, bytes, str]:
    """Hash, first bytes and content type of a file; nothing of it is stored."""
    hashed, start, size = hashlib.sha256(), b"", 0
    headers = {"Accept-Encoding": "identity"}
    with requests.get(with_password(url), stream=True, timeout=TIMEOUT_SECONDS, headers=headers) as answer:
        answer.raise_for_status()
        for chunk in answer.iter_content(1 << 18):
            start = start or chunk[:64]
            hashed.update(chunk)
            size += len(chunk)
            if size > MOST_BYTES:
                raise requests.exceptions.ContentDecodingError("a file without end")
        return hashed.hexdigest(), start, answer.headers.get("Content-Type", "")


def _further_addresses() -> list[str]:
    """The indexes, or folders, that the installer reads beside the default one."""
    settings = index_settings()
    return [*settings.extra, *(f"find-links:{place}" for place in settings.find_links)]


def _version(file: DistributionPackage) -> Version | None:
    try:
        return Version(file.version or "")
    except InvalidVersion:
        return None


def _uploaded_before(file: DistributionPackage, moment: datetime) -> bool:
    uploaded = file.upload_time
    if uploaded is None:
        return False
    return (uploaded if uploaded.tzinfo else uploaded.replace(tzinfo=moment.tzinfo)) <= moment


def name_in(path: str) -> str:
    """The last part of an address or path, which for a file is its name."""
    return Path(without_password(path).split("#", 1)[0].split("?", 1)[0].rstrip("/")).name
