"""The table that a terminal shows at the end of a search."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from harness.domain.findings.finding import Finding, ReleaseResult
from harness.domain.findings.transitions import folded
from harness.reporting.text import clean, command, key_numbers, seconds

STYLES = {"good": "green", "bad": "bold red", "skip": "yellow", "not run": "dim"}


def show(finding: Finding, folder: Path, console: Console) -> None:
    """Print the answer: releases first, then transitions, the sentences and where the reports lie."""
    console.print(releases_table(finding))
    if finding.transitions:
        console.print(transitions_table(finding))
    console.print(f"[bold]{escape(clean(finding.conclusion.sentence, 2000))}[/]", highlight=False)
    console.print(escape(clean(f"{finding.conclusion.history} {finding.conclusion.coverage}", 2000)), highlight=False)
    _causes(finding, console)
    for doubt in finding.conclusion.caveats:
        console.print(escape(f"  - {clean(doubt, 1000)}"), highlight=False)
    _stages(finding, console)
    if finding.excluded:
        left_out = ", ".join(f"{clean(x.version, 60)} ({clean(str(x.reason), 60)})" for x in finding.excluded)
        console.print(escape(f"Left out: {left_out}"), highlight=False)
    console.print(escape("Time (sum over jobs): " + timing(finding)), highlight=False)
    console.print(
        escape(f"Reports: {folder}/report.md, report.json, report.html, junit.xml"), highlight=False, soft_wrap=True
    )
    console.print(escape(f"Again:   {command(finding.reproduce)}"), highlight=False, soft_wrap=True)


def releases_table(finding: Finding) -> Table:
    """One row per release: verdict, symptoms, and both numbers."""
    replicas = finding.question.replicas
    settings = "".join(f", {name}={value}" for name, value in finding.question.options)
    title = escape(clean(f"{finding.question.case}{settings}: {finding.title}", 160))
    table = Table(title=title, title_justify="left")
    for name in (
        escape(clean(finding.question.package)),
        "date",
        "verdict",
        "symptoms",
        "1 replica",
        f"{replicas} replicas",
        "why",
    ):
        table.add_column(name, overflow="fold")
    for release in finding.releases:
        table.add_row(*_cells(release))
    return table


def transitions_table(finding: Finding) -> Table:
    """One row per transition."""
    table = Table(title="transitions", title_justify="left")
    for name in ("symptom", "kind", "last before", "first after", "untested between", "confidence"):
        table.add_column(name, overflow="fold")
    for t in finding.transitions:
        between = "; ".join(clean(f"{u.version}: {u.reason}", 100) for u in folded(t.untested))
        sure = f"{t.confidence:.4f}" + ("" if t.confirmed else ", not confirmed")
        places = (escape(clean(version)) for version in (t.last_before, t.first_after))
        table.add_row(t.symptom.value, t.kind.value, *places, escape(between), sure)
    return table


def timing(finding: Finding) -> str:
    """Where the time went."""
    return ", ".join(f"{clean(phase, 40)} {seconds(spent)}" for phase, spent in finding.timing.items())


def _stages(finding: Finding, console: Console) -> None:
    """The finer searches, each followed by those inside it."""
    for stage in finding.stages:
        told = clean(f"{stage.question.package}: {stage.conclusion.sentence} {stage.conclusion.coverage}", 2000)
        console.print(escape(told), highlight=False)
        _causes(stage, console)
        _stages(stage, console)


def _causes(finding: Finding, console: Console) -> None:
    for t in finding.transitions:
        for cause in t.causes:
            place = f"{t.symptom.value} {t.last_before} -> {t.first_after}"
            changed = f"; {', '.join(cause.changes)}" if cause.changes else ""
            told = f"{cause.role} {place}: {cause.link} ({cause.title}){changed}"
            console.print(escape(f"  - {clean(told, 1000)}"), highlight=False)


def _cells(release: ReleaseResult) -> list[str]:
    verdict = release.verdict.value if release.verdict else "not run"
    style = STYLES[verdict]
    why = clean(release.reason.split("; ")[0], 90)
    return [
        escape(clean(release.version)),
        release.released or "",
        f"[{style}]{verdict}[/]",
        ", ".join(s.value for s in release.symptoms),
        escape(key_numbers(release.reference)),
        escape(key_numbers(release.replicas)),
        escape(why),
    ]
