"""What ``--channel`` asks for, and the case as it is run on that channel."""

from __future__ import annotations

from dataclasses import replace

from harness.adapters.storage import case_files
from harness.domain.cases.case import Case
from harness.domain.errors import UsageError
from harness.domain.releases.nightlies import is_nightly, nightly_package, stable_package
from harness.domain.releases.release import Channel

ALL = (Channel.STABLE, Channel.NIGHTLY, Channel.COMMIT)
"""From the coarsest to the finest: a search goes on inside the edges of the one before."""


def parse(text: str | None, package: str | None = None) -> tuple[Channel, ...]:
    """Read ``--channel``; without it a nightly distribution under ``--package`` means its own channel."""
    if text is None:
        return (Channel.NIGHTLY if package and is_nightly(package) else Channel.STABLE,)
    names = text.replace(" ", "").split(",")
    asked = tuple(channel for channel in ALL if channel.value in names)
    if [channel.value for channel in asked] != names:
        raise UsageError(
            f"unknown channel {text!r}",
            where="--channel",
            hint="stable, nightly, commit, or several of them in this order, such as stable,nightly,commit",
        )
    if package and is_nightly(package) and Channel.STABLE in asked:
        raise UsageError(f"{package} has nightly builds alone", where="--channel", hint="ask for --channel nightly")
    return asked


def under_test(case: Case, channel: Channel) -> Case:
    """The case with the distribution of the channel under test.

    It is read again where that changes: what is a companion follows from what is under test.
    """
    own = is_nightly(case.package)
    if channel is Channel.NIGHTLY and not own:
        return as_package(case, nightly_package(case.package))
    if channel is Channel.COMMIT and own:
        return as_package(case, stable_package(case.package))
    return case


def as_package(case: Case, package: str) -> Case:
    """The same case for another distribution of the same module; replicas, strategy and repeats stay as they are."""
    again = case_files.read(case.path, package=package)
    return replace(again, replicas=case.replicas, strategy=case.strategy, repeats=case.repeats)
