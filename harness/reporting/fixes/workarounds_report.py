"""Reports of ``harness remedies``: JSON, Markdown and the terminal's tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from harness import codec
from harness.adapters.storage.files import write_whole
from harness.domain.fixes.claims import ClaimResult
from harness.domain.fixes.workarounds import Effect, Measured, WorkaroundReport, sentences
from harness.reporting.templating import environment
from harness.reporting.text import clean, command, key_numbers, seconds

STYLES = {ClaimResult.SUPPORTED: "green", ClaimResult.REFUTED: "bold red", ClaimResult.NOT_TESTABLE: "yellow"}
CELL_STYLES = {Effect.YES: "green", Effect.NO: "bold red", Effect.OPEN: "yellow", Effect.MOOT: "dim"}
REFERENCE_NOTE = (
    "Right means: every value equals the reference. On several replicas that is the same settings on one replica; "
    "on one replica it is the same case without its fault. A script judges itself."
)


def json_text(report: WorkaroundReport) -> str:
    """Return the report as JSON text."""
    return codec.dumps(WorkaroundReport, report, indent=2) + "\n"


def markdown(report: WorkaroundReport) -> str:
    """Return the report as Markdown."""
    template = environment().get_template("remedies.md")
    return template.render(
        report=report,
        columns=columns(report),
        cell=cell,
        evidence=evidence,
        settings=settings,
        sentences=sentences(report.rows),
        note=REFERENCE_NOTE,
    )


def write_all(report: WorkaroundReport, folder: Path) -> None:
    """Render all first, then write."""
    rendered = {"report.json": json_text(report), "report.md": markdown(report)}
    for name, content in rendered.items():
        write_whole(folder / name, content)


def show(report: WorkaroundReport, folder: Path, console: Console) -> None:
    """Print the two tables and the sentences."""
    if report.rows:
        console.print(remedies_table(report))
        for sentence in sentences(report.rows):
            console.print(escape(f"  {clean(sentence)}"), highlight=False)
        console.print(escape(REFERENCE_NOTE), highlight=False)
    if report.claims:
        console.print(claims_table(report))
    spent = ", ".join(f"{clean(phase, 40)} {seconds(value)}" for phase, value in report.timing.items())
    console.print(escape(f"Time (sum over jobs): {spent}"), highlight=False)
    console.print(escape(f"Reports: {folder}/report.md, report.json"), highlight=False, soft_wrap=True)
    console.print(escape(f"Again:   {command(report.reproduce)}"), highlight=False, soft_wrap=True)


def remedies_table(report: WorkaroundReport) -> Table:
    """One row per remedy, one column per release and number of replicas."""
    table = Table(title=escape(f"{clean(report.question.case)}: cured? / right?"), title_justify="left")
    for name in ("remedy", "against", *columns(report)):
        table.add_column(escape(clean(name)), overflow="fold")
    for row in report.rows:
        cells = (f"[{_style(one)}]{cell(one)}[/]" for one in row.cells)
        table.add_row(escape(clean(row.remedy.name)), escape(settings(row.remedy.against)), *cells)
    return table


def claims_table(report: WorkaroundReport) -> Table:
    """One row per claim with its answer and the first evidence."""
    table = Table(title="claims", title_justify="left")
    for name in ("claim", "answer", "evidence"):
        table.add_column(name, overflow="fold")
    for one in report.claims:
        answer = f"[{STYLES[one.answer]}]{one.answer.value}[/]"
        table.add_row(escape(clean(one.claim.says)), answer, escape(clean(one.reason, 240)))
    return table


def columns(report: WorkaroundReport) -> list[str]:
    """Heads of the measured columns, in the order of the cells."""
    return [f"{version} x{count}" for version in report.versions for count in report.counts]


def cell(one: Measured) -> str:
    """Cured and right, in one cell."""
    return one.cured.value if one.cured is one.right else f"{one.cured.value} / {one.right.value}"


def settings(options: Mapping[str, str]) -> str:
    """Settings in words."""
    return clean(", ".join(f"{name}={value}" for name, value in options.items())) or "the defaults"


def evidence(numbers: Mapping[str, float], reference: Mapping[str, float]) -> str:
    """Both numbers in one line; "" when the trial gave none."""
    told = key_numbers(numbers)
    against = key_numbers(reference)
    return f"{told}; reference {against}" if told and against else told


def _style(one: Measured) -> str:
    return CELL_STYLES[one.right if one.cured is Effect.YES and one.right is not Effect.YES else one.cured]
