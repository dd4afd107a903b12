"""What a terminal shows at the end of a search."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table

from harness.domain.findings.finding import Finding, ReleaseResult
from harness.domain.findings.transition import folded
from harness.reporting.terminal import end, line, table
from harness.reporting.text import clean, key_numbers

STYLES = {"good": "green", "bad": "bold red", "skip": "yellow", "not run": "dim"}
NAMES = ("report.md", "report.json", "report.html", "junit.xml")


def terminal(finding: Finding, folder: Path) -> RenderableType:
    """The answer: releases first, then transitions, the sentences and where the reports lie."""
    conclusion = finding.conclusion
    parts: list[RenderableType] = [releases_table(finding)]
    parts += [transitions_table(finding)] if finding.transitions else []
    parts.append(line(clean(conclusion.sentence, 2000), style="bold"))
    parts.append(line(clean(f"{conclusion.history} {conclusion.coverage}", 2000)))
    parts += map(line, _causes(finding))
    parts += [line(f"  - {clean(caveat, 1000)}") for caveat in conclusion.caveats]
    parts += map(line, _stages(finding))
    if finding.excluded:
        left_out = ", ".join(f"{clean(x.version, 60)} ({clean(str(x.reason), 60)})" for x in finding.excluded)
        parts.append(line(f"Left out: {left_out}"))
    return Group(*parts, *end(finding.timing, folder, NAMES, finding.reproduce))


def releases_table(finding: Finding) -> Table:
    """One row per release: verdict, symptoms, and both numbers."""
    question = finding.question
    settings = "".join(f", {name}={value}" for name, value in question.options)
    numbers = ("1 replica", f"{question.replicas} replicas") if finding.has_numbers else ()
    value = ("value",) if any(release.value for release in finding.releases) else ()
    columns = ("date", "verdict", "symptoms", *value, *numbers, "why")
    title = f"{question.case}{settings}: {finding.title}" if finding.title else f"{question.case}{settings}"
    made = table(clean(title, 160), (clean(question.package), *columns))
    for release in finding.releases:
        made.add_row(*_cells(release, valued=bool(value), numbered=bool(numbers)))
    return made


def transitions_table(finding: Finding) -> Table:
    """One row per transition."""
    columns = ("symptom", "kind", "last before", "first after", "untested between", "confidence")
    made = table("transitions", columns)
    for t in finding.transitions:
        between = "; ".join(clean(f"{u.version}: {u.reason}", 100) for u in folded(t.untested))
        confidence = f"{t.confidence:.4f}" + ("" if t.confirmed else ", not confirmed")
        sides = (escape(clean(version)) for version in (t.last_before, t.first_after))
        made.add_row(t.symptom.value, t.kind.value, *sides, escape(between), confidence)
    return made


def _stages(finding: Finding) -> Iterator[str]:
    """The finer searches, each followed by those inside it."""
    for stage in finding.stages:
        conclusion = stage.conclusion
        yield clean(f"{stage.question.package}: {conclusion.sentence} {conclusion.coverage}", 2000)
        yield from _causes(stage)
        yield from _stages(stage)


def _causes(finding: Finding) -> Iterator[str]:
    for t in finding.transitions:
        for cause in t.causes:
            place = f"{t.symptom.value} {t.last_before} -> {t.first_after}"
            changed = f"; {', '.join(cause.changes)}" if cause.changes else ""
            yield f"  - {clean(f'{cause.role} {place}: {cause.link} ({cause.title}){changed}', 1000)}"


def _cells(release: ReleaseResult, *, valued: bool, numbered: bool) -> list[str]:
    verdict = release.verdict.value if release.verdict else "not run"
    style = STYLES[verdict]
    why = clean(release.reason.split("; ")[0], 90)
    return [
        escape(clean(release.version)),
        release.released or "",
        f"[{style}]{verdict}[/]",
        ", ".join(s.value for s in release.symptoms),
        *([escape(clean(release.value, 40))] if valued else []),
        *([escape(key_numbers(release.reference)), escape(key_numbers(release.replicas))] if numbered else []),
        escape(why),
    ]
