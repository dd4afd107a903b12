"""The composition root: builds the real objects behind the protocols of the jobs."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import harness
from harness.adapters.environments import artifacts
from harness.adapters.environments.companions import asked_by, framework_package, wanted
from harness.adapters.environments.interpreters import Interpreters
from harness.adapters.environments.nox_environments import NoxEnvironments
from harness.adapters.environments.planning import Planner
from harness.adapters.environments.resolver import Resolver, uv_program
from harness.adapters.git import Clone
from harness.adapters.index.package_index import PackageIndex
from harness.adapters.index.wheels import read_files
from harness.adapters.processes import redaction
from harness.adapters.processes.process import Processes, ended_by_signal
from harness.adapters.storage import case_files, known_issues
from harness.adapters.storage.files import check_file_limit, write_reports
from harness.adapters.storage.home import Home
from harness.adapters.storage.run_folders import RunFolders
from harness.adapters.trials import fixes, trees
from harness.adapters.trials.probe_trials import ProbeTrials
from harness.domain.cases.case import Case
from harness.domain.errors import HarnessError
from harness.domain.findings.causes import KnownCause
from harness.domain.findings.finding import Finding
from harness.domain.findings.run import RunHeader
from harness.domain.fixes.fix import Fix
from harness.domain.fixes.grades import FixReport
from harness.domain.fixes.workarounds import WorkaroundReport
from harness.domain.nightly.expectations import Expectations
from harness.domain.releases.companions import Companions, Mode
from harness.domain.releases.index_page import IndexPage, WheelFile
from harness.domain.releases.release import Release, Timeline
from harness.domain.search.hunks import Overlay, Tree
from harness.domain.trials.trial import Environment
from harness.jobs.events import Listener
from harness.jobs.refinement import evidence_of
from harness.reporting.bisection import documents
from harness.reporting.fixes import fix_report, workarounds_report


class CaseLibrary:
    """Case files, and what is recorded beside them."""

    def read(self, name_or_path: str, *, package: str | None = None) -> Case:
        """One case by name or path; credentials in its companions are remembered, and stand in it no longer."""
        case = case_files.read(name_or_path, package=package)
        redaction.remember((*case.companions, *case.data_packages))
        companions, data_packages = redaction.clean((case.companions, case.data_packages))
        return replace(case, companions=companions, data_packages=data_packages)

    def read_all(self, names: Sequence[str] = ()) -> list[Case]:
        """The cases named, or all that are known."""
        return [self.read(name) for name in (names or case_files.known_cases())]

    def callable_as(self, case: Case) -> str:
        """The shortest word that finds the case again."""
        return case_files.callable_as(case)

    def causes_for(self, case: Case) -> tuple[KnownCause, ...]:
        """Known causes of the case's transitions."""
        return known_issues.causes_for(case)

    def expectations(self, path: Path | None) -> Expectations:
        """What the nights expect."""
        return known_issues.read_expectations(path)


class ReportFolder:
    """Writes reports into the folder of a run.

    Args:
        runs: Reads the journals that the pictures are made of.
    """

    def __init__(self, runs: RunFolders) -> None:
        self._runs = runs

    def finding(self, finding: Finding, folder: Path) -> None:
        """Write the reports of a search; without a journal in the folder, without its curves."""
        evidence = evidence_of(self._runs, finding, folder) if self._runs.exists(folder) else None
        write_reports(folder, documents.texts(finding, evidence))

    def fixes(self, report: FixReport, folder: Path) -> None:
        """Write the reports of a verification."""
        write_reports(folder, fix_report.texts(report))

    def workarounds(self, report: WorkaroundReport, folder: Path) -> None:
        """Write the reports of measured workarounds."""
        write_reports(folder, workarounds_report.texts(report))

    def artifacts(self, finding: Finding, folder: Path) -> Sequence[str]:
        """Keep wheels and locks of both sides of each transition."""
        return artifacts.save_artifacts(finding, folder)


@dataclass(frozen=True, kw_only=True)
class WheelIndex:
    """The package index, and single files of its wheels."""

    pages: PackageIndex
    home: Home

    def page(self, package: str) -> IndexPage:
        """The page of a package."""
        return self.pages.page(package)

    def releases(self, package: str) -> Sequence[Release]:
        """All releases of a package."""
        return self.pages.releases(package)

    def wheel_files(self, package: str, version: str, wheel: WheelFile, names: Sequence[str]) -> Mapping[str, str]:
        """Text of single files of a wheel."""
        return read_files(self.home, package, version, wheel, names)


