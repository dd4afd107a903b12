"""``harness verify-fix CASE``: is the symptom gone, are the values right, does it break something?"""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import click

from harness import ledger, verification
from harness.commands import fixed_in, options, single
from harness.commands.progress import listener
from harness.core import switches
from harness.core.advice import sentence, workarounds
from harness.core.cases import Case, Level
from harness.core.errors import ExitCode, UsageError
from harness.core.grades import FixReport, FixResult, exit_code
from harness.core.observations import CONTRACT
from harness.core.policies import Policy
from harness.core.questions import Question
from harness.core.releases import Release, Timeline
from harness.core.runs import RunHeader
from harness.core.symptoms import Symptom
from harness.core.verdicts import Verdicts
from harness.edge import case_files
from harness.edge.companions import Companions, Mode
from harness.edge.fixes import Fix, find, mapping_sweep, patch
from harness.edge.home import check_output, output_folder
from harness.edge.journal import FileJournal
from harness.reporting import fix_report
from harness.verification import Verification
from harness.wiring import Workshop, setting, workshop

CONTROL_LIMIT = 6  # releases before the range that are tried to find a healthy one


@click.command("verify-fix")
@click.argument("case_name", metavar="CASE")
@click.option(
    "--fix", "names", multiple=True, metavar="NAME|FILE", help="A named fix or a Python file with apply() (repeatable)."
)
@click.option(
    "--patch",
    "patch_file",
    type=click.Path(path_type=Path),
    default=None,
    help="A diff, applied to a copy of the package.",
)
@click.option(
    "--fixed-in", "cure", default=None, metavar="RELEASE", help="A release, 'nightly', or 'commit:REF' with --clone."
)
@click.option(
    "--clone",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="Git clone that has the commit or pull request.",
)
@click.option("--sweep-mapping", "sweep", is_flag=True, help="Try every change of one key of _map_aggregation.")
@options.range_options
@options.environment_options
@options.set_option
@click.option(
    "--symptom",
    "symptoms",
    multiple=True,
    type=click.Choice([s.value for s in Symptom]),
    help="What the fix should cure (default: what the case expects).",
)
@click.option("--replicas", type=click.IntRange(1, 64), default=None, help="Replicas (default: the case's).")
@click.option("--repeats", type=click.IntRange(1, 100), default=None, help="Runs of each trial (default: the case's).")
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
    """Verify a fix of CASE over a range of releases.

    \b
    Exit codes: 0 proven, 3 does not cure, 4 cures the symptom but is not right, 5 inconclusive,
    7 breaks a healthy release, 2 bad usage, 6 environment, index or disk failed.
    """  # noqa: D301 - click wants the character itself
    case = case_files.read(case_name)
    case = replace(case, **{name: given[name] for name in ("replicas", "repeats") if given[name] is not None})
    given["options"] = switches.parse(case, given["settings"])
    fixes = _fixes(given)
    if fixes and case.level is Level.SCRIPT:
        hint = "use --fixed-in RELEASE, or let the case define model() and data()"
        raise UsageError("a fix cannot be applied inside a script of its own", where=case.path, hint=hint)
    check_output(given["resumed"] or given["output"] or Path("reports"))
    targets = tuple(Symptom(s) for s in given["symptoms"]) or ((case.expects,) if case.expects else ())
    with workshop() as shop:
        if given["cure"]:
            report, folder = fixed_in.answer(shop, case, targets, given)
        else:
            report, folder = _answer(shop, case, fixes, targets, given)
    if given["as_json"]:
        click.echo(fix_report.json_text(report).rstrip("\n"))
    else:
        fix_report.show(report, folder, options.console())
    return report.exit_code


def _fixes(given: dict[str, Any]) -> list[Fix]:
    fixes = [find(name) for name in given["names"]]
    fixes += [patch(given["patch_file"])] if given["patch_file"] else []
    fixes += mapping_sweep() if given["sweep"] else []
    if bool(fixes) == bool(given["cure"]):
        raise UsageError(
            "say what should be verified",
            hint="one of --fix NAME, --patch FILE, --sweep-mapping, or --fixed-in RELEASE alone",
        )
    if given["cure"] and fixed_in.is_commit(given["cure"]) and given["clone"] is None:
        hint = "give --clone PATH of a git clone of the package"
        raise UsageError("a commit needs a clone", where="--fixed-in", hint=hint)
    if len({fix.name for fix in fixes}) != len(fixes):
        raise UsageError("two fixes have the same name", where="--fix", hint="rename one of the files")
    return fixes


def _answer(
    shop: Workshop, case: Case, fixes: Sequence[Fix], targets: tuple[Symptom, ...], given: dict[str, Any]
) -> tuple[FixReport, Path]:
    started = time.monotonic()
    page = shop.index.page(case.package)
    options.echo_stale(page)
    timeline = options.timeline_of(page, case, given["first"], given["last"], given["order"])
    spent = time.monotonic() - started
    companions = shop.companions(
        [case], timeline, options.check_pins(given["pins"]), Mode(given["mode"]), given["python"]
    )
    header = _header(case, timeline, companions, fixes, targets, given, spent)
    folder, journal = open_run(header, given, "verify")
    asked = Verification(
        case=case,
        releases=timeline.releases,
        variant=header.question.variant,
        fixes=tuple(fix.name for fix in fixes),
        targets=targets,
        jobs=given["jobs"],
    )
    with journal:
        control = _search(shop, asked, page.releases, companions, fixes, journal, given, folder)
        report = compose(header, asked, journal, control)
        fix_report.write_all(report, folder)
    return report, folder


