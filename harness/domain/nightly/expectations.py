"""What is known and recorded: the symptoms that a range of releases is expected to show, and the fixes waited for.

The file is ``repro_cases/expectations.toml``; an entry without a reason, or one that expired, excuses nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from harness.domain.cases import toml_tables
from harness.domain.cases.symptoms import Symptom


@dataclass(frozen=True, kw_only=True)
class Expectation:
    """One symptom that a case is known to show on a range of releases.

    Attributes:
        case: Name of the case.
        symptom: The symptom.
        range: Versions that show it, as a PEP 440 specifier; builds of the night count (``>=3.7.0.dev20241124,<3.10``).
        reason: Why that is accepted for now.
        link: Where it is tracked.
        expires: The last day on which it excuses anything.
        recorded: The day on which it became known; a replay of earlier nights does not use it.
    """

    case: str
    symptom: Symptom
    range: str
    reason: str
    link: str = ""
    expires: date | None = None
    recorded: date | None = None

    def covers(self, version: str, on: date) -> bool:
        """Whether it excuses a release on a day."""
        if (self.expires and on > self.expires) or (self.recorded and on < self.recorded):
            return False
        try:
            return SpecifierSet(self.range).contains(Version(version), prereleases=True)
        except InvalidVersion:
            return False


@dataclass(frozen=True, kw_only=True)
class AwaitedFix:
    """A fix that is waited for: is it in the nightly yet?

    Attributes:
        case: Name of the case.
        symptom: What the fix takes away.
        broken: A release that shows the symptom.
        link: The pull request or issue.
    """

    case: str
    symptom: Symptom
    broken: str
    link: str = ""


@dataclass(frozen=True, kw_only=True)
class Expectations:
    """The whole file."""

    expected: tuple[Expectation, ...] = ()
    watches: tuple[AwaitedFix, ...] = ()

    def find(self, case: str, symptom: Symptom, version: str, on: date) -> Expectation | None:
        """The entry that excuses this symptom of this release on this day."""
        own = (e for e in self.expected if e.case == case and e.symptom is symptom)
        return next((e for e in own if e.covers(version, on)), None)

    def expired(self, on: date) -> tuple[Expectation, ...]:
        """Entries whose time is over."""
        return tuple(e for e in self.expected if e.expires is not None and on > e.expires)

    def unknown_cases(self, cases: Collection[str]) -> tuple[str, ...]:
        """Names in the file that no case has: most likely misspelt, and then excusing nothing."""
        named = dict.fromkeys([*(e.case for e in self.expected), *(w.case for w in self.watches)])
        return tuple(name for name in named if name not in cases)


def build(table: Mapping[str, Any], *, where: str) -> Expectations:
    """Check the parsed file and build it.

    Raises:
        UsageError: naming the file, the entry, the key and what was expected.
    """
    toml_tables.only(table, ("expect", "watch"), where)
    expected = toml_tables.read(table, "expect", _EXPECT, ("case", "symptom", "range", "reason"), where)
    watches = toml_tables.read(table, "watch", _WATCH, ("case", "symptom", "broken"), where)
    return Expectations(
        expected=tuple(Expectation(**entry) for entry in expected),
        watches=tuple(AwaitedFix(**entry) for entry in watches),
    )


def _range(value: Any) -> str:
    try:
        return str(SpecifierSet(toml_tables.text(value)))
    except InvalidSpecifier:
        raise ValueError(f"expected a range such as '>=3.7.0,<3.10', got {value!r}") from None


_EXPECT: Mapping[str, toml_tables.Reader] = {
    "case": toml_tables.text,
    "symptom": toml_tables.symptom,
    "range": _range,
    "reason": toml_tables.text,
    "link": toml_tables.text,
    "expires": toml_tables.day,
    "recorded": toml_tables.day,
}
_WATCH: Mapping[str, toml_tables.Reader] = {
    "case": toml_tables.text,
    "symptom": toml_tables.symptom,
    "broken": toml_tables.text,
    "link": toml_tables.text,
}
