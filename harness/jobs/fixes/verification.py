"""Verify fixes over a range: for each release the reference, the trial without and the trial with each fix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.domain.cases import parameters
from harness.domain.cases.backends import Backend
from harness.domain.cases.case import Case, Level
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import UsageError
from harness.domain.findings import assemble
from harness.domain.findings.run import RunHeader
from harness.domain.fixes.advice import sentence, workarounds
from harness.domain.fixes.fix import Fix
from harness.domain.fixes.grades import FixReport, FixResult, Grade, Graded, exit_code
from harness.domain.fixes.pairs import grade_pairs, paired
from harness.domain.releases.release import Release, stable_before
from harness.domain.search.policy import Policy
from harness.domain.trials.entry import Entry
from harness.domain.trials.variant import Variant
from harness.domain.verdicts.verdict import Verdicts
from harness.jobs import rerun
from harness.jobs.events import Event, EventKind, Listener
from harness.jobs.executor import Attempt, Runner, Work, drive, resumable
from harness.jobs.fixes import fixed_in
from harness.jobs.preparation import (
    Plan,
    Stopwatch,
    check_place,
    companions_for,
    open_run,
    page_of,
    read_case,
    timeline_of,
    warn,
    with_changes,
)
from harness.jobs.protocols import Journal, Services
from harness.jobs.requests import VerifyRequest

CONTROL_LIMIT = 6
"""Releases before the range that are tried to find a healthy one."""


@dataclass(frozen=True, kw_only=True)
class Verification:
    """What one verification works on.

    Attributes:
        case: The repro.
        releases: Those asked for.
        variant: The trial without a fix.
        fixes: Names of the fixes; each is tried alone.
        targets: Symptoms to be cured; empty: whatever a release shows.
    """

    case: Case
    releases: tuple[Release, ...]
    variant: Variant
    fixes: tuple[str, ...]
    targets: tuple[Symptom, ...] = ()

    @property
    def variants(self) -> tuple[Variant, ...]:
        """Reference, without, and with each fix."""
        patched = [replace(self.variant, fix=name) for name in self.fixes]
        return (self.variant.reference, self.variant, *patched)


def verify_fix(services: Services, request: VerifyRequest, listener: Listener) -> tuple[FixReport, Path]:
    """Verify fixes over a range of releases, or a release that is said to be the fix.

    Returns:
        The report, and the folder of the run.

    Raises:
        UsageError: the question cannot be asked in this way.
        InfrastructureError: machine, index or disk failed; what is finished is kept.
        Interrupted: the user stopped it; what is finished is kept.
    """
    case = with_changes(read_case(services, request.case, request), replicas=request.replicas, repeats=request.repeats)
    parameters.parse(case, request.settings)
    fixes = _fixes(services, request)
    if fixes and case.level is Level.SCRIPT:
        hint = "use --fixed-in RELEASE, or let the case define model() and data()"
        raise UsageError("a fix cannot be applied inside a script of its own", where=case.path, hint=hint)
    _check_backend(case, request)
    check_place(services, request)
    targets = request.symptoms or ((case.expects,) if case.expects else ())
    if request.fixed_in:
        return fixed_in.verify_release(services, case, targets, request, listener)
    return _verify_range(services, case, fixes, targets, request, listener)


def _check_backend(case: Case, request: VerifyRequest) -> None:
    """The fixes that are known by name patch what Keras does with TensorFlow."""
    named = [name for name in request.fixes if not name.endswith(".py")]
    if (named or request.sweep_mapping) and case.keras_backend not in (None, Backend.TENSORFLOW):
        hint = "give a file with apply() that patches the backend under test, or --fixed-in RELEASE"
        where = f"--fix {named[0]}" if named else "--sweep-mapping"
        raise UsageError("this fix patches what Keras does with TensorFlow", where=where, hint=hint)


def _fixes(services: Services, request: VerifyRequest) -> list[Fix]:
    fixes = [services.fix(name) for name in request.fixes]
    fixes += [services.patch(request.patch)] if request.patch else []
    fixes += services.mapping_sweep() if request.sweep_mapping else []
    if len({fix.name for fix in fixes}) != len(fixes):
        raise UsageError("two fixes have the same name", where="--fix", hint="rename one of the files")
    return fixes


def _verify_range(
    services: Services,
    case: Case,
    fixes: Sequence[Fix],
    targets: tuple[Symptom, ...],
    request: VerifyRequest,
    listener: Listener,
) -> tuple[FixReport, Path]:
    """Try every release of the range without and with each fix, and grade what came of it."""
    watch = Stopwatch()
    page = page_of(services, case.package, listener)
    timeline = timeline_of(page, case, request)
    index_seconds = watch.seconds
    plan = Plan(
        case=case,
        timeline=timeline,
        companions=companions_for(services, [case], timeline, request, listener),
        policy=Policy(symptoms=targets),
        settings=parameters.parse(case, request.settings),
        fixes=tuple(f"{fix.name}@{fix.digest}" for fix in fixes),
        index_seconds=index_seconds,
    )
    command = rerun.of_verify_fix(services.cases.callable_as(case), request, plan.question)
    header = plan.header(services, command)
    wanted = Verification(
        case=case,
        releases=timeline.releases,
        variant=plan.question.variant,
        fixes=tuple(fix.name for fix in fixes),
        targets=targets,
    )
    with open_run(services, header, request, "verify") as journal, resumable(journal, command):
        runner = Runner(
            pool=services.pool(request.jobs),
            room=request.jobs,
            environments=services.environments(plan.companions, listener),
            trials=services.trials(fresh=request.fresh, jobs=request.jobs, fixes=fixes),
            listener=listener,
        )
        with runner.pool:
            control = _with_control(wanted, page.releases, runner, journal)
        report = compose(header, wanted, journal.entries(), control)
        services.reports.fixes(report, journal.folder)
        warn(listener, journal.restored())
    return report, journal.folder


def _with_control(
    wanted: Verification, published: Sequence[Release], runner: Runner, journal: Journal
) -> Release | None:
    """Verify the range, then look before it for a healthy release when it holds none; returns that control."""
    run_verification(wanted, runner, journal)
    if not _all_show(wanted, journal):
        return None
    for earlier in stable_before(published, wanted.releases[0])[:CONTROL_LIMIT]:
        one = replace(wanted, releases=(earlier,))
        run_verification(one, runner, journal)
        if not _all_show(one, journal):
            return earlier
    return None


def run_verification(wanted: Verification, runner: Runner, journal: Journal) -> None:
    """Try every release that the journal does not hold yet; what is found stands in the journal."""
    recorded = assemble.group(journal.entries())
    waiting = [
        release
        for release in wanted.releases
        if not assemble.complete(recorded.get(release.version, []), wanted.variants, wanted.case.repeats)
    ]

    def choose(running: Sequence[Release], room: int) -> list[Release]:
        del running
        return [waiting.pop(0) for _ in range(min(room, len(waiting)))]

    def attempt(release: Release) -> Attempt:
        return Attempt(
            case=wanted.case,
            release=release,
            variants=wanted.variants,
            repeats=tuple(range(wanted.case.repeats)),
        )

    def done(release: Release) -> None:
        entries = assemble.group(journal.entries())
        graded = [grade_release(wanted, release, entries.get(release.version, []), name) for name in wanted.fixes]
        words = ", ".join(f"{name}: {one.grade.value}" for name, one in zip(wanted.fixes, graded, strict=True))
        runner.listener.notify(Event(kind=EventKind.DONE, release=release.version, detail=words, left=len(waiting)))

    runner.listener.notify(Event(kind=EventKind.BEGIN, left=len(wanted.releases)))
    try:
        drive(Work(choose=choose, attempt=attempt, done=done), runner, journal)
    finally:
        runner.listener.notify(Event(kind=EventKind.END))


def grade_release(wanted: Verification, release: Release, entries: Sequence[Entry], fix: str) -> Graded:
    """Grade one fix on one release from what the journal holds of it."""
    pairs = paired(
        assemble.repeats(entries, wanted.variant.reference),
        assemble.repeats(entries, wanted.variant),
        assemble.repeats(entries, replace(wanted.variant, fix=fix)),
    )
    if not pairs:
        return Graded(version=release.version, grade=Grade.INCONCLUSIVE, reason=assemble.blocked(entries))
    return grade_pairs(wanted.case, release.version, pairs, wanted.targets)


def _all_show(wanted: Verification, journal: Journal) -> bool:
    entries = assemble.group(journal.entries())
    return all(
        assemble.shows(wanted.case, entries.get(r.version, []), wanted.variant, wanted.targets) for r in wanted.releases
    )


def compose(header: RunHeader, wanted: Verification, entries: Sequence[Entry], control: Release | None) -> FixReport:
    """Grade every fix on every release from the journal."""
    by_release = assemble.group(entries)
    releases = [*([control] if control else []), *wanted.releases]
    results = []
    for name in wanted.fixes:
        graded = tuple(grade_release(wanted, r, by_release.get(r.version, []), name) for r in releases)
        results.append(FixResult(name=name, sentence=sentence(name, graded), releases=graded))
    verdicts = [(r.version, _verdicts(wanted, by_release.get(r.version, []))) for r in releases]
    return FixReport(
        title=header.case.title,
        question=header.question,
        environment=header.setting,
        targets=wanted.targets,
        fixes=tuple(results),
        workarounds=tuple(workarounds(header.case.package, verdicts, wanted.targets)),
        control=control.version if control else "",
        exit_code=int(exit_code([g.grade for result in results for g in result.releases])),
        timing=assemble.timing(header, entries),
        locks=assemble.locks(entries),
        reproduce=header.reproduce,
    )


def _verdicts(wanted: Verification, entries: Sequence[Entry]) -> Verdicts:
    state = assemble.row(wanted.case, entries, wanted.variant)
    return {s: v for s in Symptom if (v := state.verdict(s)) is not None}
