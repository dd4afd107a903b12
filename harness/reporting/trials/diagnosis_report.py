"""A diagnosis on the terminal: boundary, sentence, evidence and the next single change."""

from __future__ import annotations

from rich.console import Group, RenderableType

from harness.domain.cases.case import Case
from harness.domain.diagnosis.diagnosis import Boundary, Diagnosis
from harness.domain.trials.variant import Variant
from harness.reporting.terminal import line
from harness.reporting.text import clean

STYLES = {Boundary.NONE: "green", Boundary.OPEN: "yellow"}


def terminal(case: Case, version: str, variant: Variant, found: Diagnosis) -> RenderableType:
    """What was found, and what it was found from."""
    disturbance = found.disturbance or "none, the watched and the unwatched trial give the same numbers"
    return Group(
        line(f"{case.name} on {case.package} {version}, {variant.label}"),
        line(f"boundary: {found.boundary.value}", style=STYLES.get(found.boundary, "bold red")),
        line(clean(found.sentence, 1000)),
        line("Try next: " + found.next_change),
        line("What was looked at:"),
        *(line("  - " + clean(one, 400)) for one in found.evidence),
        line("Disturbance by watching: " + clean(disturbance, 400)),
    )
