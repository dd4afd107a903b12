"""``harness repro VERSION [CASE ...]``: all cases in the environment of one release."""

from __future__ import annotations

import time
from typing import Any

import click
from rich.markup import escape

from harness.adapters.storage import case_files
from harness.cli import options
from harness.domain.cases.case import Case
from harness.domain.errors import HarnessError, InfrastructureError, UsageError
from harness.domain.releases.release import Release
from harness.domain.trials.trial import Environment
from harness.domain.verdicts.judgement import judge
from harness.domain.verdicts.verdict import Outcome, Verdicts
from harness.jobs import single
from harness.reporting.text import clean
from harness.services import Services, open_services

STYLES = {"good": "green", "bad": "red", "skip": "yellow"}


@click.command("repro")
@click.argument("version")
@click.argument("case_names", metavar="[CASE]...", nargs=-1)
@click.option("--package", default="keras", show_default=True, help="Distribution under test.")
@click.option("--fresh", is_flag=True, help="Run everything anew.")
@options.environment_options
def command(version: str, case_names: tuple[str, ...], package: str, **given: Any) -> int:
    """Run all cases (or those named) in the isolated environment of one release, one line of verdict each."""
    read = case_files.read_all(case_names)
    cases = [case for case in read if case.package == package]
    if not cases:
        raise UsageError(f"no case is about {package}", where="--package", hint="it is named in the case's metadata")
    console = options.console()
    with open_services() as services:
        release = single.find_release(services, package, version, where="VERSION")
        environment = single.prepare(services, cases, release, given)
        console.print(f"{package} {release.version} on Python {environment.python}, environment {environment.key}")
        for case in read:
            started = time.monotonic()
            outcome, told = _verdict(services, environment, case, release, fresh=given["fresh"])
            style = STYLES[outcome]
            spent = time.monotonic() - started
            console.print(
                f"  {case.name:<24} [{style}]{outcome:<4}[/] {escape(clean(told, 140))} ({spent:.1f} s)",
                highlight=False, soft_wrap=True,
            )  # fmt: skip
    return 0


def _verdict(
    services: Services, environment: Environment, case: Case, release: Release, *, fresh: bool
) -> tuple[str, str]:
    """Judge one case; what cannot be tested is a skip with its reason, never an end of the whole list."""
    if case.package != release.package:
        return "skip", f"is about {case.package}: harness bisect {case.name}"
    try:
        finished = single.run_once(services, environment, case, release, single.variant_of(case), fresh=fresh)
        reference = finished[0].observation if len(finished) > 1 else None
        return summary(judge(case, finished[-1].observation, reference))
    except InfrastructureError:
        raise
    except HarnessError as reason:
        return "skip", reason.what


def summary(verdicts: Verdicts) -> tuple[str, str]:
    """One word and one sentence for a case."""
    bad = [f"{s.value}: {v.reason}" for s, v in verdicts.items() if v.outcome is Outcome.BAD]
    if bad:
        return "bad", "; ".join(bad)
    skipped = [str(v.reason) for v in verdicts.values() if v.outcome is Outcome.SKIP]
    if len(skipped) == len(verdicts):
        return "skip", skipped[0] if skipped else "nothing to judge"
    return "good", f"not judged: {skipped[0]}" if skipped else "equals its reference on one replica"
