"""``harness export CASE --release VERSION``: one script for an upstream issue, with no harness in it."""

from __future__ import annotations

from pathlib import Path

import click

from harness.adapters.processes.redaction import redacted
from harness.adapters.storage.files import write_whole
from harness.cli import options
from harness.cli.progress import Terminal
from harness.jobs import export
from harness.jobs.requests import TrialRequest
from harness.reporting.export import script
from harness.services import open_services


@click.command("export")
@click.argument("case", metavar="CASE")
@click.option("--release", required=True, help="Release that the script is pinned to, or 'latest'.")
@options.replicas_option
@options.package_option
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), default=None, help="File to write.")
@options.environment_options
@options.set_option
@options.makes(TrialRequest, beside=["output"])
def command(request: TrialRequest, *, output: Path | None) -> int:
    """Write CASE as one self-contained script that can be pasted into an upstream issue.

    \b
    It needs what its header pins and nothing else, trains on one replica and on several,
    compares as the harness does, and leaves with 1 where the symptom shows, else with 0.
    """  # noqa: D301 - click wants the character itself
    with open_services() as services, Terminal() as terminal:
        script(export.read_case(services, request))  # refuses at once what cannot be exported at all
        text = redacted(script(export.pin_case(services, request, terminal)))
    if output is None:
        click.echo(text, nl=False)
    else:
        write_whole(output, text)
        click.echo(f"Written: {output}")
    return 0
