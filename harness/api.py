"""The Python interface: a request in, the finding of its report out; see docs/python.md.

Progress goes to a listener (`harness.jobs.protocols.Listener`); without one, what may bend the answer is a Python
warning. Failures are the exceptions of `harness.domain.errors`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TypeVar

from rich.console import RenderableType

from harness.domain.findings.finding import Finding
from harness.domain.fixes.grades import FixReport
from harness.domain.fixes.workarounds import WorkaroundReport
from harness.domain.releases.aggregation import ReleaseFacts
from harness.domain.releases.listing import Listing
from harness.jobs import bisection, diagnosis, refinement, requests, trials
from harness.jobs import export as export_job
from harness.jobs import releases as releases_job
from harness.jobs.diagnosis import DiagnosedTrial
from harness.jobs.events import Event, EventKind, Listener
from harness.jobs.fixes import verification
from harness.jobs.fixes import workarounds as workarounds_job
from harness.jobs.protocols import Services
from harness.jobs.trials import CaseOutcome, Reproduction, TrialResult
from harness.reporting import notebook
from harness.reporting.bisection import terminal_report
from harness.reporting.export import script
from harness.reporting.fixes import fix_report, workarounds_report
from harness.reporting.trials import (
    aggregation_report,
    diagnosis_report,
    releases_report,
    reproduction_report,
    trial_report,
)
from harness.services import open_services

R = TypeVar("R")
T = TypeVar("T")


class AnswerWarning(UserWarning):
    """Something may bend an answer, for example an index page that could not be renewed."""


class Warn:
    """The listener of a caller who brings none: sentences become Python warnings, progress stays quiet."""

    def notify(self, event: Event) -> None:
        """Warn of what may bend the answer."""
        if event.kind is EventKind.WARNING:
            warnings.warn(event.detail, AnswerWarning, stacklevel=2)


class Shown:
    """An answer that shows itself in a notebook as the terminal would show it."""

    def _terminal(self) -> RenderableType:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return notebook.html(self._terminal())


@dataclass(frozen=True, kw_only=True, repr=False)
class ShownFinding(Shown, Finding):
    """The finding of a search, and the folder of its run."""

    folder: Path

    def _terminal(self) -> RenderableType:
        return terminal_report.terminal(self, self.folder)


@dataclass(frozen=True, kw_only=True, repr=False)
class ShownFixReport(Shown, FixReport):
    """The grades of a verification, and the folder of its run."""

    folder: Path

    def _terminal(self) -> RenderableType:
        return fix_report.terminal(self, self.folder)


@dataclass(frozen=True, kw_only=True, repr=False)
class ShownWorkaroundReport(Shown, WorkaroundReport):
    """Measured workarounds and claims, and the folder of the run."""

    folder: Path

    def _terminal(self) -> RenderableType:
        return workarounds_report.terminal(self, self.folder)


@dataclass(frozen=True, kw_only=True, repr=False)
class ShownTrialResult(Shown, TrialResult):
    """One case on one release."""

    def _terminal(self) -> RenderableType:
        return trial_report.terminal(self.case, self.finished, self.verdicts)


@dataclass(frozen=True, kw_only=True, repr=False)
class ShownDiagnosis(Shown, DiagnosedTrial):
    """Where a case first goes wrong."""

    def _terminal(self) -> RenderableType:
        return diagnosis_report.terminal(self.case, self.release.version, self.variant, self.diagnosis)


@dataclass(frozen=True, kw_only=True, repr=False)
class ShownReproduction(Shown, Reproduction):
    """Recorded trials beside the same trials now."""

    def _terminal(self) -> RenderableType:
        return reproduction_report.terminal(
            self.recorded,
            self.finished,
            same_environment=self.same_environment,
            same_numbers=self.same_numbers,
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class ShownListing(Shown, Listing):
    """The releases of a package."""

    def _terminal(self) -> RenderableType:
        return releases_report.terminal(self)


@dataclass(frozen=True, kw_only=True)
class ShownAggregation(Shown):
    """What the source of each release says of aggregation.

    Attributes:
        package: Distribution.
        releases: One entry per release.
        live: Whether live variables are beside the source.
    """

    package: str
    releases: tuple[ReleaseFacts, ...]
    live: bool = False

    def _terminal(self) -> RenderableType:
        return aggregation_report.terminal(self.package, self.releases, live=self.live)


def bisect(request: requests.BisectRequest, *, listener: Listener | None = None) -> ShownFinding:
    """Find in which release each symptom of a case begins and ends; see `harness.jobs.bisection.bisect`."""
    finding, folder = _call(bisection.bisect, request, listener)
    return _shown(ShownFinding, finding, folder=folder)


def verify_fix(request: requests.VerifyRequest, *, listener: Listener | None = None) -> ShownFixReport:
    """Verify a fix: is the symptom gone, are the values right, does it break something?"""
    found, folder = _call(verification.verify_fix, request, listener)
    return _shown(ShownFixReport, found, folder=folder)


def workarounds(request: requests.WorkaroundsRequest, *, listener: Listener | None = None) -> ShownWorkaroundReport:
    """Measure what the reports of a case recommend and claim."""
    found, folder = _call(workarounds_job.measure_workarounds, request, listener)
    return _shown(ShownWorkaroundReport, found, folder=folder)


def run(request: requests.TrialRequest, *, listener: Listener | None = None) -> ShownTrialResult:
    """Run a case once in the environment of one release."""
    return _shown(ShownTrialResult, _call(trials.run, request, listener))


def repro(request: requests.ReproRequest, *, listener: Listener | None = None) -> tuple[CaseOutcome, ...]:
    """Run all cases, or those named, in the environment of one release."""

    def job(services: Services, wanted: requests.ReproRequest, hears: Listener) -> tuple[CaseOutcome, ...]:
        return tuple(trials.repro(services, wanted, hears).outcomes)

    return _call(job, request, listener)


def reproduce(request: requests.ReproduceRequest, *, listener: Listener | None = None) -> ShownReproduction:
    """Rebuild the environment of one release of a run from its recorded lock and repeat its trials."""
    return _shown(ShownReproduction, _call(trials.reproduce, request, listener))


def report(request: requests.ReportRequest) -> ShownFinding:
    """Write the reports of a run again from its journal, and return its finding."""
    with open_services() as services:
        finding, folder = refinement.report_again(services, request)
    return _shown(ShownFinding, finding, folder=folder)


def diagnose(request: requests.DiagnoseRequest, *, listener: Listener | None = None) -> ShownDiagnosis:
    """Find the first place where a case goes wrong: data, compute, optimisation or metric state."""
    return _shown(ShownDiagnosis, _call(diagnosis.diagnose_case, request, listener))


def aggregation(request: requests.AggregationRequest, *, listener: Listener | None = None) -> ShownAggregation:
    """Say what _map_aggregation and the variables are in each release."""
    releases = _call(releases_job.read_aggregation, request, listener)
    return ShownAggregation(package=request.package, releases=releases, live=request.live)


def releases(request: requests.ReleasesRequest, *, listener: Listener | None = None) -> ShownListing:
    """List the timeline of a package as the harness sees it."""
    return _shown(ShownListing, _call(releases_job.list_releases, request, listener))


def export(request: requests.TrialRequest, *, listener: Listener | None = None) -> str:
    """The text of a script for an upstream issue, with no harness in it."""
    return script(_call(export_job.pin_case, request, listener))


def _call(job: Callable[[Services, R, Listener], T], request: R, listener: Listener | None) -> T:
    """Run a job with services of its own; no process outlives the call."""
    with open_services() as services:
        return job(services, request, listener or Warn())


def _shown(kind: Callable[..., T], answer: object, **more: Path) -> T:
    """The answer as the class of it that shows itself."""
    return kind(**{field.name: getattr(answer, field.name) for field in fields(answer)}, **more)  # type: ignore[arg-type]
