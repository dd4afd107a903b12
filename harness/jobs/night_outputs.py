"""What a night leaves behind: history, reports, alarms, what CI shows, and what is published."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from harness.adapters import webhook
from harness.adapters.processes.child_env import SECRETS
from harness.adapters.storage import nightly_database
from harness.adapters.storage.files import write_reports
from harness.domain.errors import UsageError
from harness.domain.nightly.alerts import JudgedNight, NightlyHistory
from harness.domain.nightly.publishing import Action, ActionKind, actions
from harness.reporting.nightly import alert_report, documents, night_report, replay_report


def write(told: NightlyHistory, killed: Sequence[str], state: Path) -> None:
    """Write everything that follows from the journal; the same journal gives the same files."""
    last = told.nights[-1]
    nightly_database.rebuild(state, told, killed)
    place = state if last.record.simulated else state / last.record.night
    place.mkdir(parents=True, exist_ok=True)
    if last.record.simulated:
        write_reports(state, replay_report.texts(told))
    write_reports(place, documents.texts(last, told.open_alarms))
    for alarm in told.alarms:
        folder = state / "alarms" / f"{_plain(alarm.case)}-{alarm.symptom.value if alarm.symptom else 'index'}"
        folder.mkdir(parents=True, exist_ok=True)
        write_reports(folder, alert_report.texts(alarm))


def publish(told: NightlyHistory, given: Mapping[str, Any], environment: Mapping[str, str]) -> None:
    """Tell CI, the tracker and the webhook; with ``--dry-run`` print what would be done."""
    last = told.nights[-1]
    if not given["github"]:  # the job that ran the night has told it
        _tell_ci(last, told, environment)
    if given["webhook"]:
        text = night_report.json_text(last, told.open_alarms)
        if given["dry_run"]:
            click.echo(f"would post {len(text)} characters of JSON to the webhook")
        else:
            webhook.post(given["webhook"], text)
    if given["github"]:
        _to_github(told, given, environment)
    elif given["dry_run"]:
        _show(actions(told.alarms, {alarm.key: alert_report.text(alarm) for alarm in told.alarms}, {}))


def _tell_ci(last: JudgedNight, told: NightlyHistory, environment: Mapping[str, str]) -> None:
    if environment.get("GITHUB_ACTIONS") == "true":
        for line in night_report.workflow_commands(last):
            click.echo(line)
    if path := environment.get("GITHUB_STEP_SUMMARY"):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(night_report.summary(last, told.open_alarms))


def _to_github(told: NightlyHistory, given: Mapping[str, Any], environment: Mapping[str, str]) -> None:
    from harness.adapters.github import DEFAULT_ADDRESS, GitHubTracker

    token = next((environment[name] for name in SECRETS if environment.get(name)), "")
    texts = {alarm.key: alert_report.text(alarm) for alarm in told.alarms}
    if not token:
        if given["dry_run"]:
            click.echo("no token: shown as for an empty tracker")
            return _show(actions(told.alarms, texts, {}))
        raise UsageError(
            "there is no token", where=", ".join(SECRETS), hint="give one with issues: write to this step alone"
        )
    address = given["base_url"] or environment.get("GITHUB_API_URL") or DEFAULT_ADDRESS
    tracker = GitHubTracker(given["github"], token, address)
    wanted = actions(told.alarms, texts, tracker.posted())
    if given["dry_run"]:
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
