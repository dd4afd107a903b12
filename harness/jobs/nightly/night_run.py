"""Run tonight, or replay nights of the past: which cases, which releases, and the tools of the monitor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta, timezone

from harness.domain.cases.backends import Backend
from harness.domain.cases.case import Case
from harness.domain.errors import UsageError
from harness.domain.nightly.expectations import Expectations
from harness.domain.nightly.nights import NightRecord
from harness.domain.releases.nightlies import existing, nights_between, parse_day
from harness.domain.releases.release import Release, Timeline, usable_stable
from harness.jobs.events import Listener
from harness.jobs.nightly import replay
from harness.jobs.nightly.case_runs import CertainIndex, ReleaseFixChecker, SearchNarrower, SlotRunner
from harness.jobs.nightly.monitoring import NightlyPlan, NightlyServices, monitor
from harness.jobs.nightly.protocols import NightlyJournal
from harness.jobs.preparation import as_asked
from harness.jobs.protocols import Services
from harness.jobs.requests import NightlyRequest

REPLAY_HOUR = time(6, tzinfo=timezone.utc)
"""When a replayed night looks at the index: builds are uploaded at about four."""


def run_nights(
    services: Services, request: NightlyRequest, journal: NightlyJournal, listener: Listener
) -> Iterator[NightRecord]:
    """Run tonight, or the nights of a replay that the journal does not hold; each is recorded before the next begins.

    Raises:
        UsageError: no case is left to run, or the days of a replay are wrong.
    """
    other = request.backend not in (None, Backend.TENSORFLOW) and request.expectations is None
    expectations = Expectations() if other else services.cases.expectations(request.expectations)
    chosen, left_out = _cases(services, request)
    plan = NightlyPlan(
        package=request.package,
        control_package=services.framework_package() if request.package.startswith("tf-") else "keras",
        cases=chosen,
        expectations=expectations,
        confirmations=request.confirmations,
        stale_after=request.stale_after,
        simulated=request.simulated,
        notes=left_out,
    )
    if request.simulated:
        yield from _replay(services, plan, request, journal, listener)
    else:
        yield from _tonight(services, plan, request, journal, listener)


def _cases(services: Services, request: NightlyRequest) -> tuple[tuple[Case, ...], tuple[str, ...]]:
    """The cases of Keras and of the backend; those of other packages have no nightly and are named."""
    everything = [as_asked(case, request) for case in services.cases.read_all(request.cases)]
    keras = [case for case in everything if case.package == "keras"]
    chosen = tuple(case for case in keras if not (request.backend and case.foreign_frameworks))
    left_out = [f"{case.name} is a case of {case.package} and was left out" for case in everything if case not in keras]
    left_out += [f"{case.name} imports another framework and was left out" for case in keras if case not in chosen]
    if not chosen:
        raise UsageError("no case is left to run", hint="name a case of keras")
    return chosen, tuple(left_out)


def _tonight(
    services: Services, plan: NightlyPlan, request: NightlyRequest, journal: NightlyJournal, listener: Listener
) -> Iterator[NightRecord]:
    moment = datetime.now(timezone.utc)
    with services.pool(1) as pool:
        runner = SlotRunner(services, plan.cases, request, pool, listener, fresh=True)
        tools = NightlyServices(
            index=CertainIndex(services.index),
            runner=runner,
            narrower=SearchNarrower(services, request, request.state / moment.date().isoformat(), listener),
            fixes=ReleaseFixChecker(runner, plan.control_package),
            listener=listener,
        )
        yield from monitor(plan, [moment], tools, journal)


def _replay(
    services: Services, plan: NightlyPlan, request: NightlyRequest, journal: NightlyJournal, listener: Listener
) -> Iterator[NightRecord]:
    """Search the whole stretch economically, then go through it night by night."""
    days = list(_days(request.since, request.until))
    first, last = (datetime.combine(day, REPLAY_HOUR) for day in (days[0], days[-1]))
    builds = existing(services.index.releases(plan.package), last)
    stable = existing(services.index.releases(plan.control_package), last)
    timeline = nights_between(builds, first.date() - timedelta(days=plan.stale_after), last.date())
    timelines = {plan.package: timeline, plan.control_package: _controls(stable, first)}
    with services.pool(1) as pool:
        runner = SlotRunner(services, plan.cases, request, pool, listener, fresh=False, timelines=timelines)
        searched = replay.search_all(services, plan.cases, timeline, request, listener)
        tools = NightlyServices(
            index=CertainIndex(services.index),
            runner=replay.ReplayRunner(runner, searched),
            narrower=SearchNarrower(services, request, request.state, listener),
            fixes=ReleaseFixChecker(runner, plan.control_package),
            listener=listener,
        )
        unwatched = replace(plan.expectations, watches=())  # fixes are waited for tonight, not in the past
        recorded = {record.night for record in journal.records()}
        moments = [datetime.combine(day, REPLAY_HOUR) for day in days if day.isoformat() not in recorded]
        yield from monitor(replace(plan, expectations=unwatched), moments, tools, journal)


def _controls(stable: Sequence[Release], first: datetime) -> Timeline:
    """Stable releases that were the newest on some night of the replay."""
    usable = usable_stable(stable)
    known = existing(usable, first)
    return Timeline(releases=(*known[-1:], *(r for r in usable if r not in known)))


def _days(since: str, until: str) -> Iterator[date]:
    first, last = parse_day(since, where="--since"), parse_day(until, where="--until")
    if first > last:
        raise UsageError(f"--since {since} comes after --until {until}", hint="swap the two")
    for number in range((last - first).days + 1):
        yield first + timedelta(days=number)
