"""``harness run CASE --release VERSION``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from harness import codec
from harness.adapters.storage import case_files
from harness.cli import options
from harness.domain.cases import parameters
from harness.domain.cases.case import STRATEGIES, Case
from harness.domain.trials.observation import Observation
from harness.domain.trials.trial import FinishedTrial
from harness.domain.verdicts.judgement import judge
from harness.domain.verdicts.verdict import Outcome, Verdicts
from harness.jobs import single
from harness.reporting.text import clean, number
from harness.services import open_services

SERIES_POINTS = 6  # metric values shown of a whole series


@click.command("run")
@click.argument("case_name", metavar="CASE")
@click.option("--release", "version", required=True, help="Release to run it on, or 'latest'.")
@click.option("--replicas", type=click.IntRange(1, 64), default=None, help="Replicas (default: the case's).")
@click.option("--strategy", type=click.Choice(STRATEGIES), default=None, help="Strategy (default: the case's).")
@click.option("--package", default=None, help="Distribution under test (default: the case's).")
@click.option("--fresh", is_flag=True, help="Run it even if the cache has it.")
@click.option("--json", "as_json", is_flag=True, help="Print the observations as JSON.")
@options.environment_options
@options.set_option
def command(case_name: str, version: str, **given: Any) -> int:
    """Run CASE once in the environment of one release and show what was observed."""
    case = case_files.read(case_name, package=given["package"])
    changes = {name: given[name] for name in ("replicas", "strategy") if given[name] is not None}
    case = replace(case, **changes)
    variant = single.variant_of(case, parameters.parse(case, given["settings"]))
    with open_services() as services:
        release = single.find_release(services, case.package, version, where="--release")
        environment = single.prepare(services, [case], release, given)
        finished = single.run_once(services, environment, case, release, variant, fresh=given["fresh"])
    if given["as_json"]:
        click.echo(codec.dumps(tuple[FinishedTrial, ...], tuple(finished), indent=2))
        return 0
    reference = finished[0].observation if len(finished) > 1 else None
    show(options.console(), case, finished, judge(case, finished[-1].observation, reference))
    return 0


def show(console: Console, case: Case, finished: list[FinishedTrial] | Any, verdicts: Verdicts) -> None:
    """Print one column per trial and one line per symptom."""
    table = Table(
        title=escape(clean(f"{case.name} on {case.package} {finished[-1].trial.release}")), title_justify="left"
    )
    table.add_column("fact")
    for one in finished:
        table.add_column(escape(clean(one.trial.variant.label)), overflow="fold")
    columns = [facts(one.observation) for one in finished]
    for name in dict.fromkeys(name for column in columns for name in column):
        cells = [clean(name, 80), *(clean(column.get(name, ""), 2000) for column in columns)]
        table.add_row(*map(escape, cells))
    console.print(table)
    for symptom, verdict in verdicts.items():
        colour = {Outcome.BAD: "red", Outcome.GOOD: "green", Outcome.SKIP: "yellow"}[verdict.outcome]
        reason = escape(clean(str(verdict.reason), 400))
        console.print(f"  {symptom.value:<18} [{colour}]{verdict.outcome.value:<4}[/] {reason}", highlight=False)


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
