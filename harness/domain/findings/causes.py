"""Changes upstream that are known to have begun or ended a symptom, and the transitions that they explain.

The file is ``causes.toml`` beside the cases. A cause is laid beside a transition that was measured; it never makes one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from packaging.version import InvalidVersion, Version

from harness.domain.cases import toml_tables
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import UsageError
from harness.domain.findings.transition import Cause, Kind, Transition
from harness.domain.releases.release import Channel, Timeline


@dataclass(frozen=True, kw_only=True)
class KnownCause:
    """One change upstream and what it did to one case.

    Attributes:
        case: Name of the case.
        symptom: The symptom that it began or ended.
        kind: Regression or recovery.
        link: The pull request or commit.
        title: What it changed, in a clause.
        release: First stable release that has it.
        nightly: First nightly build that has it.
        commit: Its hash on the main line.
        package: Distribution that was changed.
    """

    case: str
    symptom: Symptom
    kind: Kind
    link: str
    title: str
    release: str = ""
    nightly: str = ""
    commit: str = ""
    package: str = "keras"

    def explains(self, transition: Transition) -> bool:
        """Whether it came in between the two sides: after the one, and at the latest with the other.

        Nightlies are placed by the day in their version: the main line keeps its number while a release is cut.
        """
        if transition.symptom is not self.symptom or transition.kind is not self.kind:
            return False
        if self.commit and transition.first_after.startswith(self.commit):
            return not transition.untested
        try:
            before, after = Version(transition.last_before), Version(transition.first_after)
        except InvalidVersion:
            return False
        if before.dev is not None and after.dev is not None:
            came = Version(self.nightly).dev if self.nightly else None
            return came is not None and before.dev < came <= after.dev
        return bool(self.release) and before < Version(self.release) <= after


def build(table: Mapping[str, Any], *, where: str) -> tuple[KnownCause, ...]:
    """Check the parsed file and build its entries.

    Raises:
        UsageError: naming the file, the entry, the key and what was expected.
    """
    toml_tables.only(table, ("cause",), where)
    read = toml_tables.read(table, "cause", _CAUSE, ("case", "symptom", "kind", "link", "title"), where)
    for number, entry in enumerate(read):
        if not {"release", "nightly", "commit"} & set(entry):
            raise UsageError(
                f"cause[{number}] does not say where it came in",
                where=where,
                hint="give release, nightly or commit: the first that has the change",
            )
    return tuple(KnownCause(**entry) for entry in read)


def explained(found: Sequence[Transition], known: Sequence[KnownCause], timeline: Timeline) -> tuple[Transition, ...]:
    """The transitions, each with the causes that are known for it; between two commits, the later one is found."""
    found_causes = []
    for transition in found:
        causes = [*_commit(transition, timeline), *_recorded(transition, known)]
        by_link = {cause.link: cause for cause in reversed(causes)}  # what was found says more than what was recorded
        found_causes.append(
            replace(transition, causes=tuple(cause for cause in causes if by_link[cause.link] is cause))
        )
    return tuple(found_causes)


def _commit(transition: Transition, timeline: Timeline) -> list[Cause]:
    if transition.untested:
        return []
    return [
        Cause(link=release.link or release.version, title=release.title, found=True, changes=release.changes)
        for release in timeline.releases
        if release.version == transition.first_after and release.channel is Channel.COMMIT
    ]


def _recorded(transition: Transition, known: Sequence[KnownCause]) -> list[Cause]:
    return [Cause(link=cause.link, title=cause.title) for cause in known if cause.explains(transition)]


def _kind(value: Any) -> Kind:
    try:
        return Kind(value)
    except ValueError:
        raise ValueError(f"expected one of {', '.join(k.value for k in Kind)}, got {value!r}") from None


def _version(value: Any) -> str:
    try:
        return str(Version(toml_tables.text(value)))
    except InvalidVersion:
        raise ValueError(f"expected a version such as 3.10.0, got {value!r}") from None


_CAUSE: Mapping[str, toml_tables.Reader] = {
    "case": toml_tables.text,
    "symptom": toml_tables.symptom,
    "kind": _kind,
    "link": toml_tables.text,
    "title": toml_tables.text,
    "release": _version,
    "nightly": _version,
    "commit": toml_tables.text,
    "package": toml_tables.text,
}
