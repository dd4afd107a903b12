"""``harness nightly``: the newest nightly and a control, against what is recorded; changes are confirmed, narrowed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta, timezone
from pathlib import Path
from typing import Any

import click

from harness.adapters.environments.companions import framework_package
from harness.adapters.processes.child_env import SECRETS
from harness.adapters.storage import case_files, known_issues
from harness.adapters.storage.files import output_folder
from harness.adapters.storage.nightly_journal import Busy, FileNightlyJournal, only_one
from harness.cli import options
from harness.domain.cases.case import Case
from harness.domain.errors import UsageError
from harness.domain.nightly.alerts import nightly_history
from harness.domain.nightly.case_status import exit_code
from harness.domain.nightly.nights import NightExit, NightRecord
from harness.domain.releases.nightlies import existing, nights_between, parse_day
from harness.domain.releases.release import Release, Timeline, usable_stable
from harness.jobs import monitoring, night_outputs, replay
from harness.jobs.monitoring import NightlyPlan, NightlyServices
from harness.jobs.night_runs import CertainIndex, LineListener, ReleaseFixChecker, SearchNarrower, SlotRunner
from harness.reporting.nightly import night_report
from harness.services import Services, open_services

REPLAY_HOUR = time(6, tzinfo=timezone.utc)
"""When a replayed night looks at the index: builds are uploaded at about four."""


@click.command("nightly")
@click.argument("case_names", metavar="[CASE]...", nargs=-1)
@click.option(
    "--package",
    type=click.Choice(["keras-nightly", "tf-nightly", "tf-nightly-cpu"]),
    default="keras-nightly",
    show_default=True,
    help="Distribution of the nightlies.",
)
@click.option(
    "--state",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("reports/nightly"),
    show_default=True,
    help="Folder of the journal, the history, the alarms and a folder per night.",
)
@click.option(
    "--expectations",
    "expectations_file",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="What is known and recorded (default: repro_cases/expectations.toml).",
)
@click.option(
    "--stale-after",
    type=click.IntRange(0),
    default=3,
    show_default=True,
    help="Days after which the newest build is too old, which is an alarm of its own.",
)
@click.option(
    "--confirmations",
    type=click.IntRange(1, 20),
    default=3,
    show_default=True,
    help="Agreeing fresh runs that a change needs to be believed.",
)
@click.option("--jobs", type=click.IntRange(1, 64), default=options.default_jobs, help="Nightlies tried at once.")
@options.environment_options
@click.option("--simulate", is_flag=True, help="Replay nights of the past, with what existed on each of them.")
@click.option("--since", default=None, metavar="DAY", help="First night of a replay.")
@click.option("--until", default=None, metavar="DAY", help="Last night of a replay.")
@click.option(
    "--max-gap",
    type=click.IntRange(0),
    default=replay.GAP,
    show_default=True,
    help="Most nights in a row that a replay may take over from two equal neighbours (0: run every one).",
)
@click.option("--report-only", is_flag=True, help="Run nothing: write and publish what the journal says.")
@click.option("--github", default=None, metavar="OWNER/REPO", help="Keep issues there as the alarms are.")
@click.option("--base-url", default=None, metavar="URL", help="Of the GitHub API (GitHub Enterprise, tests).")
@click.option("--webhook", default=None, metavar="URL", help="Post the night there as JSON.")
@click.option("--dry-run", is_flag=True, help="Print what would be published, publish nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the last night as JSON.")
def command(case_names: tuple[str, ...], **given: Any) -> int:
    """Look at the newest nightly and, as a control, at the newest stable release; all cases, or those named.

    \b
    Exit codes: 0 as expected, 3 new regression, 4 unexpected recovery, 5 inconclusive
    (also: another night is going on, or the index is down or has no recent build).
    """  # noqa: D301 - click wants the character itself
    check(given)
    state = output_folder(given["state"])
    if not given["report_only"]:
        try:
            with only_one(state):
                for record in _run(case_names, state, given):
                    click.echo(f"{record.night}: {record.nightly or record.fault}", err=True)
        except Busy as busy:
            click.echo(f"harness: {busy}", err=True)
            return int(NightExit.INCONCLUSIVE)
    return report(state, given)


def check(given: Mapping[str, Any], environment: Mapping[str, str] = os.environ) -> None:
    """Refuse what cannot be meant; above all a token beside nightly code."""
    if given["simulate"] != bool(given["since"] and given["until"]):
        raise UsageError("a replay needs its nights", where="--simulate, --since, --until", hint="give all three")
    if given["simulate"] and given["report_only"]:
        raise UsageError("--simulate runs, --report-only does not", hint="give one of them")
    exposed = [name for name in SECRETS if environment.get(name)]
    if exposed and not given["report_only"]:
        raise UsageError(
            "a token lies in the environment of a process that runs nightly code",
            where=", ".join(exposed),
            hint="run the night without it; then publish with: harness nightly --report-only --github OWNER/REPO",
        )
    if given["github"] and not given["report_only"] and not given["dry_run"]:
        raise UsageError(
            "--github publishes, and this run would run nightly code beside the token",
            where="--github",
            hint="run the night first; then: harness nightly --report-only --github OWNER/REPO",
        )


def report(state: Path, given: Mapping[str, Any]) -> int:
    """Write everything that follows from the journal, publish it, and say how the last night ended."""
    book = FileNightlyJournal(state)
    told = nightly_history(book.records())
    if not told.nights:
        raise UsageError(
            "there is no night to report", where=str(state), hint="run `harness nightly` first, or give --state"
        )
    night_outputs.write(told, book.killed(), state)
    last = told.nights[-1]
    if given["as_json"]:
        click.echo(night_report.json_text(last, told.open_alarms).rstrip("\n"))
    else:
        click.echo(night_report.markdown(last, told.open_alarms))
    night_outputs.publish(told, given, os.environ)
    return 0 if given["simulate"] else int(exit_code(last.record, last.judged))


def _run(case_names: tuple[str, ...], state: Path, given: Mapping[str, Any]) -> Iterator[NightRecord]:
    expectations = known_issues.read_expectations(given["expectations_file"])
    chosen, left_out = _cases(case_names)
    plan = NightlyPlan(
        package=given["package"],
        control_package=framework_package() if given["package"].startswith("tf-") else "keras",
        cases=chosen,
        expectations=expectations,
        confirmations=given["confirmations"],
        stale_after=given["stale_after"],
        simulated=given["simulate"],
        notes=left_out,
    )
    book = FileNightlyJournal(state)
    with open_services(refresh=not given["simulate"]) as services:
        if given["simulate"]:
            yield from _replay(services, plan, book, state, given)
        else:
            moment = datetime.now(timezone.utc)
            place = output_folder(state / moment.date().isoformat())
            bench = SlotRunner(services, chosen, given, lead=plan.package, fresh=True)
            tools = NightlyServices(
                index=CertainIndex(services.index),
                bench=bench,
                narrower=SearchNarrower(services, given, place),
                fixes=ReleaseFixChecker(bench, plan.control_package),
                listener=LineListener(),
            )
            yield from monitoring.monitor(plan, [moment], tools, book)


def _cases(names: Sequence[str]) -> tuple[tuple[Case, ...], tuple[str, ...]]:
    """The cases of Keras; those of other packages have no nightly and are named."""
    everything = case_files.read_all(names)
    chosen = tuple(case for case in everything if case.package == "keras")
    left_out = [
        f"{case.name} is a case of {case.package} and was left out" for case in everything if case not in chosen
    ]
    if not chosen:
        raise UsageError("no case is left to run", hint="name a case of keras")
    return chosen, tuple(left_out)


def _replay(
    services: Services, plan: NightlyPlan, book: FileNightlyJournal, state: Path, given: Mapping[str, Any]
) -> Iterator[NightRecord]:
    """Search the whole stretch economically, then go through it night by night."""
    days = list(_days(given["since"], given["until"]))
    first, last = (datetime.combine(day, REPLAY_HOUR) for day in (days[0], days[-1]))
    builds = existing(services.index.releases(plan.package), last)
    stable = existing(services.index.releases(plan.control_package), last)
    timeline = nights_between(builds, first.date() - timedelta(days=plan.stale_after), last.date())
    controls = _controls(stable, first)
    timelines = {plan.package: timeline, plan.control_package: controls}
    bench = SlotRunner(services, plan.cases, given, lead=plan.package, fresh=False, timelines=timelines)
    boards = replay.search_all(services, plan.cases, timeline, state, given, given["max_gap"])
    tools = NightlyServices(
        index=CertainIndex(services.index),
        bench=replay.ReplayRunner(bench, boards),
        narrower=SearchNarrower(services, given, state),
        fixes=ReleaseFixChecker(bench, plan.control_package),
        listener=LineListener(quiet=True),
    )
    plan = replace(plan, expectations=replace(plan.expectations, watches=()))  # they would run every night for real
    held = {record.night for record in book.records()}
    moments = [datetime.combine(day, REPLAY_HOUR) for day in days if day.isoformat() not in held]
    yield from monitoring.monitor(plan, moments, tools, book)


def _controls(stable: Sequence[Release], first: datetime) -> Timeline:
    """Stable releases that were the newest on some night of the replay."""
    usable = usable_stable(stable)
    known = existing(usable, first)
    return Timeline(releases=(*known[-1:], *(r for r in usable if r not in known)))


def _days(since: str, until: str) -> Iterator[date]:
    first, last = parse_day(since, where="--since"), parse_day(until, where="--until")
    if first > last:
        raise UsageError(f"--since {since} comes after --until {until}", hint="swap the two")
    for number in range((last - first).days + 1):
        yield first + timedelta(days=number)
