"""The small Protocols between the three jobs and the world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from harness.core.cases import Case
from harness.core.expectations import Watch
from harness.core.nights import Look, Narrowed, NightRecord, Watched
from harness.core.observations import Observation
from harness.core.releases import Release, Timeline
from harness.core.symptoms import Symptom
from harness.core.variants import Variant


@dataclass(frozen=True, kw_only=True)
class Environment:
    """A sealed environment.

    Attributes:
        key: Hash of the resolved lock, the interpreter and the platform.
        executable: Its interpreter.
        python: Version of the interpreter.
        lock: The resolved requirements with hashes, one per line, that it does not share with the whole run.
        seconds: What preparing it cost, by phase (``resolve``, ``build``).
        reused: Whether it was there already.
    """

    key: str
    executable: str
    python: str
    lock: tuple[str, ...]
    seconds: Mapping[str, float] = field(default_factory=dict)
    reused: bool = False


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What identifies one trial within a run."""

    release: str
    variant: Variant
    repeat: int = 0


@dataclass(frozen=True, kw_only=True)
class FinishedTrial:
    """One finished trial with its facts."""

    trial: Trial
    observation: Observation
    seconds: float
    cached: bool = False


class Environments(Protocol):
    """Builds the environment of one release, or says why it cannot."""

    def prepare(self, release: Release) -> Environment:
        """Return the sealed environment; raises `Untestable` or `SurroundingsError`."""
        ...


class Trials(Protocol):
    """Runs trials in an environment."""

    def run(self, environment: Environment, case: Case, trials: Sequence[Trial]) -> Sequence[FinishedTrial]:
        """Run the trials in one process tree; raises `Untestable` or `SurroundingsError`."""
        ...


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One line of the journal: a finished trial, or a release that cannot be tested.

    Attributes:
        release: Version.
        environment: Where the trial ran.
        finished: The trial.
        untestable: Why the release says nothing.
        seconds: What it cost, by phase; on the first entry of each probe only.
    """

    release: str
    environment: Environment | None = None
    finished: FinishedTrial | None = None
    untestable: str | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)


class Journal(Protocol):
    """Append-only record of a run; an entry that `record` returned from is on the disk."""

    def record(self, entry: Entry) -> None:
        """Write one entry durably."""
        ...

    def entries(self) -> Sequence[Entry]:
        """All entries so far, in order."""
        ...


@dataclass(frozen=True, kw_only=True)
class Event:
    """Something a user wants to see while it happens.

    Attributes:
        kind: ``build`` or ``run`` when that begins, ``note`` for what delays it, else the outcome.
        release: Version.
        detail: One line.
        left: Releases that are not tried yet.
    """

    kind: str
    release: str
    detail: str = ""
    left: int | None = None


class Listener(Protocol):
    """Shows what is going on."""

    def notify(self, event: Event) -> None:
        """Take note of one event; must not raise and must not block."""
        ...


class ReleaseIndex(Protocol):
    """Says what is published."""

    def releases(self, package: str) -> Sequence[Release]:
        """All releases of a package; raises `SurroundingsError` when the index does not answer."""
        ...


class Bench(Protocol):
    """Where a night puts a case on a release and looks at it."""

    def look(self, case: Case, release: Release, repeat: int) -> Look:
        """Run one trial and judge it; raises `Untestable` or `SurroundingsError`."""
        ...


class Narrower(Protocol):
    """Brings a change down to two neighbouring releases."""

    def narrow(self, case: Case, symptom: Symptom, timeline: Timeline, *, turns_bad: bool) -> Narrowed:
        """Search the timeline, whose ends differ; raises `HarnessError` when that fails."""
        ...


class FixWatch(Protocol):
    """Answers whether a fix has arrived in a release."""

    def check(self, watch: Watch, case: Case, release: Release) -> Watched:
        """Hold the release against one that shows the symptom; raises `HarnessError` when that fails."""
        ...


class NightBook(Protocol):
    """The journal of nights."""

    def begin(self, night: str, moment: datetime) -> None:
        """Note durably that a night has begun."""
        ...

    def end(self, record: NightRecord) -> None:
        """Write a whole night durably."""
        ...

    def records(self) -> Sequence[NightRecord]:
        """Whole nights in the order of their days; of two for one day the later one."""
        ...
