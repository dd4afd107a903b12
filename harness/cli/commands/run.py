"""``harness run CASE --release VERSION``."""

from __future__ import annotations

from collections.abc import Callable

import click

from harness import codec
from harness.cli import options
from harness.cli.progress import Terminal
from harness.domain.trials.trial import FinishedTrial
from harness.jobs import trials
from harness.jobs.requests import TrialRequest
from harness.reporting.trials import trial_report
from harness.services import open_services


def request(*, case: str | None, shell_command: str | None, **values: object) -> TrialRequest:
    """The request of a command line."""
    make: Callable[..., TrialRequest] = TrialRequest
    return make(case=options.case_word(case, shell_command), **values)


@click.command("run")
@options.case_argument
@click.option("--release", required=True, help="Release to run it on, or 'latest'.")
@options.replicas_option
@options.strategy_option
@options.package_option
@options.fresh_option
@options.json_option
@options.environment_options
@options.set_option
@options.sought_options
@options.makes(request, beside=["as_json"])
def command(request: TrialRequest, *, as_json: bool) -> int:
    """Run CASE once in the environment of one release and show what was observed."""
    with open_services() as services, Terminal() as terminal:
        result = trials.run(services, request, terminal)
    if as_json:
        click.echo(codec.dumps(tuple[FinishedTrial, ...], result.finished, indent=2))
        return 0
    options.show(trial_report.terminal(result.case, result.finished, result.verdicts))
    return 0
