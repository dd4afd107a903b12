"""``harness report RUN``: the reports again, from the journal alone."""

from __future__ import annotations

from pathlib import Path

import click

from harness.adapters.storage import journal
from harness.adapters.storage.files import write_reports
from harness.cli import options
from harness.domain.findings import assemble
from harness.jobs import refinement
from harness.reporting.bisection import documents, json_report, terminal_report


@click.command("report")
@click.argument("run", type=click.Path(path_type=Path, file_okay=False))
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON on stdout.")
def command(run: Path, *, as_json: bool) -> int:
    """Write the reports of RUN (a folder under reports/) again from its journal: the same journal, the same bytes."""
    run = options.run_folder(run)
    header, entries = journal.read(run)
    finding = refinement.with_stages(assemble.compose(header, entries), run)
    write_reports(run, documents.texts(finding))
    if as_json:
        click.echo(json_report.json_text(finding), nl=False)
    else:
        options.show(terminal_report.terminal(finding, run))
    return 0
