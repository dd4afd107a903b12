"""Keep several probes going at once, and lose nothing that is finished."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeVar

from harness.domain.cases.case import Case
from harness.domain.errors import Untestable
from harness.domain.releases.release import Release
from harness.domain.trials.entry import Entry
from harness.domain.trials.trial import Environment, FinishedTrial, Trial
from harness.domain.trials.variant import Variant
from harness.jobs.protocols import Environments, Event, Journal, Listener, Trials

P = TypeVar("P")


def drive(
    choose: Callable[[Sequence[P], int], Sequence[P]],
    work: Callable[[P], Sequence[Entry]],
    journal: Journal,
    done: Callable[[P], None],
    jobs: int,
) -> None:
    """Work until `choose` has nothing more to give and nothing is going.

    Args:
        choose: Given what is going and how much room there is, returns what to start.
        work: Does one piece in a thread and returns its entries.
        journal: Gets the entries as soon as they are there, also of pieces that end while a failure unwinds.
        done: Called after the entries of one piece are recorded.
        jobs: How many pieces go on at once.
    """
    going: dict[Future[Sequence[Entry]], P] = {}
    try:
        with ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="probe") as pool:
            while True:
                room = jobs - len(going)
                chosen = choose(list(going.values()), room) if room else []
                going.update({pool.submit(work, piece): piece for piece in chosen})
                if not going:
                    return
                ended, _ = wait(going, return_when=FIRST_COMPLETED)
                for future in ended:
                    record(future.result(), journal)
                    done(going.pop(future))
    finally:  # the pool has ended: what was still going when something failed is finished or failed by now
        for future in going:
            if future.done() and not future.cancelled() and future.exception() is None:
                record(future.result(), journal)


def record(entries: Sequence[Entry], journal: Journal) -> None:
    """Record entries one by one."""
    for entry in entries:
        journal.record(entry)


def attempt(
    case: Case,
    release: Release,
    variants: Sequence[Variant],
    environments: Environments,
    trials: Trials,
    listener: Listener,
    *,
    repeat: int = 0,
    why: str = "",
) -> list[Entry]:
    """Try one release once, in all variants; a release that cannot be tested gives one entry with the reason.

    Raises:
        InfrastructureError: something failed that says nothing about the release.
    """
    try:
        listener.notify(Event(kind="build", release=release.version, detail=why))
        environment = environments.prepare(release)
        listener.notify(Event(kind="run", release=release.version, detail=why))
        started = time.monotonic()
        asked = [Trial(release=release.version, variant=variant, repeat=repeat) for variant in variants]
        finished = trials.run(environment, case, asked)
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
