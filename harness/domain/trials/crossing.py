"""A release beside the companions of another one: what tells a release from the companions that moved with it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Crossing:
    """One release, with the companions of another release as far as it takes them.

    Attributes:
        release: What is tried.
        companions_of: The release on the other side of the transition.
        package: The one companion that is taken from there; "" for all.
    """

    release: str
    companions_of: str
    package: str = ""

    @property
    def label(self) -> str:
        """What stands for the release in the journal: no timeline has a release of this name."""
        return f"{self.release} with {self.package or 'the companions'} of {self.companions_of}"
