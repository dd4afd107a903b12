"""What a package index says of one package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.domain.releases.release import Release


@dataclass(frozen=True, kw_only=True)
class WheelFile:
    """The pure-Python wheel of one release, as the index offers it; no password in the address."""

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
