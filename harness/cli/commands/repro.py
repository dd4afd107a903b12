"""``harness repro VERSION [CASE ...]``: all cases in the environment of one release."""

from __future__ import annotations

import click
from rich.markup import escape

from harness.cli import options
from harness.cli.progress import Terminal
from harness.domain.verdicts.verdict import Outcome
from harness.jobs import trials
from harness.jobs.requests import ReproRequest
from harness.reporting.text import clean
from harness.services import open_services

STYLES = {Outcome.GOOD: "green", Outcome.BAD: "red", Outcome.SKIP: "yellow"}


@click.command("repro")
@click.argument("release", metavar="VERSION")
@click.argument("cases", metavar="[CASE]...", nargs=-1)
@click.option("--package", default="keras", show_default=True, help="Distribution under test.")
@options.fresh_option
@options.environment_options
@options.makes(ReproRequest)
def command(request: ReproRequest) -> int:
    """Run all cases (or those named) in the isolated environment of one release, one line of verdict each."""
    console = options.console()
    with open_services() as services, Terminal() as terminal:
        run = trials.repro(services, request, terminal)
        python, key = run.environment.python, run.environment.key
        console.print(f"{request.package} {run.release.version} on Python {python}, environment {key}")
        for line in run.outcomes:
            console.print(
                f"  {line.case:<24} [{STYLES[line.outcome]}]{line.outcome.value:<4}[/] "
                f"{escape(clean(line.sentence, 140))} ({line.seconds:.1f} s)",
                highlight=False, soft_wrap=True,
            )  # fmt: skip
    return 0
