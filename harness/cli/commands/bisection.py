"""``harness bisect CASE``."""

from __future__ import annotations

import shlex
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from harness.adapters.environments import artifacts
from harness.adapters.storage import case_files, known_issues, run_cache
from harness.adapters.storage.files import check_output
from harness.adapters.storage.journal import FileJournal
from harness.cli import options, rerun
from harness.cli.progress import listener
from harness.domain.cases import parameters
from harness.domain.cases.case import STRATEGIES, Case
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import ExitCode, InfrastructureError, UsageError
from harness.domain.findings import assemble
from harness.domain.findings.conclusions import EXIT_CODES
from harness.domain.findings.finding import Finding
from harness.domain.findings.question import Question
from harness.domain.findings.run import RunHeader
from harness.domain.releases.companions import Companions, Mode
from harness.domain.releases.distributions import FRAMEWORK
from harness.domain.releases.nightlies import is_nightly
from harness.domain.releases.release import Channel, Timeline
from harness.domain.search.policy import Policy
from harness.domain.trials.observation import CONTRACT
from harness.jobs import bisection, channels, refinement
from harness.jobs.run_folders import open_run
from harness.reporting.bisection import files as report_files
from harness.reporting.bisection import terminal_report
from harness.services import Services, open_services, setting


@click.command("bisect")
@click.argument("case_name", metavar="CASE")
@options.range_options
@options.environment_options
@options.set_option
@click.option(
    "--channel",
    default=None,
    metavar="CHANNELS",
    help="stable (default), nightly, commit, or several, such as stable,nightly,commit: "
    "go on from each edge to the finer releases between.",
)
@click.option(
    "--clone",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    default=None,
    help="Git clone of the package, for --channel commit; --from and --to are then commits or days.",
)
@click.option("--package", default=None, help="Distribution under test (default: the case's).")
@click.option(
    "--symptom",
    "symptoms",
    multiple=True,
    type=click.Choice([s.value for s in Symptom]),
    help="Ask for this symptom only (repeatable; default: every symptom that is seen).",
)
@click.option("--replicas", type=click.IntRange(1, 64), default=None, help="Replicas (default: the case's).")
@click.option("--strategy", type=click.Choice(STRATEGIES), default=None, help="Strategy (default: the case's).")
@click.option("--jobs", type=click.IntRange(1, 64), default=options.default_jobs, help="Releases tried at once.")
@click.option("--repeats", type=click.IntRange(1, 100), default=None, help="Least number of runs per release.")
@click.option(
    "--max-trials",
    type=click.IntRange(2),
    default=None,
    help="Budget of runs over all releases; as many releases again may turn out untestable.",
)
@click.option(
    "--confidence",
    type=click.FloatRange(0.5, 0.99999),
    default=0.99,
    show_default=True,
    help="How sure each edge must be; noisy releases are repeated until it is met.",
)
@click.option(
    "--max-gap",
    type=click.IntRange(0),
    default=None,
    help="Most releases in a row that may stay unrun between two equal ones "
    "(default: 0, every release; on nightly and commit timelines any number).",
)
@click.option("--memory", default=None, metavar="SIZE", help="Memory limit of a trial, for example 4G.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="Folder of the run (default: reports/<run id>).",
)
@click.option(
    "--resume",
    "resumed",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="Go on with an earlier run.",
)
@click.option("--fresh", is_flag=True, help="Run everything anew, whatever the cache holds.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON on stdout.")
def command(case_name: str, **given: Any) -> int:
    """Find in which release each symptom of CASE begins and ends.

    CASE is a name in repro_cases/ or the path of any Python file with inline metadata.
    """  # fmt: skip
    given["channels"] = channels.parse(given["channel"], given["package"])
    if (Channel.COMMIT in given["channels"]) != (given["clone"] is not None):
        raise UsageError("commits and a clone go together", where="--clone", hint="give --channel commit --clone PATH")
    case = _case(case_name, given)
    given = completed(case, given)
    check_output(given["resumed"] or given["output"] or Path("reports"))
    with open_services() as services:
        finding, folder = answer(services, case, given)
        if len(given["channels"]) > 1:
            finding = refinement.descend(services, case, finding, folder, given, answer)
    if given["as_json"]:
        click.echo(report_files.json_text(finding))
    else:
        terminal_report.show(finding, folder, options.console())
    return int(EXIT_CODES[finding.conclusion.answer])


def completed(case: Case, given: dict[str, Any]) -> dict[str, Any]:
    """The options with what follows from them and the case."""
    settled = parameters.parse(case, given["settings"])
    return {**given, "options": settled, "memory": options.size(given["memory"])}


def answer(services: Services, case: Case, given: dict[str, Any]) -> tuple[Finding, Path]:
    """Search one timeline to its end and write the reports; returns the finding and the run's folder."""
    header, companions = prepare(services, case, given)
    folder, journal = open_run(header, given)
    with journal:
        _search(services, header, companions, folder, journal, given)
        finding = assemble.compose(header, journal.entries())
        report_files.write_all(finding, folder)
        _keep(services, case, finding, folder, given)
    return finding, folder


