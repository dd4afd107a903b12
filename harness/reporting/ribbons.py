"""One ribbon per symptom over a common axis of releases: what every cell says, and neighbours that say the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import groupby, pairwise

from harness.domain.cases.symptoms import Symptom
from harness.domain.findings.evidence import Place
from harness.domain.findings.finding import Finding, ReleaseResult
from harness.domain.findings.transition import Untested
from harness.domain.verdicts.reasons import ReasonKind
from harness.domain.verdicts.verdict import Outcome

MOST_CELLS = 60
"""A longer axis draws one cell for each stretch that says the same; 1,800 nightlies are few stretches."""
ANY = "any symptom"


class State(str, Enum):
    """What one cell says."""

    GOOD = "good"
    BAD = "bad"
    HIDDEN = "hidden"
    SKIP = "skip"
    NOT_RUN = "not run"
    YANKED = "yanked"

    @property
    def name_in_css(self) -> str:
        """One word."""
        return self.value.replace(" ", "-")


@dataclass(frozen=True, kw_only=True)
class Segment:
    """Neighbours that say the same for the same reason.

    Attributes:
        state: What they say.
        reason: Why, "" where there is nothing to explain.
        first: Place of the first on the axis.
        places: The releases.
    """

    state: State
    reason: str
    first: int
    places: tuple[Place, ...]

    @property
    def versions(self) -> str:
        """The releases in words."""
        if len(self.places) == 1:
            return self.places[0].version
        return f"{self.places[0].version} to {self.places[-1].version} ({len(self.places)} releases)"


@dataclass(frozen=True, kw_only=True)
class Ribbon:
    """What a whole timeline says of one symptom."""

    name: str
    segments: tuple[Segment, ...]


def ribbons(finding: Finding, places: Sequence[Place]) -> tuple[Ribbon, ...]:
    """One ribbon for each symptom that was seen or asked for; one of all verdicts where there is none."""
    results = {release.version: release for release in finding.releases}
    symptoms = shown_symptoms(finding)
    if not symptoms:
        return (Ribbon(name=ANY, segments=tuple(_segments(places, results, None))),)
    return tuple(Ribbon(name=s.value, segments=tuple(_segments(places, results, s))) for s in symptoms)


def shown_symptoms(finding: Finding) -> tuple[Symptom, ...]:
    """The symptoms that a reader looks for, in the order in which they hide one another."""
    seen = {s for r in finding.releases for s, verdict in r.by_symptom.items() if verdict.outcome is Outcome.BAD}
    seen |= {transition.symptom for transition in finding.transitions} | set(finding.question.symptoms)
    return tuple(symptom for symptom in Symptom if symptom in seen)


def cell(place: Place, result: ReleaseResult | None, symptom: Symptom | None) -> tuple[State, str]:
    """What one release says of a symptom (of any, without one), and why."""
    if not place.tried:
        return State.YANKED, f"left out: yanked{': ' + place.yanked if place.yanked else ''}"
    if result is None or result.verdict is None:
        return State.NOT_RUN, ""
    verdict = result.by_symptom.get(symptom) if symptom else None
    if verdict is None:
        plain = result.verdict if symptom is None or result.verdict is Outcome.SKIP else None
        return (State(plain.value), result.reason) if plain else (State.SKIP, "nothing was recorded of this symptom")
    if verdict.outcome is Outcome.SKIP and verdict.reason.kind is ReasonKind.HIDDEN:
        return State.HIDDEN, str(verdict.reason)
    return State(verdict.outcome.value), str(verdict.reason)


def _segments(
    places: Sequence[Place], results: Mapping[str, ReleaseResult], symptom: Symptom | None
) -> Iterator[Segment]:
    told = [(n, place, cell(place, results.get(place.version), symptom)) for n, place in enumerate(places)]
    many = len(places) > MOST_CELLS
    for _, group in groupby(told, key=lambda one: one[2][0] if many else one[2]):
        alike = list(group)
        state, reason = alike[0][2]
        others = len({why for _, _, (_, why) in alike}) - 1
        yield Segment(
            state=state,
            reason=f"{reason} (and {others} more reasons, in the table)" if others else reason,
            first=alike[0][0],
            places=tuple(place for _, place, _ in alike),
        )


def by_reason(untested: Sequence[Untested]) -> Iterator[str]:
    """Releases and their reason, with equal reasons of neighbours told once."""
    for reason, group in groupby(untested, key=lambda one: str(one.reason)):
        alike = [one.version for one in group]
        versions = alike[0] if len(alike) == 1 else f"{alike[0]} to {alike[-1]} ({len(alike)} releases)"
        yield f"{versions}: {reason}"


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column of the drawn axis: a release, or a stretch of releases that no ribbon tells apart."""

    first: int
    places: tuple[Place, ...]

    @property
    def label(self) -> str:
        """The release, or the stretch."""
        first, last = self.places[0].version, self.places[-1].version
        return first if first == last else f"{first} … {last}"

    @property
    def days(self) -> str:
        """The dates."""
        first, last = (place.released or "date unknown" for place in (self.places[0], self.places[-1]))
        return first if first == last else f"{first} to {last}"


def columns(places: Sequence[Place], drawn: Iterable[Ribbon], kept: Iterable[str] = ()) -> tuple[Column, ...]:
    """The columns of the axis: a release each while they are few, else cut only where something changes.

    Args:
        places: The axis.
        drawn: The ribbons on it.
        kept: Versions that have a column of their own, for example the sides of transitions.
    """
    if len(places) <= MOST_CELLS:
        return tuple(Column(first=n, places=(place,)) for n, place in enumerate(places))
    cuts = {0, len(places)} | {segment.first for ribbon in drawn for segment in ribbon.segments}
    wanted = set(kept)
    for n, place in enumerate(places):
        if place.version in wanted:
            cuts |= {n, n + 1}
    ordered = sorted(cuts)
    return tuple(Column(first=first, places=tuple(places[first:last])) for first, last in pairwise(ordered))
