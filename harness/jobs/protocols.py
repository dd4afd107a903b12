"""What the jobs need of the world, as small Protocols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from datetime import datetime
from pathlib import Path
from typing import Protocol

from harness.domain.cases.case import Case
from harness.domain.findings.causes import KnownCause
from harness.domain.findings.changes.changed_lines import ChangedLines
from harness.domain.findings.finding import Finding
from harness.domain.findings.run import RunHeader
from harness.domain.fixes.fix import Fix
from harness.domain.fixes.grades import FixReport
from harness.domain.fixes.workarounds import WorkaroundReport
from harness.domain.nightly.expectations import Expectations
from harness.domain.releases.companions import Companions, Interpreter, Mode
from harness.domain.releases.index_page import IndexPage, WheelFile
from harness.domain.releases.release import Release, Timeline
from harness.domain.search.hunks import Overlay, Tree
from harness.domain.trials.entry import Entry
from harness.domain.trials.trial import Environment, FinishedTrial, Trial
from harness.jobs.events import Listener


class Environments(Protocol):
    """Builds the environment of one release, or says why it cannot."""

    def prepare(self, release: Release) -> Environment:
        """Return the sealed environment; raises `Untestable` or `InfrastructureError`."""
        ...


class RestorableEnvironments(Environments, Protocol):
    """Can also build again what a journal recorded."""

    def restore(self, recorded: Environment) -> Environment:
        """Return the environment of a recorded lock; raises `Untestable` or `InfrastructureError`."""
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


class RunJournal(Journal, Protocol):
    """The journal of a run in its folder, held by this process until the ``with`` block ends."""

    @property
    def folder(self) -> Path:
        """Where the run lies."""
        ...

    def restored(self) -> str:
        """Write the journal again where it was removed or changed; returns what was found, "" when nothing was."""
        ...

    def __enter__(self) -> RunJournal: ...

    def __exit__(self, *_: object) -> None: ...


RunCourse = tuple[tuple[str, int], ...]
"""(version, repeat) of every trial that a finished search made."""


class Runs(Protocol):
    """The folders of runs: journals, and which trials an earlier search for the same answer made."""

    def check(self, folder: Path) -> None:
        """Refuse a folder that could not be written, before any work; raises `UsageError`."""
        ...

    def begin(self, folder: Path, header: RunHeader) -> RunJournal:
        """Begin a journal in a new folder."""
        ...

    def resume(self, folder: Path, header: RunHeader) -> RunJournal:
        """Go on with a journal; raises `UsageError` where the question changed."""
        ...

    def read(self, folder: Path) -> tuple[RunHeader, list[Entry]]:
        """Header and entries of a run; raises `UsageError`."""
        ...

    def locate(self, run: Path) -> Path:
        """The folder of a run, given as a path or as its id below ``reports/``."""
        ...

    def unused(self, folder: Path) -> Path:
        """The folder, or the first numbered one that does not exist yet."""
        ...

    def below(self, folder: Path) -> list[Path]:
        """Folders directly below this one that hold a journal, in order of their names."""
        ...

    def keep_lines(self, folder: Path, found: Sequence[ChangedLines]) -> None:
        """Keep the lines that were found behind the transitions of a run."""
        ...

    def lines(self, folder: Path) -> tuple[ChangedLines, ...]:
        """The lines that were found behind the transitions of a run."""
        ...

    def recall(self, header: RunHeader) -> RunCourse:
        """What the last finished search for the same answer ran; empty when there is none."""
        ...

    def remember(self, header: RunHeader, course: RunCourse) -> None:
        """Keep what a finished search ran."""
        ...


class Reports(Protocol):
    """Writes reports into the folder of a run, each file whole."""

    def finding(self, finding: Finding, folder: Path) -> None:
        """Write the reports of a search."""
        ...

    def fixes(self, report: FixReport, folder: Path) -> None:
        """Write the reports of a verification."""
        ...

    def workarounds(self, report: WorkaroundReport, folder: Path) -> None:
        """Write the reports of measured workarounds."""
        ...

    def artifacts(self, finding: Finding, folder: Path) -> Sequence[str]:
        """Keep wheels and locks of both sides of each transition; returns what could not be kept."""
        ...


class ReleaseIndex(Protocol):
    """Says what is published."""

    def releases(self, package: str) -> Sequence[Release]:
        """All releases of a package; raises `InfrastructureError` when the index does not answer."""
        ...


class PackagePages(ReleaseIndex, Protocol):
    """A package index with its pages and single files of wheels."""

    def page(self, package: str) -> IndexPage:
        """The page of a package; raises `UsageError` or `InfrastructureError`."""
        ...

    def wheel_files(self, package: str, version: str, wheel: WheelFile, names: Sequence[str]) -> Mapping[str, str]:
        """Text of single files of a wheel, without installing it; raises `Untestable` or `InfrastructureError`."""
        ...


class Cases(Protocol):
    """Reads cases, and what is recorded beside them."""

    def read(self, name_or_path: str, *, package: str | None = None) -> Case:
        """One case by name or path, `package` under test instead of its own; raises `UsageError`."""
        ...

    def read_all(self, names: Sequence[str] = ()) -> list[Case]:
        """The cases named, or all that are known."""
        ...

    def callable_as(self, case: Case) -> str:
        """The shortest word that finds the case again."""
        ...

    def causes_for(self, case: Case) -> tuple[KnownCause, ...]:
        """Known causes of the case's transitions."""
        ...

    def expectations(self, path: Path | None) -> Expectations:
        """What the nights expect, from a file or from the one beside the cases."""
        ...


