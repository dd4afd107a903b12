"""How fine a timeline is: what ``--channel`` asks for, and how a commit is written."""

from __future__ import annotations

import re

from harness.domain.errors import UsageError
from harness.domain.releases.nightlies import is_nightly
from harness.domain.releases.release import Channel

ALL = (Channel.STABLE, Channel.NIGHTLY, Channel.COMMIT, Channel.HUNK)
"""From the coarsest to the finest: a search goes on inside the transitions of the one before."""


def parse_channels(text: str | None, package: str | None = None) -> tuple[Channel, ...]:
    """Read ``--channel``; without it a nightly distribution under ``--package`` means its own channel.

    Hunks lie between two releases, so alone they mean those of the package's own channel, and their hunks.

    Raises:
        UsageError: unknown channels, or an order from fine to coarse.
    """
    own = Channel.NIGHTLY if package and is_nightly(package) else Channel.STABLE
    if text is None:
        return (own,)
    names = text.replace(" ", "").split(",")
    chosen = tuple(channel for channel in ALL if channel.value in names)
    if [channel.value for channel in chosen] != names:
        raise UsageError(
            f"unknown channel {text!r}",
            where="--channel",
            hint="stable, nightly, commit, hunk, or several of them in this order, such as stable,nightly,commit",
        )
    if package and is_nightly(package) and Channel.STABLE in chosen:
        raise UsageError(f"{package} has nightly builds alone", where="--channel", hint="ask for --channel nightly")
    return (own, *chosen) if chosen == (Channel.HUNK,) else chosen


def is_commit(text: str) -> bool:
    """Whether a release is written as a commit or pull request, which only a clone has."""
    return text.startswith(("commit:", "pr:")) or re.fullmatch(r"[0-9a-f]{7,40}", text) is not None
