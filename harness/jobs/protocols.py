"""The small Protocols between the three jobs and the world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from harness.domain.cases.case import Case
from harness.domain.cases.symptoms import Symptom
from harness.domain.nightly.expectations import AwaitedFix
from harness.domain.nightly.nights import CaseResult, FixStatus, Narrowed, NightRecord
from harness.domain.releases.release import Release, Timeline
from harness.domain.trials.entry import Entry
from harness.domain.trials.trial import Environment, FinishedTrial, Trial


class Environments(Protocol):
    """Builds the environment of one release, or says why it cannot."""

    def prepare(self, release: Release) -> Environment:
        """Return the sealed environment; raises `Untestable` or `InfrastructureError`."""
        ...


class Trials(Protocol):
    """Runs trials in an environment."""

    def run(self, environment: Environment, case: Case, trials: Sequence[Trial]) -> Sequence[FinishedTrial]:
        """Run the trials in one process tree; raises `Untestable` or `InfrastructureError`."""
        ...


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
        """All releases of a package; raises `InfrastructureError` when the index does not answer."""
        ...


class CaseRunner(Protocol):
    """Where a night puts a case on a release and looks at it."""

    def look(self, case: Case, release: Release, repeat: int) -> CaseResult:
        """Run one trial and judge it; raises `Untestable` or `InfrastructureError`."""
        ...


class Narrower(Protocol):
    """Brings a change down to two neighbouring releases."""

    def narrow(self, case: Case, symptom: Symptom, timeline: Timeline, *, turns_bad: bool) -> Narrowed:
        """Search the timeline, whose ends differ; raises `HarnessError` when that fails."""
        ...


class FixChecker(Protocol):
    """Answers whether a fix has arrived in a release."""

    def check(self, watch: AwaitedFix, case: Case, release: Release) -> FixStatus:
        """Hold the release against one that shows the symptom; raises `HarnessError` when that fails."""
        ...


class NightlyJournal(Protocol):
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
