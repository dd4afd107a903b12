"""``verify-fix`` over a range of releases: each without and with every fix."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from harness.adapters.storage.journal import FileJournal
from harness.cli import options, rerun
from harness.cli.progress import listener
from harness.domain.cases.case import Case
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import ExitCode
from harness.domain.findings import assemble
from harness.domain.findings.question import Question
from harness.domain.findings.run import RunHeader
from harness.domain.fixes.advice import sentence, workarounds
from harness.domain.fixes.fix import Fix
from harness.domain.fixes.grades import FixReport, FixResult, exit_code
from harness.domain.releases.companions import Companions, Mode
from harness.domain.releases.release import Release, Timeline, usable_stable
from harness.domain.search.policy import Policy
from harness.domain.trials.observation import CONTRACT
from harness.domain.verdicts.verdict import Verdicts
from harness.jobs import single, verification
from harness.jobs.run_folders import open_run
from harness.jobs.verification import Verification
from harness.reporting.fixes import fix_report
from harness.services import Services, setting

CONTROL_LIMIT = 6  # releases before the range that are tried to find a healthy one


def answer(
    services: Services, case: Case, fixes: Sequence[Fix], targets: tuple[Symptom, ...], given: dict[str, Any]
) -> tuple[FixReport, Path]:
    """Try every release of the range without and with each fix, and grade what came of it."""
    started = time.monotonic()
    page = services.index.page(case.package)
    options.echo_stale(page)
    timeline = options.timeline_of(page, case, given["first"], given["last"], given["order"])
    spent = time.monotonic() - started
    companions = services.companions(
        [case], timeline, options.check_pins(given["pins"]), Mode(given["mode"]), given["python"]
    )
    options.echo_boundary(companions)
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
        control = _search(services, asked, page.releases, companions, fixes, journal, given, folder)
        report = compose(header, asked, journal, control)
        fix_report.write_all(report, folder)
    return report, folder


def _search(
    services: Services,
    asked: Verification,
    published: Sequence[Release],
    companions: Companions,
    fixes: Sequence[Fix],
    journal: FileJournal,
    given: dict[str, Any],
    folder: Path,
) -> Release | None:
    """Verify the range, then look before it for a healthy release when it holds none; returns that control."""
    trials = services.trials(fresh=given["fresh"], fixes={fix.name: fix for fix in fixes})
    try:
        with listener(len(asked.releases), given["jobs"]) as shown:
            environments = services.environments(companions, shown)
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
    before = [r for r in usable_stable(published) if r.parsed < releases[0].parsed]
    return before[::-1][:CONTROL_LIMIT]


def _all_show(asked: Verification, journal: FileJournal) -> bool:
    entries = assemble.group(journal.entries())
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
        reproduce=rerun.of_verify_fix(case, question, given),
        index_seconds=index_seconds,
    )


def compose(header: RunHeader, asked: Verification, journal: FileJournal, control: Release | None) -> FixReport:
    """Grade every fix on every release from the journal."""
    entries = assemble.group(journal.entries())
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
        timing=assemble.timing(header, journal.entries()),
        locks=assemble.locks(journal.entries()),
        reproduce=header.reproduce,
    )


def _verdicts(asked: Verification, entries: Sequence[Any]) -> Verdicts:
    row = assemble.row(asked.case, entries, asked.variant)
    return {s: v for s in Symptom if (v := row.verdict(s)) is not None}