def _keep(services: Services, case: Case, finding: Finding, folder: Path, given: dict[str, Any]) -> None:
    """Keep what may be gone tomorrow: the wheels of nightly edges, and the lines that a found commit changed."""
    if is_nightly(case.package):
        for problem in artifacts.save_artifacts(finding, folder):
            click.echo(f"harness: warning: {problem}", err=True)
    for transition in finding.transitions:
        if any(cause.found for cause in transition.causes):
            clone = services.clone(given["clone"], case.package)
            patch = clone.save_patch(transition.first_after, folder / artifacts.FOLDER)
            click.echo(f"{transition.symptom.value}: changed lines: {patch}", err=True)


def _case(case_name: str, given: dict[str, Any]) -> Case:
    case = case_files.read(case_name, package=given["package"])
    changes = {name: given[name] for name in ("replicas", "strategy", "repeats") if given[name] is not None}
    case = replace(case, **changes)
    return channels.under_test(case, given["channels"][0])


def prepare(services: Services, case: Case, given: dict[str, Any]) -> tuple[RunHeader, Companions]:
    """Fix the question: timeline, companions, policy. Fails before anything is written."""
    pins = options.check_pins(given["pins"])
    started = time.monotonic()
    timeline = _timeline(services, case, given)
    index_seconds = time.monotonic() - started
    companions = services.companions([case], timeline, pins, Mode(given["mode"]), given["python"])
    options.echo_boundary(companions)
    if case.import_name == FRAMEWORK:
        named = [pin for pin in setting(companions).companions if pin.startswith("keras==")]
        click.echo(f"harness: {case.package} with {', '.join(named) or 'no Keras'}", err=True)
    question = _question(case, timeline, companions, given)
    policy = Policy(
        symptoms=question.symptoms,
        repeats=case.repeats,
        max_trials=given["max_trials"],
        confidence=given["confidence"],
        max_gap=_max_gap(given),
    )
    header = RunHeader(
        question=question,
        case=case,
        timeline=timeline,
        policy=policy,
        setting=setting(companions),
        reproduce=rerun.of_bisect(case, question, given),
        index_seconds=index_seconds,
        causes=known_issues.causes_for(case),
    )
    return header, companions


def _timeline(services: Services, case: Case, given: dict[str, Any]) -> Timeline:
    if given["channels"][0] is Channel.COMMIT:
        if given["first"] is None:
            raise UsageError("where should the search begin?", where="--from", hint="give a commit or a day")
        last = "HEAD" if given["last"] == "latest" else given["last"]
        return services.clone(given["clone"], case.package).timeline(given["first"], last)
    page = services.index.page(case.package)
    options.echo_stale(page)
    return options.timeline_of(page, case, given["first"], given["last"], given["order"])


def _max_gap(given: dict[str, Any]) -> int | None:
    """Every stable release is run; of nightlies and commits only those that the search needs, unless asked."""
    default = 0 if given["channels"][0] is Channel.STABLE else None
    return default if given["max_gap"] is None else int(given["max_gap"])


def _question(case: Case, timeline: Timeline, companions: Companions, given: dict[str, Any]) -> Question:
    return Question(
        case=case.name,
        case_digest=case.digest,
        package=case.package,
        first=timeline.ends[0],
        last=timeline.ends[1],
        releases=timeline.versions,
        companions=setting(companions).companions or companions.wanted.requirements,
        mode=given["mode"],
        replicas=case.replicas,
        strategy=case.strategy if case.replicas > 1 else "none",
        symptoms=tuple(Symptom(s) for s in given["symptoms"]),
        order=timeline.order.value,
        options=given["options"],
        contract=CONTRACT,
    )


def _search(
    services: Services,
    header: RunHeader,
    companions: Companions,
    folder: Path,
    journal: FileJournal,
    given: dict[str, Any],
) -> None:
    inquiry = bisection.SearchRequest(
        case=header.case,
        timeline=header.timeline,
        policy=header.policy,
        variant=header.question.variant,
        jobs=given["jobs"],
        course=() if given["fresh"] else run_cache.recall(services.home, header),
    )
    trials = services.trials(fresh=given["fresh"], memory_bytes=given["memory"])
    resume = f"{header.reproduce} --resume {shlex.quote(str(folder))}"
    try:
        with listener(len(header.timeline.releases), given["jobs"]) as shown:
            bisection.bisect(inquiry, services.environments(companions, shown), trials, journal, shown)
        run_cache.remember(services.home, header, bisection.course_of(journal.entries()))
    except KeyboardInterrupt:
        click.echo(
            f"\nharness: interrupted; {len(journal.entries())} finished trials are kept. Resume with:\n  {resume}",
            err=True,
        )
        raise SystemExit(int(ExitCode.INTERRUPTED)) from None
    except InfrastructureError as error:
        error.hint = f"{error.hint or 'mend it'}; then resume with: {resume}"
        raise
