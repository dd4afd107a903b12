"""Releases of the package under test and the timeline that a question ranges over."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from harness.domain.errors import UsageError


class Channel(str, Enum):
    """Where a release comes from; a hunk is a part of the change between two of them."""

    STABLE = "stable"
    NIGHTLY = "nightly"
    COMMIT = "commit"
    HUNK = "hunk"


class Order(str, Enum):
    """How a timeline is sorted; 3.12.4 came after 3.14.1, so the two differ."""

    VERSION = "version"
    DATE = "date"


@dataclass(frozen=True, kw_only=True)
class Release:
    """One version of the package under test.

    Attributes:
        package: Distribution name on the index, for example ``keras`` or ``keras-nightly``.
        version: Version as published; for a commit its full hash.
        channel: Stable, nightly or commit.
        released: Upload time of its first file (UTC), or the commit's date.
        yanked: The reason if the release was yanked ("" when none was given), else None.
        requires_python: Specifier of the interpreters it takes, as published.
        source: Where it is installed from when that is not the index (``git+file://...@<sha>``).
        title: Subject of a commit.
        link: Pull request of a commit.
        changes: Files that a commit changed, with the number of lines added and removed.
    """

    package: str
    version: str
    channel: Channel = Channel.STABLE
    released: datetime | None = None
    yanked: str | None = None
    requires_python: str | None = None
    source: str | None = None
    title: str = ""
    link: str = ""
    changes: tuple[str, ...] = ()

    @property
    def requirement(self) -> str:
        """The requirement that installs exactly this release."""
        return f"{self.package} @ {self.source}" if self.source else f"{self.package}=={self.version}"

    @property
    def exact_requirement(self) -> str:
        """The requirement for the installer: ``==1.1`` takes 1.1+cu12 too, and installers prefer that one."""
        return self.requirement if self.source else f"{self.package}==={self.version}"

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from every other release: the same version may exist in two packages."""
        return self.package, self.version

    @property
    def parsed(self) -> Version:
        """The version as PEP 440 orders it; a commit has no order but its date and sorts lowest."""
        try:
            return Version(self.version)
        except InvalidVersion:
            return Version("0")

    def accepts_python(self, python: str) -> bool:
        """Say whether ``requires_python`` admits the interpreter version (malformed ones admit all)."""
        if not self.requires_python:
            return True
        try:
            return SpecifierSet(self.requires_python).contains(python, prereleases=True)
        except InvalidSpecifier:
            return True


@dataclass(frozen=True, kw_only=True)
class Exclusion:
    """A release inside the range that is left out of the timeline, and why."""

    release: Release
    reason: str


@dataclass(frozen=True, kw_only=True)
class Timeline:
    """The ordered releases of one question, those excluded, and on nightly timelines the days without a build."""

    releases: tuple[Release, ...]
    excluded: tuple[Exclusion, ...] = ()
    order: Order = Order.VERSION
    absent: tuple[str, ...] = ()

    @property
    def versions(self) -> tuple[str, ...]:
        """The versions in order."""
        return tuple(release.version for release in self.releases)

    @property
    def ends(self) -> tuple[str, str]:
        """Lowest and highest version, whatever the order: what --from and --to say to ask the same again."""
        by_version = sort(self.releases, Order.VERSION)
        return by_version[0].version, by_version[-1].version

    def neighbours_diverge(self, earlier: int, later: int) -> str | None:
        """Explain why the later neighbour need not contain the earlier one's changes, or return None.

        Two release branches overlap in time when the higher version is the older file.
        """
        first, second = self.releases[earlier], self.releases[later]
        if first.released is None or second.released is None or second.released >= first.released:
            return None
        return (
            f"{second.version} ({second.released:%Y-%m-%d}) was published before {first.version} "
            f"({first.released:%Y-%m-%d}): different release branches, so {second.version} need not "
            f"contain the changes of {first.version}"
        )


def parse_version(text: str, *, where: str) -> Version:
    """Parse a version given by the user; raises `UsageError` naming the option in `where`."""
    try:
        return Version(text)
    except InvalidVersion:
        raise UsageError(
            f"{text!r} is not a version", where=where, hint="give one such as 3.9.0, or 'latest'"
        ) from None


def stable_timeline(
    published: Sequence[Release],
    *,
    first: str | None,
    last: str,
    order: Order = Order.VERSION,
) -> Timeline:
    """Select the stable releases from `first` to `last`, both included and both required to exist.

    Args:
        published: All releases of the package that the index lists.
        first: Version where the range begins (see `find`); None for the oldest.
        last: Version where it ends.
        order: By version or by date.

    Raises:
        UsageError: unknown version, reversed range, or nothing in the range.
    """
    lower = _usable(published)[0] if first is None else find(published, first, where="--from")
    upper = find(published, last, where="--to")
    if lower.parsed > upper.parsed:
        raise UsageError(f"--from {lower.version} comes after --to {upper.version}", hint="swap the two versions")
    inside = [r for r in published if lower.parsed <= r.parsed <= upper.parsed]
    named = {lower.version, upper.version}
    kept = [r for r in inside if r.version in named or _left_out(r) is None]
    excluded = [
        Exclusion(release=r, reason=_left_out(r) or "") for r in sorted(inside, key=_by_version) if r not in kept
    ]
    return Timeline(releases=tuple(sort(kept, order)), excluded=tuple(excluded), order=order)


def sort(releases: Iterable[Release], order: Order) -> list[Release]:
    """Sort releases by version or by date; an undated one stays behind the release that it follows by version."""
    by_version = sorted(releases, key=_by_version)
    if order is Order.VERSION:
        return by_version
    moments: list[float] = []
    for release in by_version:
        before = moments[-1] if moments else 0.0
        moments.append(release.released.timestamp() if release.released else before)
    return [release for _, release in sorted(zip(moments, by_version, strict=True), key=lambda pair: pair[0])]


def _by_version(release: Release) -> Version:
    return release.parsed


def usable_stable(releases: Iterable[Release]) -> list[Release]:
    """The releases that take part without being named, by version: neither yanked nor a pre-release."""
    return sorted((r for r in releases if _left_out(r) is None), key=_by_version)


def yanked(release: Release) -> str | None:
    """Why a yanked release stays out, or None when it is not yanked."""
    if release.yanked is None:
        return None
    return f"yanked: {release.yanked}" if release.yanked else "yanked"


def _left_out(release: Release) -> str | None:
    """Why a release that was not asked for by name stays out of a stable timeline."""
    return yanked(release) or ("pre-release" if release.parsed.is_prerelease else None)


def find(published: Sequence[Release], text: str, *, where: str) -> Release:
    """Find one release by its version, or the newest stable one by "latest".

    Raises:
        UsageError: naming the option in `where`, and the releases near an unknown version.
    """
    if text == "latest" or not published:
        return _usable(published)[-1]
    wanted = parse_version(text, where=where)
    for release in published:
        if release.parsed == wanted:
            return release
    usable = usable_stable(published) or published
    near = sorted(usable, key=lambda r: _distance(r.parsed, wanted))[:3]
    package = published[0].package
    raise UsageError(
        f"{package} {text} is not on the index",
        where=where,
        hint=f"releases near it: {', '.join(str(r.parsed) for r in sorted(near, key=_by_version))}; "
        f"`harness releases --package {package}` lists all",
    )


def _usable(published: Sequence[Release]) -> list[Release]:
    usable = usable_stable(published)
    if not usable:
        raise UsageError("no stable release is published", hint="check --package and the index address")
    return usable


def stable_before(published: Sequence[Release], release: Release) -> list[Release]:
    """The stable releases before one, the nearest first."""
    return [r for r in usable_stable(published) if r.parsed < release.parsed][::-1]


def _distance(one: Version, other: Version) -> tuple[int, ...]:
    pad = (0, 0)
    return tuple(abs(a - b) for a, b in zip((*one.release, *pad)[:3], (*other.release, *pad)[:3], strict=True))
