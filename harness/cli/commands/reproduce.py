"""``harness reproduce RUN --release VERSION``: the same environment, the same trial, the same numbers?"""

from __future__ import annotations

from pathlib import Path

import click

from harness import codec
from harness.cli import options
from harness.cli.progress import Terminal
from harness.domain.trials.trial import FinishedTrial
from harness.jobs import trials
from harness.jobs.requests import ReproduceRequest
from harness.reporting.trials import reproduction_report
from harness.services import open_services

OTHER_NUMBERS = 3


@click.command("reproduce")
@click.argument("run", type=click.Path(path_type=Path, file_okay=False))
@click.option("--release", required=True, help="Release of the run whose trials are repeated.")
@options.json_option
@options.makes(ReproduceRequest, beside=["as_json"])
def command(request: ReproduceRequest, *, as_json: bool) -> int:
    """Rebuild the environment of one release of RUN from the recorded lock and repeat its trials.

    \b
    Exit codes: 0 the same numbers, 3 other numbers, 2 bad usage, 6 environment, index or disk failed.
    """  # noqa: D301 - click wants the character itself
    with open_services() as services, Terminal() as terminal:
        again = trials.reproduce(services, request, terminal)
    if as_json:
        click.echo(codec.dumps(tuple[FinishedTrial, ...], again.finished, indent=2))
    else:
        options.show(
            reproduction_report.terminal(
                again.recorded,
                again.finished,
                same_environment=again.same_environment,
                same_numbers=again.same_numbers,
            )
        )
    return 0 if again.same_numbers else OTHER_NUMBERS
