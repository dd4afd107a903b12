"""``verify-fix`` over a range of releases: each without and with every fix."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from harness import ledger, verification
from harness.commands import command_lines, options, single
from harness.commands.progress import listener
from harness.commands.run_folders import open_run
from harness.core.advice import sentence, workarounds
from harness.core.cases import Case
from harness.core.errors import ExitCode
from harness.core.grades import FixReport, FixResult, exit_code
from harness.core.observations import CONTRACT
from harness.core.policies import Policy
from harness.core.questions import Question
from harness.core.releases import Release, Timeline
from harness.core.runs import RunHeader
from harness.core.symptoms import Symptom
from harness.core.verdicts import Verdicts
from harness.edge.companions import Companions, Mode
from harness.edge.fixes import Fix
from harness.edge.journal import FileJournal
from harness.reporting import fix_report
from harness.verification import Verification
from harness.wiring import Workshop, setting

CONTROL_LIMIT = 6  # releases before the range that are tried to find a healthy one


def answer(
    shop: Workshop, case: Case, fixes: Sequence[Fix], targets: tuple[Symptom, ...], given: dict[str, Any]
) -> tuple[FixReport, Path]:
    """Try every release of the range without and with each fix, and grade what came of it."""
    started = time.monotonic()
    page = shop.index.page(case.package)
    options.echo_stale(page)
    timeline = options.timeline_of(page, case, given["first"], given["last"], given["order"])
    spent = time.monotonic() - started
    companions = shop.companions(
        [case], timeline, options.check_pins(given["pins"]), Mode(given["mode"]), given["python"]
    )
    options.echo_seam(companions)
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
        reproduce=command_lines.of_verify_fix(case, question, given),
        index_seconds=index_seconds,
    )


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
