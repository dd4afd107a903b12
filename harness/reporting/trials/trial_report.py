"""What one trial and its reference showed, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.text import Text

from harness.domain.cases.case import Case
from harness.domain.trials.observation import Observation
from harness.domain.trials.trial import FinishedTrial
from harness.domain.verdicts.verdict import Outcome, Verdicts
from harness.reporting.terminal import table
from harness.reporting.text import clean, number

SERIES_POINTS = 6
"""Metric values shown of a whole series."""
STYLES = {Outcome.BAD: "red", Outcome.GOOD: "green", Outcome.SKIP: "yellow"}


def terminal(case: Case, finished: Sequence[FinishedTrial], verdicts: Verdicts) -> RenderableType:
    """One column per trial and one line per symptom; the judged trial comes last."""
    labels = [clean(one.trial.variant.label) for one in finished]
    made = table(clean(f"{case.name} on {case.package} {finished[-1].trial.release}"), ("fact", *labels))
    columns = [facts(one.observation) for one in finished]
    for name in dict.fromkeys(name for column in columns for name in column):
        cells = [clean(name, 80), *(clean(column.get(name, ""), 2000) for column in columns)]
        made.add_row(*map(escape, cells))
    lines = [
        Text.assemble(
            f"  {symptom.value:<18} ",
            (f"{verdict.outcome.value:<4}", STYLES[verdict.outcome]),
            f" {clean(str(verdict.reason), 400)}",
        )
        for symptom, verdict in verdicts.items()
    ]
    return Group(made, *lines)


def facts(seen: Observation) -> dict[str, str]:
    """The observation as readable lines."""
    ending = seen.ending
    shown = {"ended": f"{ending.kind.value} ({ending.stage.value})"}
    if ending.message or ending.exception:
        shown["message"] = clean(f"{ending.exception or ''} {ending.message or ''}", 300)
    shown |= {name: number(value) for name, value in seen.numbers.items()}
    for name, series in seen.steps.items():
        step = max(1, len(series) // SERIES_POINTS)
        shown[f"{name} by step"] = " ".join(number(value) for value in series[::step])
    for title, place in (
        ("first non-finite metric", seen.first_nonfinite_metric),
        ("first non-finite weight", seen.first_nonfinite_weight),
    ):
        if place:
            shown[title] = f"{clean(place.name)} at step {place.step} ({number(place.value)})"
    if seen.weights:
        state = "finite" if seen.weights.finite else "not finite"
        shown["weights"] = (
            f"{seen.weights.count} values, {state}, copies differ by {number(seen.weights.replica_spread)}"
        )
        values = [f"{clean(n, 60)} {number(v[0])}" for n, v in (seen.weights.values or {}).items() if len(v) == 1]
        shown |= {"single weights": ", ".join(values)} if values else {}
    shown["optimizer steps"] = "" if seen.iterations is None else str(seen.iterations)
    for role in dict.fromkeys(v.role for v in seen.variables):
        kinds = dict.fromkeys(f"{v.aggregation}/{v.synchronization}" for v in seen.variables if v.role == role)
        shown[f"{role} variables"] = ", ".join(kinds)
    if seen.devices:
        shown["devices"] = f"{seen.devices.choice}: {', '.join(seen.devices.names)}"
    shown["versions"] = ", ".join(f"{clean(n, 40)} {clean(v, 40)}" for n, v in seen.versions.items())
    shown["seconds"] = ", ".join(f"{n} {v:.2f}" for n, v in seen.durations.items() if v >= 0.005)
    if seen.peak_memory_bytes:
        shown["peak memory"] = f"{seen.peak_memory_bytes / 2**20:.0f} MiB"
    return shown
