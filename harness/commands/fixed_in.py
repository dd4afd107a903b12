"""``verify-fix --fixed-in``: another release, a nightly or a commit is the fix."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness import ledger, verification
from harness.bisection import variants
from harness.commands import command_lines, options, single
from harness.commands.run_folders import open_run
from harness.core.cases import Case
from harness.core.errors import UsageError
from harness.core.grades import FixReport, FixResult, Grade, Graded, exit_code
from harness.core.observations import CONTRACT
from harness.core.policies import Policy
from harness.core.questions import Question
from harness.core.releases import Channel, Order, Release, Timeline, sort, stable_timeline
from harness.core.runs import RunHeader
from harness.core.symptoms import Symptom
from harness.core.variants import Variant
from harness.edge import case_files
from harness.edge.companions import Companions, Mode
from harness.edge.journal import FileJournal
from harness.reporting import fix_report
from harness.seams import Entry, Trial
from harness.wiring import Workshop, setting

NIGHTLIES = {"keras": "keras-nightly", "tensorflow": "tf-nightly", "tensorflow-cpu": "tf-nightly"}


def answer(shop: Workshop, case: Case, targets: tuple[Symptom, ...], given: dict[str, Any]) -> tuple[FixReport, Path]:
    """Find the last release before the fixed one that shows the symptom, then try the fixed one."""
    page = shop.index.page(case.package)
    options.echo_stale(page)
    cure = _release(shop, case, given)
    stable = stable_timeline(
        page.releases, first=given["first"] or case.since or None, last="latest", order=Order.VERSION
    )
    earlier = [r for r in stable.releases if cure.channel is not Channel.STABLE or r.parsed < cure.parsed]
    if not earlier:
        raise UsageError(
            f"there is no release before {cure.version} in the range", where="--from", hint="begin earlier"
        )
    companions = shop.companions(
        [case],
        Timeline(releases=tuple(earlier)),
        options.check_pins(given["pins"]),
        Mode(given["mode"]),
        given["python"],
    )
    options.echo_seam(companions)
    header = _header(case, cure, earlier, companions, targets, given)
    folder, journal = open_run(header, given, "verify")
    before = _last_broken(shop, header, earlier, companions, journal, given)
    moved, beside = replace(case, package=cure.package), _companions_for(shop, case, cure, companions, given)
    cured = _try(shop, moved, cure, header.question.variant, beside, given)
    for entry in cured:
        journal.record(entry)
    report = _compose(header, case, before, cure, journal, targets)
    fix_report.write_all(report, folder)
    return report, folder


def is_commit(wanted: str) -> bool:
    """Whether the fix is a commit or pull request, which only a clone has."""
    return wanted.startswith(("commit:", "pr:")) or re.fullmatch(r"[0-9a-f]{7,40}", wanted) is not None


def _release(shop: Workshop, case: Case, given: dict[str, Any]) -> Release:
    """The release that is said to be fixed."""
    wanted = given["cure"]
    if wanted == "nightly":
        page = shop.index.page(NIGHTLIES.get(case.package, f"{case.package}-nightly"))
        options.echo_stale(page)
        return sort((r for r in page.releases if r.yanked is None), Order.VERSION)[-1]
    if is_commit(wanted):
        return shop.clone(given["clone"], case.package).commit(wanted)
    return single.find_release(shop, case.package, wanted, where="--fixed-in")


def _companions_for(shop: Workshop, case: Case, cure: Release, held: Companions, given: dict[str, Any]) -> Companions:
    """The same companions for a release of another channel: those asked for are pinned as they are held."""
    if cure.channel is Channel.STABLE:
        return held
    from packaging.requirements import Requirement

    names = {Requirement(text).name for text in held.wanted.requirements}
    pins = [pin for pin in setting(held).companions if Requirement(pin).name in names]
    moved = replace(case, package=cure.package)
    return shop.companions([moved], Timeline(releases=(cure,)), pins, Mode(given["mode"]), held.interpreter.path)


def _last_broken(
    shop: Workshop,
    header: RunHeader,
    earlier: Sequence[Release],
    companions: Companions,
    journal: FileJournal,
    given: dict[str, Any],
) -> Release:
    """Walk back from the newest until a release shows the symptom; the oldest if none does."""
    case, variant = header.case, header.question.variant
    for release in reversed(earlier):
        entries = _try(shop, case, release, variant, companions, given)
        for entry in entries:
            journal.record(entry)
        if verification.shows(case, entries, variant, header.question.symptoms):
            return release
    return earlier[-1]


def _try(
    shop: Workshop, case: Case, release: Release, variant: Variant, companions: Companions, given: dict[str, Any]
) -> list[Entry]:
    from harness.core.errors import Untestable

    asked = [
        Trial(release=release.version, variant=one, repeat=repeat)
        for repeat in range(case.repeats)
        for one in variants(case, variant)
    ]
    try:
        environment = shop.environments(companions).prepare(release)
        finished = shop.trials(fresh=given["fresh"]).run(environment, case, asked)
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
    words += command_lines.settings_of(given)
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
    entries = ledger.group(journal.entries())
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
        timing=ledger.timing(header, journal.entries()),
        locks=ledger.locks(journal.entries()),
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
    reference = ledger.reference_for(variant)
    references, new_references = ledger.repeats(old, reference), ledger.repeats(new, reference)
    patched = ledger.repeats(new, variant)
    pairs = [
        verification.Pair(
            reference=references.get(repeat),
            without=without,
            patched=patched[repeat],
            patched_reference=new_references.get(repeat),
        )
        for repeat, without in ledger.repeats(old, variant).items()
        if repeat in patched
    ]
    if not pairs:
        blocked = next((e.untestable for e in (*new, *old) if e.untestable), "not run")
        return Graded(version=cure.version, grade=Grade.INCONCLUSIVE, reason=blocked)
    return verification.grade_pairs(case, cure.version, pairs, targets)
