"""What a night leaves behind: history, reports, alerts, what CI shows, and what is published."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from harness.adapters import webhook
from harness.adapters.github import DEFAULT_ADDRESS, GitHubTracker
from harness.adapters.processes.child_env import SECRETS
from harness.adapters.storage import nightly_database
from harness.adapters.storage.files import write_reports, write_whole
from harness.adapters.storage.nightly_journal import FileNightlyJournal
from harness.domain.errors import UsageError
from harness.domain.nightly.alerts import JudgedNight, NightlyHistory, nightly_history
from harness.domain.nightly.case_status import exit_code
from harness.domain.nightly.publishing import Action, ActionKind, actions
from harness.reporting.nightly import alert_report, documents, night_report, replay_report


@dataclass(frozen=True, kw_only=True)
class PublicationRequest:
    """Where the last night is published.

    Attributes:
        state: Folder of the journal of nights.
        github: Repository whose issues follow the alerts; None: none.
        base_url: Of the GitHub API; None: the usual one.
        webhook: Address that gets the night as JSON; None: none.
        dry_run: Print what would be published, publish nothing.
        as_json: Print the night as JSON.
    """

    state: Path
    github: str | None = None
    base_url: str | None = None
    webhook: str | None = None
    dry_run: bool = False
    as_json: bool = False


def report(request: PublicationRequest, environment: Mapping[str, str] = os.environ) -> int:
    """Write everything that follows from the journal, print and publish it; returns how the last night ended."""
    journal = FileNightlyJournal(request.state)
    history = nightly_history(journal.records())
    if not history.nights:
        raise UsageError(
            "there is no night to report",
            where=str(request.state),
            hint="run `harness nightly` first, or give --state",
        )
    write(history, journal.killed(), request.state)
    last = history.nights[-1]
    if request.as_json:
        click.echo(night_report.json_text(last, history.open_alerts).rstrip("\n"))
    else:
        click.echo(night_report.markdown(last, history.open_alerts))
    publish(history, request, environment)
    return 0 if last.record.simulated else int(exit_code(last.record, last.judged))


def write(history: NightlyHistory, killed: Sequence[str], state: Path) -> None:
    """Write everything that follows from the journal; the same journal gives the same files."""
    last = history.nights[-1]
    nightly_database.rebuild(state, history, killed)
    place = state if last.record.simulated else state / last.record.night
    place.mkdir(parents=True, exist_ok=True)
    if last.record.simulated:
        write_reports(state, replay_report.texts(history))
    write_reports(place, documents.texts(last, history.open_alerts))
    for alert in history.alerts:
        folder = state / "alerts" / f"{_plain(alert.case)}-{alert.symptom.value if alert.symptom else 'index'}"
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / "alert.md", alert_report.document(alert))


def publish(history: NightlyHistory, request: PublicationRequest, environment: Mapping[str, str]) -> None:
    """Inform CI, the tracker and the webhook; with ``--dry-run`` print what would be done."""
    last = history.nights[-1]
    if not request.github:  # the job that ran the night has shown it there
        _to_ci(last, history, environment)
    if request.webhook:
        text = night_report.json_text(last, history.open_alerts)
        if request.dry_run:
            click.echo(f"would post {len(text)} characters of JSON to the webhook")
        else:
            webhook.post(request.webhook, text)
    if request.github:
        _to_github(history, request, request.github, environment)
    elif request.dry_run:
        _show(actions(history.alerts, {alert.key: alert_report.text(alert) for alert in history.alerts}, {}))


def _to_ci(last: JudgedNight, history: NightlyHistory, environment: Mapping[str, str]) -> None:
    if environment.get("GITHUB_ACTIONS") == "true":
        for line in night_report.workflow_commands(last):
            click.echo(line)
    if path := environment.get("GITHUB_STEP_SUMMARY"):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(night_report.summary(last, history.open_alerts))


def _to_github(
    history: NightlyHistory, request: PublicationRequest, repository: str, environment: Mapping[str, str]
) -> None:
    token = next((environment[name] for name in SECRETS if environment.get(name)), "")
    texts = {alert.key: alert_report.text(alert) for alert in history.alerts}
    if not token:
        if request.dry_run:
            click.echo("no token: shown as for an empty tracker")
            return _show(actions(history.alerts, texts, {}))
        raise UsageError(
            "there is no token", where=", ".join(SECRETS), hint="give one with issues: write to this step alone"
        )
    address = request.base_url or environment.get("GITHUB_API_URL") or DEFAULT_ADDRESS
    tracker = GitHubTracker(repository, token, address)
    wanted = actions(history.alerts, texts, tracker.posted())
    if request.dry_run:
        return _show(wanted)
    for line in tracker.perform(wanted) or ["the tracker says the same already"]:
        click.echo(line)
    return None


def _show(wanted: Sequence[Action]) -> None:
    for act in wanted:
        number = f" #{act.number}" if act.number else ""
        click.echo(f"would {act.do.value}{number} {act.title}".rstrip())
        if act.do in (ActionKind.OPEN, ActionKind.COMMENT):
            click.echo(os.linesep.join(f"    {line}" for line in act.body.splitlines()))
    if not wanted:
        click.echo("nothing would be published")


def _plain(name: str) -> str:
    """A case's name as a folder; it may come from a file of any name."""
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in name).lstrip(".") or "case"