class Clone(Protocol):
    """A git clone of the package under test; nothing in it is changed."""

    @property
    def path(self) -> Path:
        """Its folder."""
        ...

    def commit(self, wanted: str) -> Release:
        """One commit as a release; raises `UsageError`."""
        ...

    def commit_at(self, moment: datetime) -> Release:
        """The newest commit of the main line that is not younger than a moment; raises `UsageError`."""
        ...

    def timeline(self, first: str, last: str) -> Timeline:
        """The commits between two, both included, along first parents; raises `UsageError`."""
        ...

    def save_patch(self, commit: str, folder: Path) -> Path:
        """Write what one commit changed into a folder; returns the file."""
        ...


class Pythons(Protocol):
    """The interpreters of this machine."""

    def candidates(self) -> list[Interpreter]:
        """One per minor version, the most useful first."""
        ...

    def named(self, wanted: str) -> Interpreter:
        """The one asked for by version or path; raises `UsageError`."""
        ...


class Services(Protocol):
    """The world, as one invocation sees it; `harness.services` builds the real one."""

    @property
    def version(self) -> str:
        """Version of the harness."""
        ...

    @property
    def platform(self) -> str:
        """Operating system and machine."""
        ...

    @property
    def containment(self) -> str:
        """How the processes of a trial are kept together."""
        ...

    def redacted(self, header: RunHeader) -> RunHeader:
        """The same without credentials: what a journal and the reports may say."""
        ...

    @property
    def index(self) -> PackagePages:
        """The package index."""
        ...

    @property
    def cases(self) -> Cases:
        """Case files."""
        ...

    @property
    def runs(self) -> Runs:
        """Run folders."""
        ...

    @property
    def reports(self) -> Reports:
        """Reports on disk."""
        ...

    @property
    def pythons(self) -> Pythons:
        """Interpreters."""
        ...

    def companions(
        self, cases: Sequence[Case], timeline: Timeline, pins: Sequence[str], mode: Mode, python: str | None
    ) -> Companions:
        """Choose interpreter and companions that fit the cases over the timeline; raises `UsageError`."""
        ...

    def environments(self, companions: Companions, listener: Listener) -> RestorableEnvironments:
        """Environments beside these companions."""
        ...

    def trials(
        self, *, fresh: bool = False, memory_bytes: int | None = None, jobs: int = 1, fixes: Sequence[Fix] = ()
    ) -> Trials:
        """Trials; `fresh` leaves the cache aside, `fixes` can be asked for by name.

        `memory_bytes` limits the memory of each; None: what is free is shared by `jobs`.
        """
        ...

    def clone(self, path: Path, package: str) -> Clone:
        """A git clone of a package."""
        ...

    def fix(self, name_or_path: str) -> Fix:
        """A named fix or a file with apply(); raises `UsageError`."""
        ...

    def patch(self, path: Path) -> Fix:
        """A diff as a fix; raises `UsageError`."""
        ...

    def tree(self, environment: Environment, case: Case) -> Tree:
        """The files of the package under test in an environment; raises `UsageError` where it is compiled."""
        ...

    def overlay(self, files: Overlay, *, measured: bool) -> Fix:
        """Files in the place of the package's own, as a fix; `measured`: a trial notes what it imports of them."""
        ...

    def mapping_sweep(self) -> list[Fix]:
        """Every change of one key of Keras's mapping of aggregations."""
        ...

    def framework_package(self) -> str:
        """The distribution that brings TensorFlow to this machine."""
        ...

    def pool(self, jobs: int) -> Executor:
        """Where trials run, `jobs` at once."""
        ...
