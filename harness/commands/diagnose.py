"""``harness diagnose CASE``: where does it first go wrong?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click
from rich.markup import escape

from harness.commands import options, single
from harness.core import switches
from harness.core.cases import Case, Level
from harness.core.diagnosis import Boundary, Diagnosis, diagnose
from harness.core.errors import UsageError
from harness.core.observations import Observation
from harness.core.variants import Variant
from harness.edge import case_files, codec
from harness.reporting.text import clean
from harness.seams import Environment, Trial
from harness.wiring import Workshop, workshop

POLICIES = ("float32", "mixed_float16", "mixed_bfloat16", "float16", "bfloat16", "float64")
STYLES = {Boundary.NONE: "green"}


@click.command("diagnose")
@click.argument("case_name", metavar="CASE")
@click.option("--release", "version", default="latest", show_default=True, help="Release to run it on.")
@click.option("--policy", type=click.Choice(POLICIES), default=None, help="Dtype policy (default: the case's).")
@click.option("--replicas", type=click.IntRange(1, 64), default=None, help="Replicas (default: the case's).")
@options.set_option
@click.option("--fresh", is_flag=True, help="Run everything anew.")
@click.option("--json", "as_json", is_flag=True, help="Print the diagnosis as JSON.")
@options.environment_options
def command(case_name: str, version: str, **given: Any) -> int:
    """Find the first place where CASE goes wrong: data, compute, optimisation or metric state.

    The training is watched without being touched; its first bad step is then replayed piece by piece.
    """
    case = case_files.read(case_name)
    if case.level is not Level.MODEL:
        raise UsageError(
            "only a case with model() and data() can be diagnosed", where=case.path, hint="see docs/cases.md"
        )
    case = replace(case, replicas=given["replicas"]) if given["replicas"] else case
    plain = variant(case, given)
    with workshop() as shop:
        release = single.find_release(shop, case.package, version, where="--release")
        environment = single.prepare(shop, [case], release, given)
        seen = observe(shop, environment, case, release.version, plain, fresh=given["fresh"])
    found = diagnose(*seen)
    if given["as_json"]:
        click.echo(codec.dumps(Diagnosis, found, indent=2))
    else:
        show(case, release.version, plain, found)
    return 0


def variant(case: Case, given: dict[str, Any]) -> Variant:
    """The trial that is diagnosed; a policy also sets the case's switch of that name."""
    chosen = dict(switches.parse(case, given["settings"]))
    if given["policy"] and "policy" in case.switches:
        chosen["policy"] = given["policy"]
    return replace(single.variant_of(case), options=tuple(sorted(chosen.items())), policy=given["policy"])


def observe(
    shop: Workshop, environment: Environment, case: Case, version: str, plain: Variant, *, fresh: bool
) -> tuple[Observation, Observation, Observation | None]:
    """Run the trial watched and unwatched and, where it computes in less than float32, in float32."""
    trials = shop.trials(fresh=fresh)
    asked = [Trial(release=version, variant=v) for v in (replace(plain, watched=True), plain)]
    watched, unwatched = (one.observation for one in trials.run(environment, case, asked))
    low = watched.diagnosis is not None and watched.diagnosis.compute_dtype != "float32"
    if not low:
        return watched, unwatched, None
    baseline = trials.run(environment, case, [Trial(release=version, variant=in_float32(case, plain))])
    return watched, unwatched, baseline[0].observation


def in_float32(case: Case, plain: Variant) -> Variant:
    """The same trial with everything in float32."""
    chosen = dict(plain.options) | ({"policy": "float32"} if "policy" in case.switches else {})
    return replace(plain, options=tuple(sorted(chosen.items())), policy="float32")


def show(case: Case, version: str, plain: Variant, found: Diagnosis) -> None:
    """Print boundary, sentence, evidence and the next single change."""
    console = options.console()
    console.print(f"{escape(case.name)} on {case.package} {version}, {escape(plain.label)}", highlight=False)
    style = STYLES.get(found.boundary, "bold red")
    console.print(f"[{style}]boundary: {found.boundary.value}[/]", highlight=False)
    console.print(escape(clean(found.sentence, 1000)), highlight=False)
    for line in found.evidence:
        console.print(escape("  - " + clean(line, 400)), highlight=False)
    console.print(escape("Try next: " + found.next_change), highlight=False)
    told = found.disturbance or "none, the watched and the unwatched trial give the same numbers"
    console.print(escape("Disturbance by watching: " + clean(told, 400)), highlight=False)
