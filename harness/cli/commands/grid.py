"""``harness grid CASE --package NAME --also OTHER``: two axes at once."""

from __future__ import annotations

import click

from harness.adapters.storage.files import output_folder, write_reports
from harness.cli import options
from harness.cli.progress import Terminal
from harness.jobs.grid.grid_search import search_grid
from harness.jobs.requests import GridRequest
from harness.reporting import grid_report
from harness.services import open_services


@click.command("grid")
@click.argument("case", metavar="CASE")
@options.range_options
@click.option("--also", required=True, metavar="NAME", help="Distribution of the other axis.")
@click.option("--also-from", "also_first", required=True, metavar="VERSION", help="First version of it.")
@click.option(
    "--also-to", "also_last", default="latest", show_default=True, metavar="VERSION", help="Last version, or 'latest'."
)
@options.environment_options
@options.set_option
@options.package_option
@options.symptom_option(help="Ask for this symptom only (repeatable; default: every symptom that is seen).")
@options.sought_options
@options.replicas_option
@click.option("--repeats", type=click.IntRange(1, 100), default=None, help="Trials per cell.")
@click.option(
    "--max-gap",
    type=click.IntRange(0),
    default=None,
    help="Most cells in a row of a column that may be left out between two with the same verdict "
    "(default: any number; 0 runs every cell).",
)
@options.run_options
@options.json_option
@options.makes(GridRequest, beside=["as_json"])
def command(request: GridRequest, *, as_json: bool) -> int:
    """Find where the border between good and bad runs through the releases of two packages.

    \b
    The first version of the other package is bisected; each next one starts at the border of the one before it.
    The four corners and both sides of each border are run; the other cells of a column are taken to be as the
    nearest ones that were run, and marked. A cell is bad where any symptom shows; --symptom asks for one.
    Each version of the other package has the folder of a run of its own, and companions of its own.
    Exit codes as of bisect.
    """  # noqa: D301 - click wants the character itself
    with open_services() as services, Terminal(jobs=request.jobs) as terminal:
        finding, folder = search_grid(services, request, terminal)
        write_reports(output_folder(folder), grid_report.texts(finding))
    if as_json:
        click.echo(grid_report.json_text(finding), nl=False)
    else:
        options.show(grid_report.terminal(finding))
        click.echo(f"Reports: {folder / 'grid.md'}, {folder / 'grid.json'}")
    return int(finding.exit_code)
