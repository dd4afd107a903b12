"""``harness workarounds CASE``: what the reports recommend and claim, measured."""

from __future__ import annotations

from collections.abc import Callable

import click

from harness.cli import options
from harness.cli.progress import Terminal
from harness.domain.errors import ExitCode
from harness.domain.fixes.workarounds import Effect, WorkaroundReport
from harness.jobs.fixes import workarounds
from harness.jobs.requests import WorkaroundsRequest
from harness.reporting.fixes import workarounds_report
from harness.services import open_services


def request(*, counts: str | None, **values: object) -> WorkaroundsRequest:
    """The request of a command line."""
    make: Callable[..., WorkaroundsRequest] = WorkaroundsRequest
    return make(replicas=options.replica_counts(counts), **values)


@click.command("workarounds")
@click.argument("case", metavar="CASE")
@click.option("--release", "releases", multiple=True, help="Release to try (repeatable; default: the latest).")
@click.option("--replicas", "counts", default=None, metavar="N,...", help="Replicas (default: 1 and the case's own).")
@options.environment_options
@options.run_options
@options.json_option
@options.makes(request, beside=["as_json"])
def command(request: WorkaroundsRequest, *, as_json: bool) -> int:
    """Measure every workaround and every claim that CASE lists.

    \b
    One row per workaround, one column per release and number of replicas: cured? right?
    Each claim is supported, refuted, or not testable here.
    Exit codes: 0 measured, 5 nothing could be told, 2 bad usage, 6 environment, index or disk failed.
    """  # noqa: D301 - click wants the character itself
    with open_services() as services, Terminal(jobs=request.jobs) as terminal:
        report, folder = workarounds.measure_workarounds(services, request, terminal)
    if as_json:
        click.echo(workarounds_report.json_text(report).rstrip("\n"))
    else:
        options.show(workarounds_report.terminal(report, folder))
    return exit_code(report)


def exit_code(report: WorkaroundReport) -> int:
    """0 when anything was measured."""
    cells = [cell.cured for row in report.rows for cell in row.cells]
    measured = any(cured is not Effect.OPEN for cured in cells) or any(claim.evidence for claim in report.claims)
    return 0 if measured else int(ExitCode.INCONCLUSIVE)
