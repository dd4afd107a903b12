"""``harness releases``."""

from __future__ import annotations

import click

from harness.cli import options
from harness.cli.progress import Terminal
from harness.jobs import releases
from harness.jobs.requests import ReleasesRequest
from harness.reporting.trials import releases_report
from harness.services import open_services


@click.command("releases")
@click.option("--package", default="keras", show_default=True, help="Distribution to list.")
@click.option("--from", "first", default=None, help="First version (default: the oldest); a day for nightlies.")
@options.last_option
@options.order_option
@click.option("--refresh", is_flag=True, help="Ask the index even if the cached page is fresh.")
@options.json_option
@options.makes(ReleasesRequest, beside=["refresh", "as_json"])
def command(request: ReleasesRequest, *, refresh: bool, as_json: bool) -> int:
    """List the timeline as the harness sees it: date, yanked, requires-python, usable here or why not."""
    with open_services(refresh=refresh) as services, Terminal() as terminal:
        listing = releases.list_releases(services, request, terminal)
    if as_json:
        click.echo(releases_report.json_text(listing))
    else:
        options.show(releases_report.terminal(listing))
    return 0
