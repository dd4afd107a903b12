"""The one place where trials are started: several attempts at once on any executor, and nothing finished is lost."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

from harness.domain.cases.case import Case
from harness.domain.errors import EnvironmentChanged, HarnessError, InfrastructureError, Interrupted, UsageError
from harness.domain.releases.release import Release
from harness.domain.trials.entry import Entry
from harness.domain.trials.trial import Environment, FinishedTrial, Trial
from harness.domain.trials.variant import Variant
from harness.jobs.events import Event, EventKind, Listener
from harness.jobs.protocols import Environments, Journal, RunJournal, Trials

MOST_CHANGES = 6  # attempts in an environment that others change; each of its trials does that twice at most

P = TypeVar("P")
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One piece of work: a release is tried in some variants, once or several times.

    Attributes:
        case: The repro.
        release: Where it is tried.
        variants: The trials that share one process tree, references included.
        repeats: Numbers of the repeats, in the order in which they run.
        why: Why it is tried, for the user.
    """

    case: Case
    release: Release
    variants: tuple[Variant, ...]
    repeats: tuple[int, ...] = (0,)
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Runner:
    """Runs attempts.

    Attributes:
        pool: Where they run; the jobs know nothing else of it.
        room: How many run at once.
        environments: Builds the environment of a release.
        trials: Runs trials in it.
        listener: Hears what begins.
    """

    pool: Executor
    room: int = 1
    environments: Environments
    trials: Trials
    listener: Listener

    def run(self, attempt: Attempt) -> list[Entry]:
        """Run one attempt and wait for it; raises `InfrastructureError`."""
        return self.pool.submit(self.attempt, attempt).result()

    def attempt(self, attempt: Attempt) -> list[Entry]:
        """Try a release as often as the attempt says; one that cannot be tested gives one entry with the reason.

        Raises:
            InfrastructureError: something failed that says nothing about the release.
        """
        entries: list[Entry] = []
        for repeat in attempt.repeats:
            entries += self._once(attempt, repeat)
            if entries[-1].untestable is not None:
                break
        return entries

    def _once(self, attempt: Attempt, repeat: int) -> list[Entry]:
        try:
            return self._unchanged(attempt, repeat)
        except (UsageError, InfrastructureError, Interrupted):
            raise
        except HarnessError as reason:  # a surprise in one environment ends no search
            return [Entry(release=attempt.release.version, untestable=reason.what)]

    def _unchanged(self, attempt: Attempt, repeat: int) -> list[Entry]:
        """Try a release in an environment that nothing changes; one that another trial has changed is built anew."""

        def note(change: EnvironmentChanged) -> None:
            detail = f"{change.what}: once more, in an environment that is built anew"
            self.listener.notify(Event(kind=EventKind.NOTE, release=attempt.release.version, detail=detail))

        return unchanged(lambda: self._tried(attempt, repeat), note)

    def _tried(self, attempt: Attempt, repeat: int) -> list[Entry]:
        version = attempt.release.version
        self.listener.notify(Event(kind=EventKind.BUILD, release=version, detail=attempt.why))
        environment = self.environments.prepare(attempt.release)
        self.listener.notify(Event(kind=EventKind.RUN, release=version, detail=attempt.why))
        started = time.monotonic()
        trials = [Trial(release=version, variant=variant, repeat=repeat) for variant in attempt.variants]
        finished = self.trials.run(environment, attempt.case, trials)
        seconds = _spent(environment, finished, time.monotonic() - started)
        return [
            Entry(release=version, environment=environment, finished=one, seconds={} if n else seconds)
            for n, one in enumerate(finished)
        ]


def unchanged(work: Callable[[], T], notify: Callable[[EnvironmentChanged], object]) -> T:
    """Prepare an environment and run trials in it, again when another trial has changed it meanwhile.

    Args:
        work: Does both, so that a changed environment is built anew.
        notify: Called with each change that is followed by another attempt.

    Raises:
        EnvironmentChanged: its own trial changes the environment.
        InfrastructureError: something else changes it, again and again.
    """
    for _ in range(MOST_CHANGES):
        try:
            return work()
        except EnvironmentChanged as change:
            if change.own:
                raise
            notify(change)
    raise InfrastructureError(
        "something changes the environments while they are used",
        hint="let no other program write below HARNESS_HOME",
    )


@dataclass(frozen=True, kw_only=True)
class Work(Generic[P]):
    """What a job has to do, piece by piece.

    Attributes:
        choose: Given the pieces that are running and the room beside them, returns what to start.
        attempt: The attempt that a piece stands for.
        check: Looks at the entries of a piece before they are recorded; may raise, then they are not.
        done: Called after the entries of a piece are recorded.
    """

    choose: Callable[[Sequence[P], int], Sequence[P]]
    attempt: Callable[[P], Attempt]
    check: Callable[[Sequence[Entry]], object] | None = None
    done: Callable[[P], None] | None = None


def drive(work: Work[P], runner: Runner, journal: Journal) -> None:
    """Work until `choose` has nothing more to give and nothing is running.

    The journal gets the entries of a piece as soon as they are there, also of pieces that end while a failure or an
    interruption unwinds.
    """
    running: dict[Future[list[Entry]], P] = {}
    try:
        while True:
            room = runner.room - len(running)
            chosen = work.choose(list(running.values()), room) if room else []
            running.update({runner.pool.submit(runner.attempt, work.attempt(piece)): piece for piece in chosen})
            if not running:
                return
            ended, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in ended:
                _record(future.result(), work, journal)
                piece = running.pop(future)
                if work.done is not None:
                    work.done(piece)
    finally:
        for future in running:
            future.cancel()
        wait(running)
        for future in running:
            if not future.cancelled() and future.exception() is None:
                with suppress(HarnessError):  # what fails its check is not recorded, and what unwinds goes first
                    _record(future.result(), work, journal)


def _record(entries: Sequence[Entry], work: Work[P], journal: Journal) -> None:
    if work.check is not None:
        work.check(entries)
    for entry in entries:
        journal.record(entry)


@contextmanager
def resumable(journal: RunJournal, command: str) -> Iterator[None]:
    """Say how to go on when the block is interrupted, or when what surrounds it fails.

    Args:
        journal: Holds what is finished.
        command: The command that asks the same again, without ``--resume``.

    Raises:
        Interrupted: the user stopped it.
        InfrastructureError: as raised inside, with the command that resumes in its hint.
    """
    resume = f"{command} --resume {shlex.quote(str(journal.folder))}"
    try:
        yield
    except (KeyboardInterrupt, Interrupted):
        raise Interrupted(finished=len(journal.entries()), resume=resume) from None
    except InfrastructureError as error:
        error.hint = f"{error.hint or 'mend it'}; then resume with: {resume}"
        raise


def _spent(environment: Environment, finished: Sequence[FinishedTrial], elapsed: float) -> dict[str, float]:
    """Seconds by phase; what an attempt needs beside its trials is the import of the framework."""
    trials = sum(one.seconds for one in finished)
    return {**environment.seconds, "import": max(0.0, elapsed - trials), "trials": trials}
