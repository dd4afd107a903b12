"""Releases and wheels as the files of an index page describe them."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime, timezone

from packaging.version import InvalidVersion, Version
from pypi_simple import DistributionPackage

from harness.adapters.index.address import without_password
from harness.domain.releases.index_page import WheelFile
from harness.domain.releases.nightlies import is_nightly
from harness.domain.releases.release import Channel, Release


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
                    url=without_password(file.url), sha256=digests.get("sha256"), size=file.size
                )
    return found


def _release(package: str, version: Version, files: list[DistributionPackage]) -> Release:
    times = [_aware(file.upload_time) for file in files if file.upload_time is not None]
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


def _aware(moment: datetime) -> datetime:
    """A time without a zone is UTC, by the standard."""
    return moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)
