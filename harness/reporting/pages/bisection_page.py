"""``report.html`` of a search: the answer, what to do next, the ribbons, the charts, and the evidence behind them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from harness.domain.findings.evidence import Evidence, without_evidence
from harness.domain.findings.finding import Finding, ReleaseResult
from harness.domain.findings.next_steps import next_steps
from harness.domain.findings.transition import Transition
from harness.reporting.moved_companions import moved_lines, partings
from harness.reporting.pages import axis, charts, page
from harness.reporting.pages.charts import Chart, Line
from harness.reporting.ribbons import by_reason

MOST_NOT_RUN = 3
"""Neighbours that were not run and have a row each; more are one row."""


@dataclass(frozen=True, kw_only=True)
class Side:
    """A transition as the page tells it."""

    number: int
    transition: Transition
    changes: tuple[tuple[str, str, str], ...]
    compared: bool
    untested: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class TableRow:
    """One release in the table; the reason stands at the first of neighbours that have the same.

    Attributes:
        release: The release.
        spans: So many rows share its reason; 0: an earlier one has it.
        until: The last of a stretch that was not run and is one row; "" where the row is one release.
    """

    release: ReleaseResult
    spans: int
    until: str = ""


@dataclass(frozen=True, kw_only=True)
class Section:
    """One search: the whole one, or a finer one inside it."""

    finding: Finding
    evidence: Evidence
    drawn: axis.Drawn
    sides: tuple[Side, ...]
    rows: tuple[TableRow, ...]
    curves: tuple[tuple[Chart, ...], ...]
    prefix: str
    stages: tuple[Section, ...]


def html(finding: Finding, evidence: Evidence | None = None, *, paste: str = "") -> str:
    """Return the page.

    Args:
        finding: The answer.
        evidence: What stands behind it; None: it is not at hand, and neither curves nor environments are shown.
        paste: The same for an issue, to be copied.
    """
    section = _section(finding, evidence or without_evidence(finding), "")
    return page.render(
        "pages/bisection.html",
        section=section,
        steps=next_steps(finding),
        final=final_metric(finding),
        weights=weights(finding, section.evidence),
        command=_command(finding),
        paste=paste,
        partings=partings,
        moved_lines=moved_lines,
    )


def _section(finding: Finding, evidence: Evidence, prefix: str) -> Section:
    stages = [*evidence.stages, *(without_evidence(stage) for stage in finding.stages[len(evidence.stages) :])]
    return Section(
        finding=finding,
        evidence=evidence,
        drawn=axis.drawn(finding, evidence),
        sides=tuple(_sides(finding, evidence)),
        rows=tuple(table_rows(finding.releases)),
        curves=tuple(_curves(finding, evidence)),
        prefix=prefix,
        stages=tuple(
            _section(stage, behind, f"{prefix}stage-{n}-")
            for n, (stage, behind) in enumerate(zip(finding.stages, stages, strict=True), 1)
        ),
    )


def table_rows(releases: Sequence[ReleaseResult]) -> Iterator[TableRow]:
    """The rows of the table, with equal reasons of neighbours told once."""
    for _, group in groupby(releases, key=lambda release: (release.verdict, release.symptoms, release.reason)):
        alike = list(group)
        if alike[0].verdict is None and len(alike) > MOST_NOT_RUN:
            yield TableRow(release=alike[0], spans=1, until=f"{alike[-1].version}: {len(alike)} releases")
            continue
        for n, release in enumerate(alike):
            yield TableRow(release=release, spans=len(alike) if n == 0 else 0)


def final_metric(finding: Finding) -> Chart | None:
    """The first final metric on one replica and on several, release by release."""
    tried = _to_draw(finding, [release for release in finding.releases if release.reference or release.replicas])
    name = next((name for release in tried for name in (*release.replicas, *release.reference)), "")
    labels = [release.version for release in tried]
    lines = [
        Line(name="1 replica", values=[release.reference.get(name) for release in tried]),
        Line(name=f"{finding.question.replicas} replicas", values=[release.replicas.get(name) for release in tried]),
    ]
    return charts.by_label(f"Final {name}", labels, lines)


def weights(finding: Finding, evidence: Evidence) -> Chart | None:
    """How far the weights are from those of one replica, release by release."""
    known = [release for release in finding.releases if evidence.of(release.version).deviation is not None]
    tried = _to_draw(finding, known)
    values = [evidence.of(release.version).deviation for release in tried]
    line = Line(name="largest distance of a weight from one replica, as a share of the largest weight", values=values)
    return charts.by_label("Weights after training", [release.version for release in tried], [line])


def _to_draw(finding: Finding, tried: Sequence[ReleaseResult]) -> list[ReleaseResult]:
    sides = {version for t in finding.transitions for version in (t.last_before, t.first_after)}
    kept = [n for n, release in enumerate(tried) if release.version in sides]
    return [tried[n] for n in charts.thinned(len(tried), kept)]


def _curves(finding: Finding, evidence: Evidence) -> Iterator[tuple[Chart, ...]]:
    """Metrics step by step for both sides of each transition, each pair of releases once."""
    for before, after in dict.fromkeys((t.last_before, t.first_after) for t in finding.transitions):
        pair = []
        for version in (before, after):
            own = evidence.of(version).curves
            title = f"{version}: {own[0].metric} after each of {own[0].steps} steps" if own else version
            pair.append(charts.by_step(title, {curve.variant: curve.points for curve in own}))
        if drawn := tuple(chart for chart in pair if chart is not None):
            yield drawn


def _sides(finding: Finding, evidence: Evidence) -> Iterator[Side]:
    for number, t in enumerate(finding.transitions, 1):
        compared = bool(evidence.of(t.last_before).packages and evidence.of(t.first_after).packages)
        changes = tuple(axis.changes(finding, evidence, t.last_before, t.first_after))
        lines = tuple(by_reason(t.untested))
        yield Side(number=number, transition=t, changes=changes, compared=compared, untested=lines)


def _command(finding: Finding) -> str:
    """The command that runs the case on one release, without the release."""
    question = finding.question
    words = ["harness", "run", question.case, "--replicas", str(question.replicas)]
    words += [word for name, value in question.options for word in ("--set", f"{name}={value}")]
    return shlex.join([*words, "--release"])
