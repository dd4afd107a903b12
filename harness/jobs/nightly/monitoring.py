"""The monitor: look at the newest nightly and at a control, confirm what changed, bring it down to one night.

A night is a record of facts. Whatever fails around it becomes part of the record and never a verdict; the words,
the standings and the alerts are folds over the records (`harness.domain.nightly.alerts`).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from harness.domain.cases.case import Case
from harness.domain.errors import HarnessError, Interrupted, Untestable
from harness.domain.nightly.alerts import NightlyHistory, after, nightly_history
from harness.domain.nightly.case_status import CaseStatus, JudgedSymptom, judge_case
from harness.domain.nightly.expectations import Expectations
from harness.domain.nightly.nights import CHANGES, CaseNight, CaseResult, FixStatus, Narrowed, NightRecord, Status
from harness.domain.releases.nightlies import day_of, existing, newest, nightly_timeline, nights_between
from harness.domain.releases.release import Channel, Release, Timeline
from harness.jobs.events import Event, EventKind, Listener
from harness.jobs.nightly.protocols import CaseRunner, FixChecker, Narrower, NightlyJournal
from harness.jobs.protocols import ReleaseIndex


@dataclass(frozen=True, kw_only=True)
class NightlyPlan:
    """What is looked at every night.

    Attributes:
        package: Distribution of the nightlies.
        control_package: Distribution whose newest release is the control in the same slot.
        cases: All cases.
        expectations: What is known and recorded.
        confirmations: Agreeing runs that a change needs to be believed.
        stale_after: Age of the newest build, in days, beyond which the index itself is an alert.
        simulated: Whether the nights are replayed.
        notes: What is said of every night, for example how it was replayed.
    """

    package: str
    control_package: str
    cases: tuple[Case, ...]
    expectations: Expectations
    confirmations: int = 3
    stale_after: int = 3
    simulated: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class NightlyServices:
    """What one night needs of the world."""

    index: ReleaseIndex
    runner: CaseRunner
    narrower: Narrower
    fixes: FixChecker
    listener: Listener


def monitor(
    plan: NightlyPlan, moments: Iterable[datetime], tools: NightlyServices, book: NightlyJournal
) -> Iterator[NightRecord]:
    """Work through nights in order; each is on the disk before the next begins.

    A night that was killed half-way has no record: the next one goes on from the last whole one. A night that is
    repeated on the same day replaces the earlier one.
    """
    so_far: NightlyHistory | None = None
    for moment in moments:
        day = moment.date().isoformat()
        if so_far is None:
            so_far = nightly_history(record for record in book.records() if record.night < day)
        book.begin(day, moment)
        record = night(plan, moment, tools, so_far)
        book.end(record)
        so_far = after(so_far, record)
        yield record


def night(plan: NightlyPlan, moment: datetime, tools: NightlyServices, so_far: NightlyHistory) -> NightRecord:
    """Look at all cases once, confirm and narrow what changed; never raises for a fault of the surroundings."""
    started = time.monotonic()
    record = NightRecord(
        night=moment.date().isoformat(),
        moment=moment,
        package=plan.package,
        stale_after=plan.stale_after,
        confirmations=plan.confirmations,
        simulated=plan.simulated,
        notes=(*plan.notes, *_notes(plan, moment)),
    )
    try:
        builds = existing(tools.index.releases(plan.package), moment)
        stable = existing(tools.index.releases(plan.control_package), moment)
        nightly, control = _chosen(plan, builds, stable)
    except Interrupted:
        raise
    except HarnessError as failure:
        return replace(record, fault=failure.what, seconds=time.monotonic() - started)
    age = (moment.date() - (day_of(nightly) or moment.date())).days
    record = replace(record, nightly=nightly.version, control=control.version, stale_days=max(0, age))
    for number, case in enumerate(plan.cases):
        tools.listener.notify(Event(kind=EventKind.CASE, release=case.name, left=len(plan.cases) - number))
        record = replace(record, cases=(*record.cases, _look_at(case, nightly, control, record, plan, tools, so_far)))
    narrowed = tuple(_narrowed(record, builds, control, plan, tools, so_far))
    watched = tuple(_watched(nightly, plan, tools))
    return replace(record, narrowed=narrowed, watched=watched, seconds=time.monotonic() - started)


def _chosen(plan: NightlyPlan, builds: Sequence[Release], stable: Sequence[Release]) -> tuple[Release, Release]:
    nightly, control = newest(builds, Channel.NIGHTLY), newest(stable, Channel.STABLE)
    if nightly is None or control is None:
        missing = plan.package if nightly is None else plan.control_package
        raise Untestable(f"the index has no release of {missing} with a date up to this night")
    return nightly, control


def _notes(plan: NightlyPlan, moment: datetime) -> list[str]:
    known = {case.name for case in plan.cases}
    notes = [
        f"the expectation of {e.symptom.value} for {e.case} expired on {e.expires}: renew it with a reason or remove it"
        for e in plan.expectations.expired(moment.date())
    ]
    unknown = plan.expectations.unknown_cases(known)
    return notes + [f"expectations.toml names the case {name}, which was not run" for name in unknown]


def _look_at(
    case: Case,
    nightly: Release,
    control: Release,
    record: NightRecord,
    plan: NightlyPlan,
    tools: NightlyServices,
    so_far: NightlyHistory,
) -> CaseNight:
    """One slot: the control and the nightly side by side, and fresh runs of both where something changed."""
    excused = {
        release.version: {
            symptom: found.reason
            for symptom in dict.fromkeys(e.symptom for e in plan.expectations.expected if e.case == case.name)
            if (found := plan.expectations.find(case.name, symptom, release.version, record.moment.date()))
        }
        for release in (nightly, control)
    }
    seen = CaseNight(
        case=case.name,
        nightly=(_look(case, nightly, 0, tools),),  # first: the control takes over its companions
        control=(_look(case, control, 0, tools),),
        expected=excused[nightly.version],
        control_expected=excused[control.version],
    )
    while len(seen.nightly) < record.confirmations and _in_doubt(judge_case(record, seen, so_far.statuses)):
        fresh = _look(case, nightly, len(seen.nightly), tools)
        seen = replace(seen, nightly=(*seen.nightly, fresh))
        if fresh.fault or fresh.blocked:
            break
    if len(seen.nightly) > 1:
        seen = replace(seen, control=(*seen.control, _look(case, control, 1, tools)))
    return seen


def _look(case: Case, release: Release, repeat: int, tools: NightlyServices) -> CaseResult:
    """One look; what stops it becomes part of it."""
    try:
        return tools.runner.look(case, release, repeat)
    except Untestable as reason:
        return CaseResult(blocked=reason.what)
    except Interrupted:
        raise
    except HarnessError as failure:
        return CaseResult(fault=failure.what)


def _in_doubt(judged: Sequence[JudgedSymptom]) -> bool:
    """Whether another run can settle something: a change that is not confirmed yet, or runs that disagree."""
    return any(j.status is Status.FLAKY or (j.status is Status.SUSPICIOUS and j.control_healthy) for j in judged)


def _narrowed(
    record: NightRecord,
    builds: Sequence[Release],
    control: Release,
    plan: NightlyPlan,
    tools: NightlyServices,
    so_far: NightlyHistory,
) -> Iterator[Narrowed]:
    """Bring every believed change down to two neighbouring nightlies."""
    cases = {case.name: case for case in plan.cases}
    for seen in record.cases:
        for one in judge_case(record, seen, so_far.statuses):
            status_before = so_far.statuses.get((one.case, one.symptom), CaseStatus())
            if one.status in CHANGES and one.outcome is not None and status_before.last is not one.outcome:
                tools.listener.notify(Event(kind=EventKind.NARROW, release=one.case, detail=one.symptom.value))
                yield _narrow(cases[one.case], one, record, status_before, builds, control, tools)


def _narrow(
    case: Case,
    one: JudgedSymptom,
    record: NightRecord,
    status_before: CaseStatus,
    builds: Sequence[Release],
    control: Release,
    tools: NightlyServices,
) -> Narrowed:
    turns_bad = one.status is not Status.FIXED
    known = Narrowed(case=case.name, symptom=one.symptom, turns_bad=turns_bad, first_after=record.nightly)
    try:
        timeline = _between(record, status_before, builds, control)
        if len(timeline.releases) == 2 and status_before.version:
            sentence = "each was run on its own night, and no build lies between them"
            return replace(known, last_before=status_before.version, confirmed=True, sentence=sentence)
        return tools.narrower.narrow(case, one.symptom, timeline, turns_bad=turns_bad)
    except Interrupted:
        raise
    except HarnessError as failure:
        return replace(known, last_before=status_before.version, sentence=f"not narrowed further: {failure.what}")


def _between(record: NightRecord, status_before: CaseStatus, builds: Sequence[Release], control: Release) -> Timeline:
    """From the last night that was believed, else from the day of the control, to tonight."""
    if status_before.version and any(build.version == status_before.version for build in builds):
        return nightly_timeline(builds, first=status_before.version, last=record.nightly)
    since = datetime.fromisoformat(status_before.night).date() if status_before.night else None
    start = since or (control.released or record.moment).date()
    return nights_between(builds, start, record.moment.date())


def _watched(nightly: Release, plan: NightlyPlan, tools: NightlyServices) -> Iterator[FixStatus]:
    """Is the fix in yet?"""
    cases = {case.name: case for case in plan.cases}
    for watch in plan.expectations.watches:
        if watch.case not in cases:
            continue
        try:
            yield tools.fixes.check(watch, cases[watch.case], nightly)
        except Interrupted:
            raise
        except HarnessError as failure:
            yield FixStatus(
                case=watch.case,
                symptom=watch.symptom,
                broken=watch.broken,
                answer="cannot be told",
                reason=failure.what,
                link=watch.link,
            )
