"""``harness verify-fix CASE``: is the symptom gone, are the values right, does it break something?"""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli import options
from harness.cli.progress import Terminal
from harness.jobs.fixes import verification
from harness.jobs.requests import VerifyRequest
from harness.reporting.fixes import fix_report
from harness.services import open_services


@click.command("verify-fix")
@click.argument("case", metavar="CASE")
@click.option(
    "--fix", "fixes", multiple=True, metavar="NAME|FILE", help="A named fix or a Python file with apply() (repeatable)."
)
@click.option(
    "--patch", type=click.Path(path_type=Path), default=None, help="A diff, applied to a copy of the package."
)
@click.option("--fixed-in", default=None, metavar="RELEASE", help="A release, 'nightly', or 'commit:REF' with --clone.")
@options.clone_option(help="Git clone that has the commit or pull request.")
@click.option("--sweep-mapping", is_flag=True, help="Try every change of one key of _map_aggregation.")
@options.range_options
@options.environment_options
@options.set_option
@options.symptom_option(help="What the fix should cure (default: what the case expects).")
@options.replicas_option
@click.option("--repeats", type=click.IntRange(1, 100), default=None, help="Runs of each trial (default: the case's).")
@options.run_options
@options.json_option
@options.makes(VerifyRequest, beside=["as_json"])
def command(request: VerifyRequest, *, as_json: bool) -> int:
    """Verify a fix of CASE over a range of releases.

    \b
    Exit codes: 0 proven, 3 does not cure, 4 cures the symptom but is not right, 5 inconclusive,
    7 breaks a healthy release, 2 bad usage, 6 environment, index or disk failed.
    """  # noqa: D301 - click wants the character itself
    with open_services() as services, Terminal(jobs=request.jobs) as terminal:
        report, folder = verification.verify_fix(services, request, terminal)
    if as_json:
        click.echo(fix_report.json_text(report).rstrip("\n"))
    else:
        options.show(fix_report.terminal(report, folder))
    return report.exit_code
