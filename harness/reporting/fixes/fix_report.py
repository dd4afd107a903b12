"""Reports of ``verify-fix``: JSON, Markdown and the terminal's table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table

from harness import codec
from harness.domain.fixes.advice import causes
from harness.domain.fixes.grades import FixReport, FixResult, Grade, Graded
from harness.reporting.templating import environment
from harness.reporting.terminal import end, line, table, whole_line
from harness.reporting.text import clean, key_numbers

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


def texts(report: FixReport) -> dict[str, str]:
    """Return the content of each report by its file name."""
    return {"report.json": json_text(report), "report.md": markdown(report)}


def terminal(report: FixReport, folder: Path) -> RenderableType:
    """The answer: tables and sentences, then where the reports lie."""
    parts: list[RenderableType] = []
    if len(report.fixes) >= SWEEP:
        parts.append(sweep_table(report))
        parts += [line(clean(cause, 600), style="bold") for cause in causes(report.fixes)]
    else:
        for result in report.fixes:
            parts += [fix_table(result, report.question.replicas), line(clean(result.sentence, 2000), style="bold")]
    if report.control:
        parts.append(line(f"Control: {clean(report.control)} is the last good release before the range."))
    parts += [whole_line(f"  {clean(workaround, 400)}") for workaround in report.workarounds]
    return Group(*parts, *end(report.timing, folder, ("report.md", "report.json"), report.reproduce))


def fix_table(result: FixResult, replicas: int) -> Table:
    """One row per release with the three numbers."""
    columns = ("release", "grade", "1 replica", f"{replicas} replicas", "with the fix", "why")
    made = table(clean(result.name), columns)
    for one in result.releases:
        numbers = [escape(key_numbers(n, 1)) for n in (one.reference, one.without, one.patched)]
        grade = f"[{STYLES[one.grade]}]{one.grade.value}[/]"
        made.add_row(escape(clean(one.version)), grade, *numbers, escape(clean(one.reason, 160)))
    return made


def sweep_table(report: FixReport) -> Table:
    """One row per change, one column per release: which symptoms are there with the change."""
    releases = [clean(one.version) for one in report.fixes[0].releases]
    made = table("symptoms with one key of the mapping changed", ("change", *releases))
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
