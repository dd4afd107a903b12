"""Reports of ``verify-fix``: JSON, Markdown and the terminal's table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from harness import codec
from harness.adapters.storage.files import write_whole
from harness.domain.fixes.advice import causes
from harness.domain.fixes.grades import FixReport, FixResult, Grade, Graded
from harness.reporting.templating import environment
from harness.reporting.text import clean, command, key_numbers, seconds

STYLES = {
    Grade.PROVEN: "green",
    Grade.MASKS: "yellow",
    Grade.NO_EFFECT: "red",
    Grade.BREAKS: "bold red",
    Grade.INCONCLUSIVE: "magenta",
    Grade.ABSENT: "dim",
    Grade.NOT_REPRODUCED: "dim",
}
SWEEP = 4  # from so many fixes on, one table with a row per fix is shown instead of one table each


def json_text(report: FixReport) -> str:
    """Return the report as JSON text."""
    return codec.dumps(FixReport, report, indent=2) + "\n"


def markdown(report: FixReport) -> str:
    """Return the report as Markdown."""
    return (
        environment()
        .get_template("fix.md")
        .render(report=report, sweep=len(report.fixes) >= SWEEP, cell=cell, causes=causes)
    )


def write_all(report: FixReport, folder: Path) -> None:
    """Render all first, then write."""
    rendered = {"report.json": json_text(report), "report.md": markdown(report)}
    for name, content in rendered.items():
        write_whole(folder / name, content)


def show(report: FixReport, folder: Path, console: Console) -> None:
    """Print tables and sentences."""
    if len(report.fixes) >= SWEEP:
        console.print(sweep_table(report))
        for told in causes(report.fixes):
            console.print(f"[bold]{escape(clean(told, 600))}[/]", highlight=False)
    else:
        for result in report.fixes:
            console.print(table(result, report.question.replicas))
            console.print(f"[bold]{escape(clean(result.sentence, 2000))}[/]", highlight=False)
    if report.control:
        console.print(
            f"Control: {escape(clean(report.control))} is the last good release before the range.", highlight=False
        )
    for told in report.workarounds:
        console.print(escape("  " + clean(told, 400)), highlight=False, soft_wrap=True)
    spent = ", ".join(f"{clean(phase, 40)} {seconds(value)}" for phase, value in report.timing.items())
    console.print(escape(f"Time (sum over jobs): {spent}"), highlight=False)
    console.print(escape(f"Reports: {folder}/report.md, report.json"), highlight=False, soft_wrap=True)
    console.print(escape(f"Again:   {command(report.reproduce)}"), highlight=False, soft_wrap=True)


def table(result: FixResult, replicas: int) -> Table:
    """One row per release with the three numbers."""
    made = Table(title=escape(clean(result.name)), title_justify="left")
    for name in ("release", "grade", "1 replica", f"{replicas} replicas", "with the fix", "why"):
        made.add_column(name, overflow="fold")
    for one in result.releases:
        numbers = [escape(key_numbers(n, 1)) for n in (one.reference, one.without, one.patched)]
        grade = f"[{STYLES[one.grade]}]{one.grade.value}[/]"
        made.add_row(escape(clean(one.version)), grade, *numbers, escape(clean(one.reason, 160)))
    return made


def sweep_table(report: FixReport) -> Table:
    """One row per change, one column per release: which symptoms are there with the change."""
    made = Table(title="symptoms with one key of the mapping changed", title_justify="left")
    releases = [escape(clean(one.version)) for one in report.fixes[0].releases]
    for name in ("change", *releases):
        made.add_column(name, overflow="fold")
    made.add_row("(unchanged)", *(escape(cell(one.by_symptom, 0)) for one in report.fixes[0].releases))
    for result in report.fixes:
        made.add_row(escape(clean(result.name)), *(escape(_changed(one)) for one in result.releases))
    return made


def _changed(one: Graded) -> str:
    return one.grade.value if not one.by_symptom or one.grade is Grade.ABSENT else cell(one.by_symptom, 1)


def cell(by_symptom: Mapping[str, tuple[str, str]], side: int) -> str:
    """Symptoms on one side (0: without, 1: with the fix); healthy is only what was decided in everything."""
    bad = [name for name, outcomes in by_symptom.items() if outcomes[side] == "bad"]
    decided = bool(by_symptom) and all(outcomes[side] == "good" for outcomes in by_symptom.values())
    return ", ".join(bad) or ("healthy" if decided else "cannot be told")
