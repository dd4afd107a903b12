"""Save wheel and lock of both sides of every transition: nightly builds vanish from the index."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import requests
from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion, Version
from pypi_simple import DigestMismatchError, DistributionPackage, NoSuchProjectError, PyPISimple

from harness.adapters.index.address import index_address
from harness.adapters.index.package_index import TIMEOUT_SECONDS
from harness.adapters.storage.files import disk_errors, file_digest, write_whole
from harness.domain.findings.finding import Finding
from harness.domain.releases.companions import name_of

FOLDER = "kept"
LOCK = "lock.txt"


def save_artifacts(finding: Finding, folder: Path) -> list[str]:
    """Save both sides of every transition under ``<folder>/kept/<version>/``.

    Returns:
        What could not be saved, one sentence each; the answer does not depend on it.
    """
    versions = dict.fromkeys(v for t in finding.transitions for v in (t.last_before, t.first_after))
    problems = []
    for release in finding.releases:
        own = finding.locks.get(release.environment or "")
        if release.version in versions and own is not None:
            place = folder / FOLDER / release.version
            with disk_errors(place, "free some space"):
                place.mkdir(parents=True, exist_ok=True)
            whole = {name_of(line): line for line in (*finding.environment.lock, *own)}
            write_whole(place / LOCK, "\n".join(line for _, line in sorted(whole.items())) + "\n")
            if problem := _save_wheel(finding, release.version, own, place):
                problems.append(problem)
    return problems


def _save_wheel(finding: Finding, version: str, lock: Sequence[str], place: Path) -> str | None:
    """Download the file that the environment was built from; returns why that failed."""
    package = finding.question.package
    hashes = {
        h
        for line in lock
        if name_of(line) == canonicalize_name(package)
        for h in re.findall(r"sha256:([0-9a-f]{64})", line)
    }
    if any(file_digest(file) in hashes for file in place.iterdir() if file.suffix in (".whl", ".gz")):
        return None
    try:
        with PyPISimple(index_address()) as client:
            page = client.get_project_page(package, timeout=TIMEOUT_SECONDS)
            file = choose(page.packages, version, hashes, finding.environment.python)
            if file is None:
                return f"{package} {version} is not on the index any more, so its file could not be saved"
            client.download_package(file, place / Path(file.filename).name, timeout=TIMEOUT_SECONDS)
    except (requests.RequestException, NoSuchProjectError, DigestMismatchError, OSError, ValueError) as error:
        return f"the file of {package} {version} could not be saved: {type(error).__name__}"
    return None


def choose(
    files: Iterable[DistributionPackage], version: str, hashes: set[str], python: str
) -> DistributionPackage | None:
    """The file that an installer chooses: the most specific wheel that fits the interpreter, else the source."""
    own = [f for f in files if _is(f, version) and (f.digests or {}).get("sha256") in hashes]
    order = {tag: place for place, tag in enumerate(_tags(python))}
    ranks = [(min((order[t] for t in _wheel_tags(f) if t in order), default=None), f) for f in own]
    fitting = sorted(((rank, f) for rank, f in ranks if rank is not None), key=lambda pair: pair[0])
    sources = [f for f in own if f.package_type == "sdist"]
    return fitting[0][1] if fitting else next(iter(sources), None)


def _tags(python: str) -> list[Tag]:
    parts = tuple(int(part) for part in python.split(".")[:2])
    return [*cpython_tags(parts), *compatible_tags(parts)]


def _wheel_tags(file: DistributionPackage) -> frozenset[Tag]:
    try:
        return parse_wheel_filename(file.filename)[3]
    except InvalidWheelFilename:
        return frozenset()  # the source


def _is(file: DistributionPackage, version: str) -> bool:
    try:
        return Version(file.version or "") == Version(version)
    except InvalidVersion:
        return False