@dataclass(frozen=True, kw_only=True)
class RealServices:
    """The real objects of one invocation.

    Attributes:
        processes: Starts every child process.
        home: The cache folder.
        index: The package index.
        pythons: Interpreters of this machine.
        planner: Chooses companions.
        cases: Case files.
        runs: Run folders.
        reports: Reports on disk.
    """

    processes: Processes
    home: Home
    index: WheelIndex
    pythons: Interpreters
    planner: Planner
    cases: CaseLibrary
    runs: RunFolders
    reports: ReportFolder

    @property
    def version(self) -> str:
        """Version of the harness."""
        return harness.__version__

    @property
    def platform(self) -> str:
        """Operating system and machine."""
        return f"{sys.platform} {platform.machine()}"

    @property
    def containment(self) -> str:
        """How the processes of a trial are kept together."""
        return self.processes.containment

    def companions(
        self, cases: Sequence[Case], timeline: Timeline, pins: Sequence[str], mode: Mode, python: str | None
    ) -> Companions:
        """Choose interpreter and companions that fit the cases over the timeline."""
        redaction.remember(pins)
        needed = wanted(
            timeline.releases[0].package,
            [text for case in cases for text in case.companions],
            redaction.clean(tuple(pins)),
            [text for case in cases for text in case.data_packages],
        )
        return self.planner.plan(timeline, asked_by(cases, needed), mode, python)

    def redacted(self, header: RunHeader) -> RunHeader:
        """The same without credentials."""
        return redaction.clean(header)

    def environments(self, companions: Companions, listener: Listener) -> NoxEnvironments:
        """Environments beside these companions."""
        return NoxEnvironments(self.processes, self.home, self.planner, companions, listener)

    def trials(
        self, *, fresh: bool = False, memory_bytes: int | None = None, jobs: int = 1, fixes: Sequence[Fix] = ()
    ) -> ProbeTrials:
        """Trials in processes of their own."""
        named = {fix.name: fix for fix in fixes}
        return ProbeTrials(self.processes, self.home, fresh=fresh, memory_bytes=memory_bytes, jobs=jobs, fixes=named)

    def clone(self, path: Path, package: str) -> Clone:
        """A git clone of a package."""
        return Clone(path=path, package=package, processes=self.processes, home=self.home)

    def fix(self, name_or_path: str) -> Fix:
        """A named fix or a file with apply()."""
        return fixes.find(name_or_path)

    def patch(self, path: Path) -> Fix:
        """A diff as a fix."""
        return fixes.patch(path)

    def tree(self, environment: Environment, case: Case) -> Tree:
        """The files of the package under test in an environment."""
        return trees.read_tree(environment, case)

    def overlay(self, files: Overlay, *, measured: bool) -> Fix:
        """Files in the place of the package's own, as a fix."""
        return trees.overlay(files, measured=measured)

    def mapping_sweep(self) -> list[Fix]:
        """Every change of one key of Keras's mapping of aggregations."""
        return fixes.mapping_sweep()

    def framework_package(self) -> str:
        """The distribution that brings TensorFlow to this machine."""
        return framework_package()

    def pool(self, jobs: int) -> Executor:
        """Threads: each waits for the processes that it starts."""
        return ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="trial")


def _without_credentials(header: RunHeader) -> RunHeader:
    """A header from a journal: what an earlier version wrote into it is taken out, what the case's file says is known.

    So the environments of the run can be built again while the file is there.
    """
    redaction.remember((*header.case.companions, *header.case.data_packages, *header.setting.lock))
    with suppress(HarnessError):
        case = case_files.read(header.case.path, package=header.case.package)
        redaction.remember((*case.companions, *case.data_packages))
    return redaction.clean(header)


@contextmanager
def open_services(*, refresh: bool = False) -> Iterator[RealServices]:
    """Build the real objects; whatever happens, no process of ours outlives the block.

    Args:
        refresh: Ask the index again even if its cached page is fresh.
    """
    check_file_limit()
    processes = Processes()
    home = Home.default()
    home.sweep()
    uv = uv_program()
    pythons = Interpreters(processes, home, uv)
    pages = PackageIndex(home, fresh_seconds=0.0) if refresh else PackageIndex(home)
    runs = RunFolders(home, redact=_without_credentials)
    made = RealServices(
        processes=processes,
        home=home,
        index=WheelIndex(pages=pages, home=home),
        pythons=pythons,
        planner=Planner(Resolver(processes, home, uv), pythons, home),
        cases=CaseLibrary(),
        runs=runs,
        reports=ReportFolder(runs),
    )
    with ended_by_signal(processes):
        try:
            yield made
        finally:
            processes.end_all()
