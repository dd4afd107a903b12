"""What a terminal shows at the end of a search: the answer first, and nothing that 80 columns cannot hold."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from harness.domain.findings.evidence import without_evidence
from harness.domain.findings.finding import Finding, ReleaseResult
from harness.domain.findings.next_steps import next_steps
from harness.domain.findings.transition import VERBS, Transition
from harness.reporting.moved_companions import moved_lines, partings
from harness.reporting.ribbons import MOST_CELLS, State, by_reason, columns, ribbons
from harness.reporting.terminal import end, line, narrow_table
from harness.reporting.text import clean, command, number

STYLES = {"good": "green", "bad": "bold red", "skip": "yellow", "not run": "dim"}
NAMES = ("report.md", "report.json", "report.html", "junit.xml")
SIGNS = {
    State.GOOD: (".", "green"),
    State.BAD: ("X", "bold red"),
    State.HIDDEN: ("h", "magenta"),
    State.SKIP: ("?", "yellow"),
    State.NOT_RUN: ("-", "dim"),
    State.YANKED: ("y", "dim"),
}
MOST_BETWEEN = 6
"""Lines on what could not be tried between the two sides of one transition; report.html has them all."""

MOST_LINES = 60
"""Lines of one diff that a terminal shows."""


def terminal(finding: Finding, folder: Path) -> RenderableType:
    """The answer, what to do next, the ribbons, the transitions; then the releases and where the reports lie."""
    conclusion = finding.conclusion
    parts: list[RenderableType] = [line(clean(conclusion.sentence, 2000), style="bold")]
    parts += [line(clean(f"-> {step}", 600)) for step in next_steps(finding)]
    parts += ["", *_ribbons(finding), ""]
    for n, transition in enumerate(finding.transitions, 1):
        parts += _transition(n, transition)
    parts.append(line(clean(f"{conclusion.history} {conclusion.coverage}", 2000)))
    parts += [line(f"  - {clean(one, 1000)}") for one in partings(finding)]
    parts += [line(f"  - {clean(one, 1000)}") for one in moved_lines(finding)]
    parts += [line(f"  - {clean(caveat, 1000)}") for caveat in conclusion.caveats]
    parts += map(line, _lines(finding))
    parts += map(line, _stages(finding))
    parts += ["", *releases_table(finding)]
    if finding.excluded:
        left_out = "; ".join(clean(one, 160) for one in by_reason(finding.excluded))
        parts.append(line(f"Left out: {left_out}"))
    return Group(*parts, *end(finding.timing, folder, NAMES, finding.reproduce))


def _ribbons(finding: Finding) -> Iterator[RenderableType]:
    """A line per symptom, a character per release, or per stretch of releases where they are many."""
    places = without_evidence(finding).places
    drawn = ribbons(finding, places)
    axis = columns(places, drawn)
    width = max(len(ribbon.name) for ribbon in drawn)
    used = {segment.state for ribbon in drawn for segment in ribbon.segments}
    legend = ", ".join(f"{sign} {state.value}" for state, (sign, _) in SIGNS.items() if state in used)
    unit = "release" if len(places) <= MOST_CELLS else "stretch of releases that say the same"
    question = finding.question
    yield line(clean(f"{question.package} {question.first} to {question.last}, one character per {unit}: {legend}"))
    for ribbon in drawn:
        text = Text(f"{ribbon.name:<{width}}  ", no_wrap=True)
        for segment in ribbon.segments:
            last = segment.first + len(segment.places)
            text.append(
                SIGNS[segment.state][0] * sum(segment.first <= c.first < last for c in axis), SIGNS[segment.state][1]
            )
        yield text


def _transition(n: int, transition: Transition) -> Iterator[RenderableType]:
    verb = VERBS[transition.kind]
    sides = f"{clean(transition.last_before, 60)} -> {clean(transition.first_after, 60)}"
    sure = f"confidence {transition.confidence:.4f}" + ("" if transition.confirmed else ", not confirmed")
    yield line(f"{n}. {transition.symptom.value} {verb} {sides}, {sure}")
    between = list(by_reason(transition.untested))
    for one in between[:MOST_BETWEEN]:
        yield line(f"     {clean(one, 300)}")
    if len(between) > MOST_BETWEEN:
        yield line(f"     and {len(between) - MOST_BETWEEN} more reasons in report.html")
    for text in _causes(transition):
        yield line(f"     {text}")


def releases_table(finding: Finding) -> list[RenderableType]:
    """One row per release with the first number of both trials; each reason stands once, below the table."""
    question = finding.question
    tried = [release for release in finding.releases if release.verdict is not None]
    name = next((name for release in tried for name in (*release.replicas, *release.reference)), "")
    settings = "".join(f", {key}={value}" for key, value in question.options)
    names = (f"{name} on 1", f"on {question.replicas}") if name else ()
    value = ("value",) if any(release.value for release in tried) else ()
    heads = (clean(question.package, 20), "date", "verdict", *value, *(clean(head, 20) for head in names), "why")
    title = f"{question.case}{settings}: {finding.title}" if finding.title else f"{question.case}{settings}"
    made = narrow_table(clean(title, 160), heads)
    notes: dict[str, int] = {}
    shown = finding.releases if len(finding.releases) <= MOST_CELLS else tried
    for release in shown:
        if release.reason:
            notes.setdefault(release.reason, len(notes) + 1)
        _add(made, release, name, notes.get(release.reason), valued=bool(value))
    left = len(finding.releases) - len(shown)
    below = [line(f"{left} releases were not run and have no row.")] if left else []
    return [made, *below, *(line(f"  [{n}] {clean(reason, 400)}") for reason, n in notes.items())]


def _add(made: Table, release: ReleaseResult, name: str, note: int | None, *, valued: bool) -> None:
    verdict = release.verdict.value if release.verdict else "not run"
    numbers = [_cell(values.get(name)) for values in (release.reference, release.replicas)] if name else []
    made.add_row(
        escape(clean(release.version, 24)),
        escape(clean(release.released or "", 10)),
        f"[{STYLES[verdict]}]{verdict}[/]",
        *([escape(clean(release.value, 20))] if valued else []),
        *numbers,
        escape(f"[{note}]") if note else "",
    )


def _cell(value: float | None) -> str:
    return "" if value is None else number(value)


def _stages(finding: Finding) -> Iterator[str]:
    """The finer searches, each followed by those inside it."""
    for stage in finding.stages:
        conclusion = stage.conclusion
        yield clean(f"{stage.question.package}: {conclusion.sentence} {conclusion.coverage}", 2000)
        for transition in stage.transitions:
            yield from (f"  - {text}" for text in _causes(transition))
        yield from (f"  - {clean(one, 1000)}" for one in (*partings(stage), *moved_lines(stage)))
        yield from _lines(stage)
        yield from _stages(stage)


def _lines(finding: Finding) -> Iterator[str]:
    """The lines behind transitions, as a diff."""
    for one in finding.changed_lines:
        yield clean(one.sentence, 2000)
        yield clean(f"  {one.cost}", 2000)
        diff = one.diff.splitlines()
        yield from (f"    {command(text)}" for text in diff[:MOST_LINES])
        if len(diff) > MOST_LINES:
            yield f"    and {len(diff) - MOST_LINES} more lines in report.md"


def _causes(transition: Transition) -> Iterator[str]:
    for cause in transition.causes:
        changed = f"; {', '.join(cause.changes)}" if cause.changes else ""
        place = f"{transition.symptom.value} {transition.last_before} -> {transition.first_after}"
        yield clean(f"{cause.role} {place}: {cause.link} ({cause.title}){changed}", 1000)
