"""Reports of ``harness workarounds``: JSON, Markdown and the terminal's tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table

from harness import codec
from harness.domain.fixes.claims import ClaimResult
from harness.domain.fixes.workarounds import Effect, Measured, WorkaroundReport, sentences
from harness.reporting.templating import environment
from harness.reporting.terminal import end, line, table
from harness.reporting.text import clean, key_numbers

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
    template = environment().get_template("workarounds.md")
    return template.render(
        report=report,
        columns=columns(report),
        cell=cell,
        evidence=evidence,
        settings=settings,
        sentences=sentences(report.rows),
        note=REFERENCE_NOTE,
    )


def texts(report: WorkaroundReport) -> dict[str, str]:
    """Return the content of each report by its file name."""
    return {"report.json": json_text(report), "report.md": markdown(report)}


def terminal(report: WorkaroundReport, folder: Path) -> RenderableType:
    """The answer: both tables and the sentences, then where the reports lie."""
    parts: list[RenderableType] = []
    if report.rows:
        parts.append(workarounds_table(report))
        parts += [line(f"  {clean(sentence)}") for sentence in sentences(report.rows)]
        parts.append(line(REFERENCE_NOTE))
    if report.claims:
        parts.append(claims_table(report))
    return Group(*parts, *end(report.timing, folder, ("report.md", "report.json"), report.reproduce))


def workarounds_table(report: WorkaroundReport) -> Table:
    """One row per workaround, one column per release and number of replicas."""
    title = f"{clean(report.question.case)}: cured? / right?"
    made = table(title, ("workaround", "against", *map(clean, columns(report))))
    for row in report.rows:
        cells = (f"[{_style(one)}]{cell(one)}[/]" for one in row.cells)
        made.add_row(escape(clean(row.remedy.name)), escape(settings(row.remedy.against)), *cells)
    return made


def claims_table(report: WorkaroundReport) -> Table:
    """One row per claim with its answer and the first evidence."""
    made = table("claims", ("claim", "answer", "evidence"))
    for one in report.claims:
        answer = f"[{STYLES[one.answer]}]{one.answer.value}[/]"
        made.add_row(escape(clean(one.claim.says)), answer, escape(clean(one.reason, 240)))
    return made


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
    measured = key_numbers(numbers)
    against = key_numbers(reference)
    return f"{measured}; reference {against}" if measured and against else measured


def _style(one: Measured) -> str:
    return CELL_STYLES[one.right if one.cured is Effect.YES and one.right is not Effect.YES else one.cured]
