"""``harness bisect CASE``."""

from __future__ import annotations

from collections.abc import Callable

import click

from harness.cli import options
from harness.cli.progress import Terminal
from harness.domain.findings.finding import EXIT_CODES
from harness.domain.releases.channels import parse_channels
from harness.jobs import bisection
from harness.jobs.requests import BisectRequest
from harness.reporting.bisection import json_report, terminal_report
from harness.services import open_services


def request(
    *,
    case: str | None,
    shell_command: str | None,
    channel: str | None,
    memory: str | None,
    package: str | None,
    **values: object,
) -> BisectRequest:
    """The request of a command line."""
    make: Callable[..., BisectRequest] = BisectRequest
    values["case"] = options.case_word(case, shell_command)
    channels, memory_bytes = parse_channels(channel, package), options.size(memory)
    return make(channels=channels, memory_bytes=memory_bytes, package=package, **values)


@click.command("bisect")
@options.case_argument
@options.range_options
@options.environment_options
@options.set_option
@click.option(
    "--channel",
    default=None,
    metavar="CHANNELS",
    help="stable (default), nightly, commit, hunk, or several, such as stable,nightly,commit: "
    "go on from each transition to the finer releases between; hunk: to the changed lines.",
)
@options.clone_option(help="Git clone of the package, for --channel commit; --from and --to are then commits or days.")
@options.package_option
@options.symptom_option(help="Ask for this symptom only (repeatable; default: every symptom that is seen).")
@options.sought_options
@options.reference_option
@options.replicas_option
@options.strategy_option
@click.option("--repeats", type=click.IntRange(1, 100), default=None, help="Least number of trials per release.")
@click.option(
    "--max-trials",
    type=click.IntRange(2),
    default=None,
    help="Budget of trials over all releases, and of sets of lines behind each transition; "
    "as many releases again may turn out untestable.",
)
@click.option(
    "--confidence",
    type=click.FloatRange(0.5, 0.99999),
    default=0.99,
    show_default=True,
    help="How sure each transition must be; noisy releases are repeated until it is met.",
)
@click.option(
    "--max-gap",
    type=click.IntRange(0),
    default=None,
    help="Most releases in a row that may be left out between two releases with the same verdict "
    "(default: 0, every release is run; on nightly and commit timelines any number).",
)
@click.option("--memory", default=None, metavar="SIZE", help="Memory limit of import and trial, for example 4G.")
@options.run_options
@options.json_option
@options.makes(request, beside=["as_json"])
def command(request: BisectRequest, *, as_json: bool) -> int:
    """Find in which release each symptom of CASE begins and ends.

    CASE is a name in repro_cases/, or what a bug report has: a script, a notebook, a file of tests, or one test of it
    (test_file.py::test_name). What follows -- is handed on to a script.
    """
    with open_services() as services, Terminal(jobs=request.jobs) as terminal:
        finding, folder = bisection.bisect(services, request, terminal)
    if as_json:
        click.echo(json_report.json_text(finding), nl=False)
    else:
        options.show(terminal_report.terminal(finding, folder))
    return int(EXIT_CODES[finding.conclusion.answer])
