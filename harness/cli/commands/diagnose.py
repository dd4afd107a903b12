"""``harness diagnose CASE``: where does it first go wrong?"""

from __future__ import annotations

import click

from harness import codec
from harness.cli import options
from harness.cli.progress import Terminal
from harness.domain.diagnosis.diagnosis import Diagnosis
from harness.jobs import diagnosis
from harness.jobs.requests import DiagnoseRequest
from harness.reporting.trials import diagnosis_report
from harness.services import open_services


@click.command("diagnose")
@click.argument("case", metavar="CASE")
@click.option("--release", default="latest", show_default=True, help="Release to run it on.")
@click.option(
    "--policy", type=click.Choice(diagnosis.POLICIES), default=None, help="Dtype policy (default: the case's)."
)
@options.replicas_option
@options.set_option
@options.fresh_option
@options.json_option
@options.environment_options
@options.makes(DiagnoseRequest, beside=["as_json"])
def command(request: DiagnoseRequest, *, as_json: bool) -> int:
    """Find the first place where CASE goes wrong: data, compute, optimisation or metric state.

    The training is watched without being touched; its first bad step is then repeated piece by piece.
    """
    with open_services() as services, Terminal() as terminal:
        found = diagnosis.diagnose_case(services, request, terminal)
    if as_json:
        click.echo(codec.dumps(Diagnosis, found.diagnosis, indent=2))
    else:
        options.show(diagnosis_report.terminal(found.case, found.release.version, found.variant, found.diagnosis))
    return 0
