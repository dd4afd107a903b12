"""``harness aggregation``: what the source of each release says, beside what live variables have."""

from __future__ import annotations

import click

from harness import codec
from harness.cli import options
from harness.cli.progress import Terminal
from harness.domain.releases.aggregation import ReleaseFacts
from harness.jobs import releases
from harness.jobs.requests import AggregationRequest
from harness.reporting.trials import aggregation_report
from harness.services import open_services


@click.command("aggregation")
@options.range_options
@options.environment_options
@click.option("--package", default="keras", show_default=True, help="keras or keras-nightly.")
@click.option("--live", is_flag=True, help="Also train the identity model in each release and show its variables.")
@options.json_option
@options.makes(AggregationRequest, beside=["as_json"])
def command(request: AggregationRequest, *, as_json: bool) -> int:
    """Show what _map_aggregation and the variables say in each release; without --live no TensorFlow is needed."""
    with open_services() as services, Terminal() as terminal:
        facts = releases.read_aggregation(services, request, terminal)
    if as_json:
        click.echo(codec.dumps(tuple[ReleaseFacts, ...], facts, indent=2))
    else:
        options.show(aggregation_report.terminal(request.package, facts, live=request.live))
    return 0
