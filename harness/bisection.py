"""The main job: run what the search asks for, several at once, until it has nothing more to ask."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from harness import ledger
from harness.core.cases import Case, Level
from harness.core.errors import Untestable
from harness.core.observations import REFERENCE, Variant
from harness.core.releases import Release, Timeline
from harness.core.search import Policy, Probe, Row, next_probes
from harness.seams import Entry, Environment, Environments, Event, FinishedTrial, Journal, Listener, Trial, Trials


@dataclass(frozen=True, kw_only=True)
class Inquiry:
    """What one bisection works on.

    Attributes:
        case: The repro.
        timeline: Where it is tried.
        policy: How hard to search.
        variant: The trial that is judged; its reference runs beside it.
        jobs: How many releases are tried at once.
    """

    case: Case
    timeline: Timeline
    policy: Policy
    variant: Variant
    jobs: int = 1


def variants(case: Case, variant: Variant) -> tuple[Variant, ...]:
    """What is run for one verdict: a script speaks for itself, a model needs its reference."""
    return (variant,) if case.level is Level.SCRIPT or variant == REFERENCE else (REFERENCE, variant)


def bisect(
    inquiry: Inquiry, environments: Environments, trials: Trials, journal: Journal, listener: Listener
) -> list[Row]:
    """Search until every edge is found and confirmed or the budget is spent; the journal holds the rest.

    Raises:
        SurroundingsError: something failed that says nothing about a release; what is finished is recorded.
    """

    def look() -> list[Row]:
        return ledger.board(inquiry.case, inquiry.timeline, journal.entries(), inquiry.variant)

    def work(probe: Probe) -> list[Entry]:
        return run_probe(inquiry, inquiry.timeline.releases[probe.index], probe, environments, trials, listener)

    _drive(inquiry, look, work, journal, listener)
    return look()


def run_probe(
    inquiry: Inquiry, release: Release, probe: Probe, environments: Environments, trials: Trials, listener: Listener
) -> list[Entry]:
    """Try one release once; a release that cannot be tested gives one entry with the reason."""
    try:
        listener.notify(Event(kind="build", release=release.version, detail=probe.why.value))
        environment = environments.prepare(release)
        listener.notify(Event(kind="run", release=release.version, detail=probe.why.value))
        started = time.monotonic()
        asked = [
            Trial(release=release.version, variant=variant, repeat=probe.repeat)
            for variant in variants(inquiry.case, inquiry.variant)
        ]
        finished = trials.run(environment, inquiry.case, asked)
    except Untestable as reason:
        return [Entry(release=release.version, untestable=reason.what)]
    seconds = _spent(environment, finished, time.monotonic() - started)
    return [
        Entry(release=release.version, environment=environment, finished=one, seconds={} if n else seconds)
        for n, one in enumerate(finished)
    ]


def _spent(environment: Environment, finished: Sequence[FinishedTrial], elapsed: float) -> dict[str, float]:
    """Seconds by phase; what a probe needs beside its trials is the import of the framework."""
    trials = sum(one.seconds for one in finished)
    return {**environment.seconds, "import": max(0.0, elapsed - trials), "trials": trials}


def _drive(
    inquiry: Inquiry,
    look: Callable[[], list[Row]],
    work: Callable[[Probe], list[Entry]],
    journal: Journal,
    listener: Listener,
) -> None:
    """Keep up to `jobs` probes going; on a failure record what is finished and let it out."""
    going: dict[Future[list[Entry]], Probe] = {}
    try:
        with ThreadPoolExecutor(max_workers=inquiry.jobs, thread_name_prefix="probe") as pool:
            while True:
                pending = [probe.index for probe in going.values()]
                room = inquiry.jobs - len(going)
                chosen = next_probes(look(), inquiry.policy, wanted=room, pending=pending) if room else []
                going.update({pool.submit(work, probe): probe for probe in chosen})
                if not going:
                    return
                done, _ = wait(going, return_when=FIRST_COMPLETED)
                for future in done:
                    _record(future.result(), journal)
                    _announce(inquiry, going.pop(future), look(), listener)
    finally:  # the pool has ended: what was still going when something failed is finished or failed by now
        _save_finished(list(going), journal)


def _record(entries: Sequence[Entry], journal: Journal) -> None:
    for entry in entries:
        journal.record(entry)


def _save_finished(futures: Sequence[Future[list[Entry]]], journal: Journal) -> None:
    for future in futures:
        if future.done() and not future.cancelled() and future.exception() is None:
            _record(future.result(), journal)


def _announce(inquiry: Inquiry, probe: Probe, rows: Sequence[Row], listener: Listener) -> None:
    release = inquiry.timeline.releases[probe.index]
    left = sum(not row.tried for row in rows)
    known = rows[probe.index]
    verdicts = {s: v for run in known.runs for s, v in run.items()}
    outcome = ledger.overall(known, verdicts)
    symptoms = ", ".join(s.value for s, v in verdicts.items() if v.outcome.value == "bad")
    detail = known.blocked or symptoms
    listener.notify(
        Event(kind=outcome.value if outcome else "done", release=release.version, detail=detail, left=left)
    )
