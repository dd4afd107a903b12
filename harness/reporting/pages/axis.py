"""The ribbons as they are drawn: cells that span columns, and flags where something changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from harness.domain.findings.evidence import Evidence, Place, differences
from harness.domain.findings.finding import Finding
from harness.domain.findings.transition import VERBS, Kind, Transition
from harness.reporting.ribbons import Column, Ribbon, columns, ribbons

MOST_NAMED = 8
"""Packages that a flag names; the section below has them all."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One link of a ribbon: neighbours that say the same.

    Attributes:
        column: Where it begins.
        columns: The columns that it spans.
        version: Its first release.
        versions: All of them in words.
        days: Their dates.
        state: What they say.
        css: The same as one word.
        reason: Why.
    """

    column: int
    columns: tuple[Column, ...]
    version: str
    versions: str
    days: str
    state: str
    css: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Flag:
    """A mark between two columns: it stands at the left edge of `column` and leads to `target`."""

    column: int
    label: str
    css: str
    text: str
    target: str


@dataclass(frozen=True, kw_only=True)
class Row:
    """One ribbon with the flags below it."""

    name: str
    cells: tuple[Cell, ...]
    flags: tuple[Flag, ...]


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """All ribbons of a search over one axis."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]


def drawn(finding: Finding, evidence: Evidence) -> Drawn:
    """Lay out the ribbons of one search."""
    found = ribbons(finding, evidence.places)
    sides = [version for t in finding.transitions for version in (t.last_before, t.first_after)]
    axis = columns(evidence.places, found, [*sides, *(after.version for _, after, _ in boundaries(finding, evidence))])
    return Drawn(columns=axis, rows=(*(_row(r, axis, finding) for r in found), *_environments(finding, evidence, axis)))


def transition_text(transition: Transition) -> str:
    """One transition with confidence and causes, as a flag tells it."""
    verb = VERBS[transition.kind]
    sure = f"confidence {transition.confidence:.4f}" + ("" if transition.confirmed else ", not confirmed")
    causes = "".join(f". Cause: {cause.title} ({cause.link})" for cause in transition.causes)
    return f"{transition.symptom.value} {verb} {transition.last_before} → {transition.first_after}, {sure}{causes}"


def boundaries(finding: Finding, evidence: Evidence) -> Iterator[tuple[Place, Place, list[tuple[str, str, str]]]]:
    """Neighbours with an environment whose interpreter or companions differ, and the differences."""
    built = [place for place in evidence.places if evidence.of(place.version).packages]
    for before, after in pairwise(built):
        changed = changes(finding, evidence, before.version, after.version)
        if changed:
            yield before, after, changed


def changes(finding: Finding, evidence: Evidence, before: str, after: str) -> list[tuple[str, str, str]]:
    """What differs between two environments beside the package under test: name, version before, version after."""
    one, other = evidence.of(before), evidence.of(after)
    if not one.packages or not other.packages:
        return []
    python = [("Python", one.python, other.python)] if one.python != other.python else []
    packages = differences(one.packages, other.packages)
    return [*python, *(change for change in packages if change[0] != finding.question.package)]


def _row(ribbon: Ribbon, axis: Sequence[Column], finding: Finding) -> Row:
    cells = []
    for segment in ribbon.segments:
        end = segment.first + len(segment.places)
        covered = [n for n, column in enumerate(axis) if segment.first <= column.first < end]
        spanned = tuple(axis[n] for n in covered)
        stretch = Column(first=segment.first, places=segment.places)
        cells.append(
            Cell(
                column=covered[0],
                columns=spanned,
                version=segment.places[0].version,
                versions=segment.versions,
                days=stretch.days,
                state=segment.state.value,
                css=segment.state.name_in_css,
                reason=segment.reason,
            )
        )
    own = [(n, t) for n, t in enumerate(finding.transitions, 1) if t.symptom.value == ribbon.name]
    flags = (
        Flag(
            column=_column(axis, t.first_after),
            label=str(number),
            css="ends" if t.kind is Kind.RECOVERY else "begins",
            text=transition_text(t),
            target=f"transition-{number}",
        )
        for number, t in own
    )
    return Row(name=ribbon.name, cells=tuple(cells), flags=tuple(flags))


def _environments(finding: Finding, evidence: Evidence, axis: Sequence[Column]) -> Iterator[Row]:
    """A row without cells where interpreter or companions change."""
    flags = tuple(
        Flag(
            column=_column(axis, after.version),
            label="≠",
            css="env",
            text=f"environment {before.version} → {after.version}: {_told(changed)}",
            target="environment",
        )
        for before, after, changed in boundaries(finding, evidence)
    )
    if flags:
        yield Row(name="companions", cells=(), flags=flags)


def _told(changed: Sequence[tuple[str, str, str]]) -> str:
    named = [f"{name} {before or 'none'} → {after or 'none'}" for name, before, after in changed[:MOST_NAMED]]
    more = f" and {len(changed) - MOST_NAMED} more" if len(changed) > MOST_NAMED else ""
    return ", ".join(named) + more


def _column(axis: Sequence[Column], version: str) -> int:
    return next((n for n, column in enumerate(axis) if any(p.version == version for p in column.places)), 0)
