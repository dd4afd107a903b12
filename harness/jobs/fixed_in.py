"""``verify-fix --fixed-in``: another release, a nightly or a commit is the fix."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.adapters.storage import case_files
from harness.adapters.storage.journal import FileJournal
from harness.cli import options, rerun
from harness.domain.cases.case import Case
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import UsageError
from harness.domain.findings import assemble
from harness.domain.findings.question import Question
from harness.domain.findings.run import RunHeader
from harness.domain.fixes.grades import FixReport, FixResult, Grade, Graded, exit_code
from harness.domain.releases.companions import Companions, Mode
from harness.domain.releases.nightlies import NIGHTLIES
from harness.domain.releases.release import Channel, Order, Release, Timeline, sort, stable_timeline
from harness.domain.search.policy import Policy
from harness.domain.trials.entry import Entry
from harness.domain.trials.observation import CONTRACT
from harness.domain.trials.trial import Trial
from harness.domain.trials.variant import Variant
from harness.jobs import single, verification
from harness.jobs.bisection import variants
from harness.jobs.run_folders import open_run
from harness.reporting.fixes import fix_report
from harness.services import Services, setting


def answer(
    services: Services, case: Case, targets: tuple[Symptom, ...], given: dict[str, Any]
) -> tuple[FixReport, Path]:
    """Find the last release before the fixed one that shows the symptom, then try the fixed one."""
    page = services.index.page(case.package)
    options.echo_stale(page)
    cure = _release(services, case, given)
    stable = stable_timeline(
        page.releases, first=given["first"] or case.since or None, last="latest", order=Order.VERSION
    )
    earlier = [r for r in stable.releases if cure.channel is not Channel.STABLE or r.parsed < cure.parsed]
    if not earlier:
        raise UsageError(
            f"there is no release before {cure.version} in the range", where="--from", hint="begin earlier"
        )
    companions = services.companions(
        [case],
        Timeline(releases=tuple(earlier)),
        options.check_pins(given["pins"]),
        Mode(given["mode"]),
        given["python"],
    )
    options.echo_boundary(companions)
    header = _header(case, cure, earlier, companions, targets, given)
    folder, journal = open_run(header, given, "verify")
    before = _last_broken(services, header, earlier, companions, journal, given)
    moved, beside = replace(case, package=cure.package), _companions_for(services, case, cure, companions, given)
    cured = _try(services, moved, cure, header.question.variant, beside, given)
    for entry in cured:
        journal.record(entry)
    report = _compose(header, case, before, cure, journal, targets)
    fix_report.write_all(report, folder)
    return report, folder


def is_commit(wanted: str) -> bool:
    """Whether the fix is a commit or pull request, which only a clone has."""
    return wanted.startswith(("commit:", "pr:")) or re.fullmatch(r"[0-9a-f]{7,40}", wanted) is not None


def _release(services: Services, case: Case, given: dict[str, Any]) -> Release:
    """The release that is said to be fixed."""
    wanted = given["cure"]
    if wanted == "nightly":
        page = services.index.page(NIGHTLIES.get(case.package, f"{case.package}-nightly"))
        options.echo_stale(page)
        return sort((r for r in page.releases if r.yanked is None), Order.VERSION)[-1]
    if is_commit(wanted):
        return services.clone(given["clone"], case.package).commit(wanted)
    return single.find_release(services, case.package, wanted, where="--fixed-in")


def _companions_for(
    services: Services, case: Case, cure: Release, held: Companions, given: dict[str, Any]
) -> Companions:
    """The same companions for a release of another channel: those asked for are pinned as they are held."""
    if cure.channel is Channel.STABLE:
        return held
    from packaging.requirements import Requirement

    names = {Requirement(text).name for text in held.wanted.requirements}
    pins = [pin for pin in setting(held).companions if Requirement(pin).name in names]
    moved = replace(case, package=cure.package)
    return services.companions([moved], Timeline(releases=(cure,)), pins, Mode(given["mode"]), held.interpreter.path)


def _last_broken(
    services: Services,
    header: RunHeader,
    earlier: Sequence[Release],
    companions: Companions,
    journal: FileJournal,
    given: dict[str, Any],
) -> Release:
    """Walk back from the newest until a release shows the symptom; the oldest if none does."""
    case, variant = header.case, header.question.variant
    for release in reversed(earlier):
        entries = _try(services, case, release, variant, companions, given)
        for entry in entries:
            journal.record(entry)
        if verification.shows(case, entries, variant, header.question.symptoms):
            return release
    return earlier[-1]


def _try(
    services: Services, case: Case, release: Release, variant: Variant, companions: Companions, given: dict[str, Any]
) -> list[Entry]:
    from harness.domain.errors import Untestable

    asked = [
        Trial(release=release.version, variant=one, repeat=repeat)
        for repeat in range(case.repeats)
        for one in variants(case, variant)
    ]
    try:
        environment = services.environments(companions).prepare(release)
        finished = services.trials(fresh=given["fresh"]).run(environment, case, asked)
    except Untestable as reason:
        return [Entry(release=release.version, untestable=reason.what)]
    return [Entry(release=release.version, environment=environment, finished=one) for one in finished]


def _header(
    case: Case,
    cure: Release,
    earlier: Sequence[Release],
    companions: Companions,
    targets: tuple[Symptom, ...],
    given: dict[str, Any],
) -> RunHeader:
    releases = (*earlier, cure)
    variant = single.variant_of(case, given["options"])
    question = Question(
        case=case.name,
        case_digest=case.digest,
        package=case.package,
        first=releases[0].version,
        last=cure.version,
        releases=tuple(r.version for r in releases),
        companions=setting(companions).companions,
        mode=given["mode"],
        replicas=variant.replicas,
        strategy=variant.strategy,
        symptoms=targets,
        fixes=(f"fixed in {cure.package} {cure.version}",),
        options=variant.options,
        contract=CONTRACT,
    )
    words = ["harness", "verify-fix", case_files.callable_as(case), "--fixed-in", given["cure"]]
    words += ["--clone", str(given["clone"])] if given["clone"] else []
    words += ["--from", given["first"]] if given["first"] else []
    words += rerun.settings_of(given)
    return RunHeader(
        question=question,
        case=case,
        timeline=Timeline(releases=releases),
        policy=Policy(symptoms=targets),
        setting=setting(companions),
        reproduce=shlex.join(words),
    )


def _compose(
    header: RunHeader, case: Case, before: Release, cure: Release, journal: FileJournal, targets: tuple[Symptom, ...]
) -> FixReport:
    entries = assemble.group(journal.entries())
    graded = _grade(case, header.question.variant, before, cure, entries, targets)
    name = f"{cure.package} {cure.version}"
    told = f"{name} is {graded.grade.value} against {before.version}: {graded.reason}."
    return FixReport(
        title=case.title,
        question=header.question,
        environment=header.setting,
        targets=targets,
        fixes=(FixResult(name=f"fixed in {name}", sentence=told, releases=(graded,)),),
        exit_code=int(exit_code([graded.grade])),
        timing=assemble.timing(header, journal.entries()),
        locks=assemble.locks(journal.entries()),
        reproduce=header.reproduce,
    )


def _grade(
    case: Case,
    variant: Variant,
    before: Release,
    cure: Release,
    entries: dict[str, list[Entry]],
    targets: tuple[Symptom, ...],
) -> Graded:
    old, new = entries.get(before.version, []), entries.get(cure.version, [])
    reference = assemble.reference_for(variant)
    references, new_references = assemble.repeats(old, reference), assemble.repeats(new, reference)
    patched = assemble.repeats(new, variant)
    pairs = [
        verification.Pair(
            reference=references.get(repeat),
            without=without,
            patched=patched[repeat],
            patched_reference=new_references.get(repeat),
        )
        for repeat, without in assemble.repeats(old, variant).items()
        if repeat in patched
    ]
    if not pairs:
        blocked = next((e.untestable for e in (*new, *old) if e.untestable), "not run")
        return Graded(version=cure.version, grade=Grade.INCONCLUSIVE, reason=blocked)
    return verification.grade_pairs(case, cure.version, pairs, targets)
