"""``harness diagnose CASE``: where does it first go wrong?"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import click
from rich.markup import escape

from harness import codec
from harness.adapters.storage import case_files
from harness.cli import options
from harness.domain.cases import parameters
from harness.domain.cases.case import Case, Level
from harness.domain.diagnosis.diagnosis import Boundary, Controls, Diagnosis, diagnose
from harness.domain.errors import UsageError
from harness.domain.trials.observation import Observation
from harness.domain.trials.trial import Environment, Trial
from harness.domain.trials.variant import Variant
from harness.domain.verdicts.judgement import judge
from harness.jobs import single
from harness.jobs.protocols import Trials
from harness.reporting.text import clean
from harness.services import open_services

POLICIES = ("float32", "mixed_float16", "mixed_bfloat16", "float16", "bfloat16", "float64")
STYLES = {Boundary.NONE: "green", Boundary.OPEN: "yellow"}


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
    with open_services() as services:
        release = single.find_release(services, case.package, version, where="--release")
        environment = single.prepare(services, [case], release, given)
        (found,) = diagnoses(services.trials(fresh=given["fresh"]), environment, case, release.version, [plain])
    found = replace(found, next_change=to_the_letter(found.next_change, case, release.version, plain))
    if given["as_json"]:
        click.echo(codec.dumps(Diagnosis, found, indent=2))
    else:
        show(case, release.version, plain, found)
    return 0


def variant(case: Case, given: dict[str, Any]) -> Variant:
    """The trial that is diagnosed; a policy also sets the case's switch of that name."""
    chosen = dict(parameters.parse(case, given["settings"]))
    if given["policy"] and "policy" in case.parameters:
        chosen["policy"] = given["policy"]
    return replace(single.variant_of(case), options=tuple(sorted(chosen.items())), policy=given["policy"])


def diagnoses(
    trials: Trials, environment: Environment, case: Case, version: str, asked: Sequence[Variant], *, bare: bool = False
) -> list[Diagnosis]:
    """Diagnose several trials of one case; those without a control in float32 share one process tree.

    Args:
        trials: Runs them.
        environment: Of the release.
        case: Their case.
        version: The release.
        asked: The trials, unwatched.
        bare: Leave out the controls that only add evidence: the unwatched trial and one replica.
    """
    first = {plain: [replace(plain, watched=True), *([] if bare else (plain, alone(plain)))] for plain in asked}
    seen = _run(trials, environment, case, version, [one for group in first.values() for one in group])
    watched = {plain: seen[group[0]] for plain, group in first.items()}
    low = {plain: in_float32(case, plain) for plain, one in watched.items() if _failed_low(one)}
    seen |= _run(trials, environment, case, version, list(low.values()))
    found = []
    for plain, one in watched.items():
        single_replica = None if bare or plain.replicas == 1 else seen[alone(plain)]
        controls = Controls(
            plain=None if bare else seen[plain],
            baseline=seen[low[plain]] if plain in low else None,
            alone=single_replica,
            verdicts=judge(case, one, single_replica) if single_replica else None,
        )
        found.append(diagnose(one, controls))
    return found


def _run(
    trials: Trials, environment: Environment, case: Case, version: str, variants: Sequence[Variant]
) -> dict[Variant, Observation]:
    asked = [Trial(release=version, variant=one) for one in dict.fromkeys(variants)]
    return {done.trial.variant: done.observation for done in trials.run(environment, case, asked)} if asked else {}


def _failed_low(watched: Observation) -> bool:
    """Whether something went wrong that float32 could cure."""
    facts = watched.diagnosis
    return facts is not None and facts.step is not None and facts.compute_dtype != "float32"


def alone(plain: Variant) -> Variant:
    """The same trial on one replica."""
    return replace(plain, replicas=1, strategy="none")


def in_float32(case: Case, plain: Variant) -> Variant:
    """The same trial with everything in float32."""
    chosen = dict(plain.options) | ({"policy": "float32"} if "policy" in case.parameters else {})
    return replace(plain, options=tuple(sorted(chosen.items())), policy="float32")


def to_the_letter(change: str, case: Case, version: str, plain: Variant) -> str:
    """Make the commands in an advice those that can be typed."""
    settings = " ".join(f"--set {shlex.quote(f'{name}={value}')}" for name, value in plain.options)
    written = {"CASE": shlex.quote(case_files.callable_as(case)), "SETTINGS": settings}
    written["RANGE"] = f"--from {version} --to {version}"
    words = (written.get(word, word) for word in change.split(" "))
    return " ".join(word for word in words if word)


def show(case: Case, version: str, plain: Variant, found: Diagnosis) -> None:
    """Print boundary, sentence, evidence and the next single change."""
    console = options.console()
    console.print(f"{escape(case.name)} on {case.package} {version}, {escape(plain.label)}", highlight=False)
    style = STYLES.get(found.boundary, "bold red")
    console.print(f"[{style}]boundary: {found.boundary.value}[/]", highlight=False)
    console.print(escape(clean(found.sentence, 1000)), highlight=False)
    console.print(escape("Try next: " + found.next_change), highlight=False)
    console.print("What was looked at:", highlight=False)
    for line in found.evidence:
        console.print(escape("  - " + clean(line, 400)), highlight=False)
    told = found.disturbance or "none, the watched and the unwatched trial give the same numbers"
    console.print(escape("Disturbance by watching: " + clean(told, 400)), highlight=False)
