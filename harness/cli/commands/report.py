"""``harness report RUN``: the reports again, from the journal alone."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli import options
from harness.jobs import refinement
from harness.jobs.requests import ReportRequest
from harness.reporting.bisection import json_report, terminal_report
from harness.services import open_services


@click.command("report")
@click.argument("run", type=click.Path(path_type=Path, file_okay=False))
@options.json_option
@options.makes(ReportRequest, beside=["as_json"])
def command(request: ReportRequest, *, as_json: bool) -> int:
    """Write the reports of RUN (a folder under reports/) again from its journal: the same journal, the same bytes."""
    with open_services() as services:
        finding, folder = refinement.report_again(services, request)
    if as_json:
        click.echo(json_report.json_text(finding), nl=False)
    else:
        options.show(terminal_report.terminal(finding, folder))
    return 0
