"""What ``--channel`` asks for, and the case as it is run on that channel."""

from __future__ import annotations

from dataclasses import replace

from harness.core.cases import Case
from harness.core.errors import UsageError
from harness.core.releases import Channel
from harness.core.timelines import is_nightly, nightly_package
from harness.edge import case_files

BOTH = (Channel.STABLE, Channel.NIGHTLY)
_KNOWN = {
    "stable": (Channel.STABLE,),
    "nightly": (Channel.NIGHTLY,),
    "stable,nightly": BOTH,
}


def parse(text: str | None, package: str | None = None) -> tuple[Channel, ...]:
    """Read ``--channel``; without it a nightly distribution under ``--package`` means its own channel."""
    if text is None:
        return _KNOWN["nightly" if package and is_nightly(package) else "stable"]
    asked = text.replace(" ", "")
    if asked not in _KNOWN:
        raise UsageError(f"unknown channel {text!r}", where="--channel", hint=f"one of {'; '.join(_KNOWN)}")
    if package and is_nightly(package) and asked != "nightly":
        raise UsageError(f"{package} has nightly builds alone", where="--channel", hint="ask for --channel nightly")
    return _KNOWN[asked]


def under_test(case: Case, channel: Channel) -> Case:
    """The case with the distribution of the channel under test.

    It is read again where that changes: what is a companion follows from what is under test.
    """
    if channel is not Channel.NIGHTLY or is_nightly(case.package):
        return case
    return as_package(case, nightly_package(case.package))


def as_package(case: Case, package: str) -> Case:
    """The same case for another distribution of the same module; replicas, strategy and repeats stay as they are."""
    again = case_files.read(case.path, package=package)
    return replace(again, replicas=case.replicas, strategy=case.strategy, repeats=case.repeats)