def _search(
    shop: Workshop,
    asked: Verification,
    published: Sequence[Release],
    companions: Companions,
    fixes: Sequence[Fix],
    journal: FileJournal,
    given: dict[str, Any],
    folder: Path,
) -> Release | None:
    """Verify the range, then look before it for a healthy release when it holds none; returns that control."""
    trials = shop.trials(fresh=given["fresh"], fixes={fix.name: fix for fix in fixes})
    try:
        with listener(len(asked.releases), given["jobs"]) as shown:
            environments = shop.environments(companions, shown)
            verification.verify(asked, environments, trials, journal, shown)
            for earlier in _before(published, asked.releases) if _all_show(asked, journal) else []:
                one = replace(asked, releases=(earlier,))
                verification.verify(one, environments, trials, journal, shown)
                if not _all_show(one, journal):
                    return earlier
    except KeyboardInterrupt:
        click.echo(
            f"\nharness: interrupted; resume with the same command and --resume {shlex.quote(str(folder))}", err=True
        )
        raise SystemExit(int(ExitCode.INTERRUPTED)) from None
    return None


def _before(published: Sequence[Release], releases: Sequence[Release]) -> list[Release]:
    """The stable releases before the range, the nearest first."""
    stable = [r for r in published if not r.parsed.is_prerelease and r.yanked is None and r.parsed < releases[0].parsed]
    return sorted(stable, key=lambda r: r.parsed, reverse=True)[:CONTROL_LIMIT]


def _all_show(asked: Verification, journal: FileJournal) -> bool:
    entries = ledger.group(journal.entries())
    return all(
        verification.shows(asked.case, entries.get(r.version, []), asked.variant, asked.targets) for r in asked.releases
    )


def _header(
    case: Case,
    timeline: Timeline,
    companions: Companions,
    fixes: Sequence[Fix],
    targets: tuple[Symptom, ...],
    given: dict[str, Any],
    index_seconds: float,
) -> RunHeader:
    question = Question(
        case=case.name,
        case_digest=case.digest,
        package=case.package,
        first=timeline.ends[0],
        last=timeline.ends[1],
        releases=timeline.versions,
        companions=setting(companions).companions or companions.wanted.requirements,
        mode=given["mode"],
        replicas=case.replicas,
        strategy=single.variant_of(case).strategy,
        symptoms=targets,
        order=given["order"],
        fixes=tuple(f"{fix.name}@{fix.digest}" for fix in fixes),
        options=given["options"],
        contract=CONTRACT,
    )
    return RunHeader(
        question=question,
        case=case,
        timeline=timeline,
        policy=Policy(symptoms=targets),
        setting=setting(companions),
        reproduce=_reproduce(case, question, given),
        index_seconds=index_seconds,
    )


def _reproduce(case: Case, question: Question, given: dict[str, Any]) -> str:
    words = ["harness", "verify-fix", case_files.callable_as(case), "--from", question.first, "--to", question.last]
    words += [word for name in given["names"] for word in ("--fix", name)]
    words += ["--patch", str(given["patch_file"])] if given["patch_file"] else []
    words += ["--sweep-mapping"] if given["sweep"] else []
    return shlex.join([*words, *settings_of(given)])


def settings_of(given: dict[str, Any]) -> list[str]:
    """The options that every way of verifying shares, as far as they were given."""
    words = [word for pin in given["pins"] for word in ("--with", pin)]
    words += [word for symptom in given["symptoms"] for word in ("--symptom", symptom)]
    words += switches.words(given["options"])
    for flag, value, default in (
        ("--replicas", given["replicas"], None),
        ("--repeats", given["repeats"], None),
        ("--companions", given["mode"], "fixed"),
        ("--python", given["python"], None),
        ("--order", given["order"], "version"),
    ):
        words += [flag, str(value)] if value != default else []
    return words


def open_run(header: RunHeader, given: dict[str, Any], kind: str) -> tuple[Path, FileJournal]:
    """Begin or resume the journal of a run."""
    if given["resumed"] is not None:
        folder = options.run_folder(given["resumed"])
        return folder, FileJournal.resume(folder, header.question)
    stamp = datetime.now(timezone.utc).strftime("%Y%m%d-%H%M%S")
    name = "-".join(part for part in (kind, header.case.name, stamp) if part)
    folder = output_folder(given["output"] or options.unused(Path("reports") / name))
    return folder, FileJournal.begin(folder, header)


def compose(header: RunHeader, asked: Verification, journal: FileJournal, control: Release | None) -> FixReport:
    """Grade every fix on every release from the journal."""
    entries = ledger.group(journal.entries())
    releases = [*([control] if control else []), *asked.releases]
    results = []
    for name in asked.fixes:
        graded = tuple(verification.grade_release(asked, r, entries.get(r.version, []), name) for r in releases)
        results.append(FixResult(name=name, sentence=sentence(name, graded), releases=graded))
    rows = [(r.version, _verdicts(asked, entries.get(r.version, []))) for r in releases]
    return FixReport(
        title=header.case.title,
        question=header.question,
        environment=header.setting,
        targets=asked.targets,
        fixes=tuple(results),
        workarounds=tuple(workarounds(header.case.package, rows, asked.targets)),
        control=control.version if control else "",
        exit_code=int(exit_code([g.grade for result in results for g in result.releases])),
        timing=ledger.timing(header, journal.entries()),
        locks=ledger.locks(journal.entries()),
        reproduce=header.reproduce,
    )


def _verdicts(asked: Verification, entries: Sequence[Any]) -> Verdicts:
    row = ledger.row(asked.case, entries, asked.variant)
    return {s: v for s in Symptom if (v := row.verdict(s)) is not None}
