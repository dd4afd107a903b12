"""``harness remedies CASE``: what the reports recommend and claim, measured."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from harness.adapters.storage import case_files
from harness.adapters.storage.journal import FileJournal
from harness.cli import options
from harness.cli.progress import listener
from harness.domain.cases.case import Case, Level
from harness.domain.errors import ExitCode, UsageError
from harness.domain.findings.question import Question
from harness.domain.findings.run import RunHeader
from harness.domain.fixes.workarounds import Effect, WorkaroundReport
from harness.domain.releases.companions import Companions, Mode
from harness.domain.releases.release import Order, Release, Timeline, find, sort
from harness.domain.search.policy import Policy
from harness.domain.trials.observation import CONTRACT
from harness.jobs import single, workarounds
from harness.jobs.run_folders import open_run
from harness.jobs.workarounds import Measurement
from harness.reporting.fixes import workarounds_report
from harness.services import Services, open_services, setting

MOST_REPLICAS = 64


@click.command("remedies")
@click.argument("case_name", metavar="CASE")
@click.option("--release", "versions", multiple=True, help="Release to try (repeatable; default: the latest).")
@click.option("--replicas", "counts", default=None, metavar="N,...", help="Replicas (default: 1 and the case's own).")
@options.environment_options
@click.option("--jobs", type=click.IntRange(1, 64), default=options.default_jobs, help="Releases tried at once.")
@click.option("--output", type=click.Path(path_type=Path, file_okay=False), default=None, help="Folder of the run.")
@click.option(
    "--resume",
    "resumed",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="Go on with an earlier run.",
)
@click.option("--fresh", is_flag=True, help="Run everything anew.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON on stdout.")
def command(case_name: str, **given: Any) -> int:
    """Measure every remedy and every claim that CASE lists.

    \b
    One row per remedy, one column per release and number of replicas: cured? right?
    Each claim is supported, refuted, or not testable here.
    Exit codes: 0 measured, 5 nothing could be told, 2 bad usage, 6 environment, index or disk failed.
    """  # noqa: D301 - click wants the character itself
    case = case_files.read(case_name)
    counts = replica_counts(case, given["counts"])
    _check(case, counts)
    with open_services() as services:
        report, folder = _answer(services, case, counts, given)
    if given["as_json"]:
        click.echo(workarounds_report.json_text(report).rstrip("\n"))
    else:
        workarounds_report.show(report, folder, options.console())
    return exit_code(report)


def replica_counts(case: Case, text: str | None) -> tuple[int, ...]:
    """Read ``--replicas 1,2``; raises `UsageError`. A script decides on its replicas itself."""
    if case.level is Level.SCRIPT and text is not None:
        raise UsageError("a script runs on the replicas that it chooses", where="--replicas", hint="leave it out")
    if text is None:
        return (case.replicas,) if case.level is Level.SCRIPT else tuple(dict.fromkeys((1, case.replicas)))
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() and 1 <= int(word) <= MOST_REPLICAS for word in words):
        raise UsageError(f"{text!r} is no list of replicas", where="--replicas", hint="write it as 1,2")
    return tuple(dict.fromkeys(int(word) for word in words))


def _check(case: Case, counts: Sequence[int]) -> None:
    """Refuse a case with nothing to measure, and wrong settings in it, before anything is built."""
    if not case.workarounds and not case.claims:
        raise UsageError(
            "the case lists no workarounds and no claims",
            where=case.path,
            hint=f"add [workarounds.NAME] or [[claims]] to {case.name}.claims.toml beside it; see docs/cases.md",
        )
    anywhere = Measurement(case=case, releases=(Release(package=case.package, version="0"),), counts=tuple(counts))
    for release in anywhere.releases:
        anywhere.variants(release)
    for claim in case.claims:
        workarounds.pair(case, claim)


def exit_code(report: WorkaroundReport) -> int:
    """0 when anything was told."""
    cells = [cell.cured for row in report.rows for cell in row.cells]
    told = any(cured is not Effect.OPEN for cured in cells) or any(answered.evidence for answered in report.claims)
    return 0 if told else int(ExitCode.INCONCLUSIVE)


def _answer(
    services: Services, case: Case, counts: tuple[int, ...], given: dict[str, Any]
) -> tuple[WorkaroundReport, Path]:
    started = time.monotonic()
    page = services.index.page(case.package)
    options.echo_stale(page)
    asked = [find(page.releases, version, where="--release") for version in given["versions"] or ("latest",)]
    releases = tuple(sort(dict.fromkeys(asked), Order.VERSION))
    claimed = _claimed(case, page.releases, releases)
    spent = time.monotonic() - started
    survey = Measurement(case=case, releases=releases, claimed=claimed, counts=counts, jobs=given["jobs"])
    companions = _companions(services, survey, given)
    header = _header(survey, companions, given, spent)
    folder, journal = open_run(header, given, "remedies")
    with journal:
        _measure(services, survey, companions, journal, given, folder)
        report = workarounds.compose(header, survey, journal.entries())
        workarounds_report.write_all(report, folder)
    return report, folder


def _claimed(case: Case, published: Sequence[Release], asked: Sequence[Release]) -> tuple[Release, ...]:
    """Releases that claims name beside those asked for, as far as they were ever published."""
    wanted = {claim.release for claim in case.claims if claim.release} - {release.version for release in asked}
    return tuple(sort((release for release in published if release.version in wanted), Order.VERSION))


def _companions(services: Services, survey: Measurement, given: dict[str, Any]) -> Companions:
    """Companions that fit every release; where none do, those of the releases asked for come first."""
    pins, mode = options.check_pins(given["pins"]), Mode(given["mode"])
    every = tuple(sort((*survey.releases, *survey.claimed), Order.VERSION))
    plan = services.companions([survey.case], Timeline(releases=every), pins, mode, given["python"])
    if plan.boundary and survey.claimed:
        click.echo("harness: warning: no companions fit the releases of all claims", err=True)
        plan = services.companions([survey.case], Timeline(releases=survey.releases), pins, mode, given["python"])
    options.echo_boundary(plan)
    return plan


def _header(survey: Measurement, companions: Companions, given: dict[str, Any], index_seconds: float) -> RunHeader:
    case, timeline = survey.case, Timeline(releases=(*survey.releases, *survey.claimed))
    question = Question(
        case=case.name,
        case_digest=case.digest,
        package=case.package,
        first=survey.releases[0].version,
        last=survey.releases[-1].version,
        releases=timeline.versions,
        companions=setting(companions).companions or companions.wanted.requirements,
        mode=given["mode"],
        replicas=max(survey.counts),
        strategy=single.variant_of(case).strategy,
        fixes=(f"remedies and claims on {', '.join(map(str, survey.counts))} replicas",),
        contract=CONTRACT,
    )
    return RunHeader(
        question=question,
        case=case,
        timeline=timeline,
        policy=Policy(),
        setting=setting(companions),
        reproduce=_reproduce(survey, given),
        index_seconds=index_seconds,
    )


def _reproduce(survey: Measurement, given: dict[str, Any]) -> str:
    words = ["harness", "remedies", case_files.callable_as(survey.case)]
    words += [word for release in survey.releases for word in ("--release", release.version)]
    words += ["--replicas", given["counts"]] if given["counts"] else []
    words += [word for pin in given["pins"] for word in ("--with", pin)]
    words += ["--companions", given["mode"]] if given["mode"] != "fixed" else []
    words += ["--python", given["python"]] if given["python"] else []
    return shlex.join(words)


def _measure(
    services: Services,
    survey: Measurement,
    companions: Companions,
    journal: FileJournal,
    given: dict[str, Any],
    folder: Path,
) -> None:
    try:
        with listener(len(survey.releases) + len(survey.claimed), given["jobs"]) as shown:
            trials = services.trials(fresh=given["fresh"])
            workarounds.measure(survey, services.environments(companions, shown), trials, journal, shown)
    except KeyboardInterrupt:
        click.echo(
            f"\nharness: interrupted; resume with the same command and --resume {shlex.quote(str(folder))}", err=True
        )
        raise SystemExit(int(ExitCode.INTERRUPTED)) from None
