"""What a night needs, as small Protocols."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from harness.domain.cases.case import Case
from harness.domain.cases.symptoms import Symptom
from harness.domain.nightly.expectations import AwaitedFix
from harness.domain.nightly.nights import CaseResult, FixStatus, Narrowed, NightRecord
from harness.domain.releases.release import Release, Timeline


class CaseRunner(Protocol):
    """Runs one case on one release for a night."""

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
        """Compare the release with one that shows the symptom; raises `HarnessError` when that fails."""
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
