"""``verify-fix --fixed-in``: another release, a nightly or a commit is the fix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from packaging.requirements import Requirement

from harness.domain.cases import parameters
from harness.domain.cases.case import Case
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import UsageError
from harness.domain.findings import assemble
from harness.domain.findings.run import RunHeader
from harness.domain.fixes.grades import FixReport, FixResult, Grade, Graded, exit_code
from harness.domain.fixes.pairs import grade_pairs, paired
from harness.domain.releases.channels import is_commit
from harness.domain.releases.companions import Companions
from harness.domain.releases.nightlies import nightly_package
from harness.domain.releases.release import Channel, Order, Release, Timeline, sort, stable_timeline
from harness.domain.search.policy import Policy
from harness.domain.trials.entry import Entry
from harness.jobs import rerun
from harness.jobs.events import Listener
from harness.jobs.executor import Attempt, Runner, Work, drive, resumable
from harness.jobs.preparation import Plan, companions_for, find_release, open_run, page_of, warn, with_reference
from harness.jobs.protocols import Journal, Services
from harness.jobs.requests import VerifyRequest


def verify_release(
    services: Services, case: Case, targets: tuple[Symptom, ...], request: VerifyRequest, listener: Listener
) -> tuple[FixReport, Path]:
    """Find the last release before the fixed one that shows the symptom, then try the fixed one."""
    page = page_of(services, case.package, listener)
    cure = _fixed_release(services, case, request, listener)
    stable = stable_timeline(
        page.releases, first=request.first or case.since or None, last="latest", order=Order.VERSION
    )
    earlier = tuple(r for r in stable.releases if cure.channel is not Channel.STABLE or r.parsed < cure.parsed)
    if not earlier:
        raise UsageError(
            f"there is no release before {cure.version} in the range", where="--from", hint="begin earlier"
        )
    companions = companions_for(services, [case], Timeline(releases=earlier), request, listener)
    plan = Plan(
        case=case,
        timeline=Timeline(releases=(*earlier, cure)),
        companions=companions,
        policy=Policy(symptoms=targets),
        settings=parameters.parse(case, request.settings),
        fixes=(f"fixed in {cure.package} {cure.version}",),
        ends=(earlier[0].version, cure.version),
    )
    header = plan.header(services, rerun.of_fixed_in(services.cases.callable_as(case), request, plan.question))
    beside_cure = _companions_of_cure(services, case, cure, companions, request)
    with open_run(services, header, request, "verify") as journal, resumable(journal, header.reproduce):
        pool = services.pool(1)
        trials = services.trials(fresh=request.fresh)

        def runner(chosen: Companions) -> Runner:
            environments = services.environments(chosen, listener)
            return Runner(pool=pool, environments=environments, trials=trials, listener=listener)

        with pool:
            before = _last_broken(header, earlier, runner(companions), journal)
            _try(replace(header, case=replace(case, package=cure.package)), [cure], runner(beside_cure), journal)
        report = compose(header, before, cure, journal.entries())
        services.reports.fixes(report, journal.folder)
        warn(listener, journal.restored())
    return report, journal.folder


def _fixed_release(services: Services, case: Case, request: VerifyRequest, listener: Listener) -> Release:
    """The release that is said to be fixed."""
    wanted = request.fixed_in or ""
    if wanted == "nightly":
        page = page_of(services, nightly_package(case.package), listener)
        usable = sort((r for r in page.releases if r.yanked is None), Order.VERSION)
        if not usable:
            raise UsageError(
                f"there is no nightly of {case.package} that is not yanked",
                where="--fixed-in nightly",
                hint="name a release, or a commit with --clone",
            )
        return usable[-1]
    if is_commit(wanted) and request.clone is not None:
        return services.clone(request.clone, case.package).commit(wanted)
    return find_release(services, case.package, wanted, listener, where="--fixed-in")


def _companions_of_cure(
    services: Services, case: Case, cure: Release, held: Companions, request: VerifyRequest
) -> Companions:
    """The same companions for a release of another channel: those asked for are pinned as they are."""
    if cure.channel is Channel.STABLE:
        return held
    names = {Requirement(text).name for text in held.wanted.requirements}
    pins = [pin for pin in held.pinned if Requirement(pin).name in names]
    moved = replace(case, package=cure.package)
    return services.companions([moved], Timeline(releases=(cure,)), pins, request.mode, held.interpreter.path)


def _last_broken(header: RunHeader, earlier: Sequence[Release], runner: Runner, journal: Journal) -> Release:
    """Walk back from the newest until a release shows the symptom; the newest if none does."""
    shown = _try(header, list(reversed(earlier)), runner, journal, until_shown=True)
    return shown if shown is not None else earlier[-1]


def _try(
    header: RunHeader,
    releases: Sequence[Release],
    runner: Runner,
    journal: Journal,
    *,
    until_shown: bool = False,
) -> Release | None:
    """Try releases one after the other, those that the journal holds not again; returns the first that shows it."""
    waiting, shown = list(releases), list[Release]()
    variant = header.question.variant
    variants = with_reference(header.case, variant)

    def recorded(release: Release) -> list[Entry]:
        return [entry for entry in journal.entries() if entry.release == release.version]

    def choose(running: Sequence[Release], room: int) -> list[Release]:
        del running, room
        while waiting and not (until_shown and shown):
            release = waiting.pop(0)
            if not assemble.complete(recorded(release), variants, header.case.repeats):
                return [release]
            _note_shown(release)
        return []

    def _note_shown(release: Release) -> None:
        if assemble.shows(header.case, recorded(release), variant, header.question.symptoms):
            shown.append(release)

    def attempt(release: Release) -> Attempt:
        repeats = tuple(range(header.case.repeats))
        return Attempt(case=header.case, release=release, variants=variants, repeats=repeats)

    drive(Work(choose=choose, attempt=attempt, done=_note_shown), runner, journal)
    return shown[0] if shown else None


def compose(header: RunHeader, before: Release, cure: Release, entries: Sequence[Entry]) -> FixReport:
    """Grade the fixed release against the broken one from the journal."""
    graded = _grade(header, before, cure, assemble.group(entries))
    name = f"{cure.package} {cure.version}"
    sentence = f"{name} is {graded.grade.value} against {before.version}: {graded.reason}."
    return FixReport(
        title=header.case.title,
        question=header.question,
        environment=header.setting,
        targets=header.question.symptoms,
        fixes=(FixResult(name=f"fixed in {name}", sentence=sentence, releases=(graded,)),),
        exit_code=int(exit_code([graded.grade])),
        timing=assemble.timing(header, entries),
        locks=assemble.locks(entries),
        reproduce=header.reproduce,
    )


def _grade(header: RunHeader, before: Release, cure: Release, entries: dict[str, list[Entry]]) -> Graded:
    old, new = entries.get(before.version, []), entries.get(cure.version, [])
    variant = header.question.variant
    reference = variant.reference
    pairs = paired(
        assemble.repeats(old, reference),
        assemble.repeats(old, variant),
        assemble.repeats(new, variant),
        assemble.repeats(new, reference),
    )
    if not pairs:
        return Graded(version=cure.version, grade=Grade.INCONCLUSIVE, reason=assemble.blocked(new, old))
    return grade_pairs(header.case, cure.version, pairs, header.question.symptoms)
