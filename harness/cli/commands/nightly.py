"""``harness nightly``: the newest nightly and a control, against what is expected; changes are confirmed, narrowed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import click

from harness.adapters.processes.child_env import SECRETS
from harness.adapters.storage.files import output_folder
from harness.adapters.storage.nightly_journal import Busy, FileNightlyJournal, only_one
from harness.cli import nightly_options, options, publication
from harness.cli.progress import Terminal
from harness.cli.publication import PublicationRequest
from harness.domain.errors import UsageError
from harness.domain.nightly.nights import NightExit
from harness.jobs.nightly.night_run import run_nights
from harness.jobs.requests import NightlyRequest
from harness.services import open_services


@click.command("nightly")
@click.argument("cases", metavar="[CASE]...", nargs=-1)
@nightly_options.package_option
@options.state_option
@nightly_options.judgement_options
@options.jobs_option
@options.environment_options
@nightly_options.replay_options
@nightly_options.publication_options
@options.json_option
@options.makes(nightly_options.request, beside=["report_only", "github", "base_url", "webhook", "dry_run", "as_json"])
def command(
    request: NightlyRequest,
    *,
    report_only: bool,
    github: str | None,
    base_url: str | None,
    webhook: str | None,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Run the newest nightly and, as a control, the newest stable release; all cases, or those named.

    \b
    Exit codes: 0 as expected, 3 new regression, 4 unexpected recovery, 5 inconclusive
    (also: another night is running, or the index is down or has no recent build).
    """  # noqa: D301 - click wants the character itself
    publish = PublicationRequest(
        state=request.state, github=github, base_url=base_url, webhook=webhook, dry_run=dry_run, as_json=as_json
    )
    check(request, publish, report_only=report_only)
    state = output_folder(request.state)
    if not report_only:
        try:
            with only_one(state):
                _run(request, state)
        except Busy as busy:
            click.echo(f"harness: {busy}", err=True)
            return int(NightExit.INCONCLUSIVE)
    return publication.report(publish)


def check(
    request: NightlyRequest,
    publish: PublicationRequest,
    *,
    report_only: bool,
    environment: Mapping[str, str] = os.environ,
) -> None:
    """Refuse what cannot be meant; above all a token beside nightly code."""
    if request.simulated and report_only:
        raise UsageError("--simulate runs, --report-only does not", hint="give one of them")
    exposed = [name for name in SECRETS if environment.get(name)]
    if exposed and not report_only:
        raise UsageError(
            "a token lies in the environment of a process that runs nightly code",
            where=", ".join(exposed),
            hint="run the night without it; then publish with: harness nightly --report-only --github OWNER/REPO",
        )
    if publish.github and not report_only and not publish.dry_run:
        raise UsageError(
            "--github publishes, and this run would run nightly code beside the token",
            where="--github",
            hint="run the night first; then: harness nightly --report-only --github OWNER/REPO",
        )


def _run(request: NightlyRequest, state: Path) -> None:
    journal = FileNightlyJournal(state)
    with (
        open_services(refresh=not request.simulated) as services,
        Terminal(jobs=request.jobs, quiet=request.simulated) as terminal,
    ):
        for record in run_nights(services, request, journal, terminal):
            click.echo(f"{record.night}: {record.nightly or record.fault}", err=True)
