"""Small real objects behind the protocols: a journal in memory, and environments and trials driven by a table.

The table says what each release really does; nothing is patched, so that the jobs run as they are. `FakeServices` is
a whole world made of them; only its run folders lie on disk, below a folder of the test.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from harness.adapters.storage.home import Home
from harness.adapters.storage.run_folders import RunFolders
from harness.domain.cases.case import Case, Level
from harness.domain.errors import HarnessError, InfrastructureError, Untestable, UsageError
from harness.domain.findings.causes import KnownCause
from harness.domain.findings.finding import Finding
from harness.domain.findings.question import Question
from harness.domain.findings.run import RunHeader, SharedEnvironment
from harness.domain.fixes.fix import Fix
from harness.domain.fixes.grades import FixReport
from harness.domain.fixes.workarounds import WorkaroundReport
from harness.domain.nightly.expectations import Expectations
from harness.domain.releases.companions import Companions, Interpreter, Mode, Wanted
from harness.domain.releases.distributions import import_name
from harness.domain.releases.index_page import IndexPage, WheelFile
from harness.domain.releases.release import Channel, Release, Timeline
from harness.domain.search.hunks import Overlay, Tree
from harness.domain.search.policy import Policy
from harness.domain.trials.entry import Entry
from harness.domain.trials.observation import EndingKind, FixFacts, NonFinite, Observation, Stage
from harness.domain.trials.trial import Environment, FinishedTrial, Trial
from harness.domain.trials.variant import Variant
from harness.jobs.events import Event, Listener
from harness.jobs.protocols import Cases, Pythons, Services
from tests.examples import ending, observation, weights

TWO = Variant(replicas=2, strategy="mirrored")

SHOWN: Mapping[str, Callable[[], Observation]] = {
    "good": observation,
    "nan": lambda: observation(
        {"loss": math.nan}, first_nonfinite_metric=NonFinite(name="loss", step=125, value=math.nan)
    ),
    "raises": lambda: observation(
        {},
        weights=None,
        ending=ending(EndingKind.RAISED, Stage.BUILD, exception="ValueError", message="aggregation MEAN"),
    ),
    "wrong": lambda: observation({"loss": 0.5}),
    "wrong weights": lambda: observation(weights=weights(values={"kernel": (9.0,), "bias": (0.25,)})),
    "refused": lambda: observation({}, weights=None, ending=ending(EndingKind.REFUSED, message="needs a TPU")),
    "exit 1": lambda: observation({}, weights=None, ending=ending(EndingKind.EXITED, Stage.SCRIPT, exit_code=1)),
    "exit 0": lambda: observation({}, weights=None, ending=ending(EndingKind.EXITED, Stage.SCRIPT, exit_code=0)),
    "exit 139": lambda: observation({}, weights=None, ending=ending(EndingKind.EXITED, Stage.SCRIPT, exit_code=139)),
}
"""What a trial on several replicas shows, by the word that stands in a table."""


class MemoryJournal:
    """A journal that a test can look into, and that can be torn off after some entries."""

    def __init__(self, entries: Sequence[Entry] = ()) -> None:
        self._entries = list(entries)
        self._guard = threading.Lock()

    def record(self, entry: Entry) -> None:
        with self._guard:
            self._entries.append(entry)

    def entries(self) -> Sequence[Entry]:
        with self._guard:
            return tuple(self._entries)


class TableEnvironments:
    """Every release has an environment, but for those that the table calls untestable or failing.

    A failure may be any exception: ``KeyboardInterrupt`` stands for Ctrl-C while the release is tried.
    """

    def __init__(self, failures: Mapping[str, BaseException] | None = None) -> None:
        self.failures = dict(failures or {})
        self.prepared: list[str] = []
        self.restored: list[Environment] = []

    def prepare(self, release: Release) -> Environment:
        self.prepared.append(release.version)
        if release.version in self.failures:
            raise self.failures[release.version]
        return Environment(
            key=f"key-{release.version}",
            executable="/environments/python",
            python="3.11.7",
            lock=(f"{release.requirement} --hash=sha256:0",),
            seconds={"resolve": 0.25, "build": 0.5},
        )

    def restore(self, recorded: Environment) -> Environment:
        self.restored.append(recorded)
        return recorded


class TableTrials:
    """A model is always right on one replica; else the table says what shows, and a fix has a table of its own."""

    def __init__(self, shown: Mapping[str, str], *, fixed: Mapping[str, Mapping[str, str]] | None = None) -> None:
        self.shown = dict(shown)
        self.fixed = {name: dict(table) for name, table in (fixed or {}).items()}
        self.ran: list[Trial] = []

    def run(self, environment: Environment, case: Case, trials: Sequence[Trial]) -> Sequence[FinishedTrial]:
        assert environment.key == f"key-{trials[0].release}"
        self.ran += trials
        return [FinishedTrial(trial=trial, observation=self._observe(case, trial), seconds=0.0) for trial in trials]

    def _observe(self, case: Case, trial: Trial) -> Observation:
        if trial.variant.replicas == 1 and case.level is Level.MODEL:
            return observation()
        if trial.variant.fix is None:
            return SHOWN[self.shown[trial.release]]()
        made = SHOWN[self.fixed[trial.variant.fix][trial.release]]()
        return observation(
            made.final,
            ending=made.ending,
            weights=made.weights,
            fix=FixFacts(name=trial.variant.fix, outcome="applied"),
        )


class Heard:
    """A listener that remembers."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def notify(self, event: Event) -> None:
        self.events.append(event)


def untestable(*versions: str, reason: str = "no wheel for this Python") -> dict[str, HarnessError]:
    """Environments that cannot be had."""
    return {version: Untestable(f"{version}: {reason}") for version in versions}


def header(case: Case, timeline: Timeline, policy: Policy | None = None) -> RunHeader:
    """The first line of a journal that asks for every symptom on two replicas."""
    return RunHeader(
        question=Question(
            case=case.name,
            case_digest=case.digest,
            package=case.package,
            first=timeline.versions[0],
            last=timeline.versions[-1],
            releases=timeline.versions,
        ),
        case=case,
        timeline=timeline,
        policy=policy or Policy(),
        setting=SharedEnvironment(harness="0.1.0", python="3.11.7", platform="linux x86_64", mode="fixed"),
        reproduce="harness bisect identity",
        index_seconds=0.5,
    )


PYTHON = Interpreter(version="3.11.7", path="/environments/python")


class MemoryIndex:
    """Pages in memory; a wheel has the files that a table says."""

    def __init__(self, published: Sequence[Release], files: Mapping[str, Mapping[str, str]] | None = None) -> None:
        self.published = list(published)
        self.files = dict(files or {})
        self.stale_reason = ""

    def page(self, package: str) -> IndexPage:
        own = tuple(release for release in self.published if release.package == package)
        if not own:
            raise UsageError(f"the index has no {package}", hint="check --package")
        wheels = {version: WheelFile(url=f"https://example.org/{version}.whl", sha256=None) for version in self.files}
        return IndexPage(package=package, fetched=0.0, releases=own, wheels=wheels, stale_reason=self.stale_reason)

    def releases(self, package: str) -> Sequence[Release]:
        return self.page(package).releases

    def wheel_files(self, package: str, version: str, wheel: WheelFile, names: Sequence[str]) -> Mapping[str, str]:
        if not self.files[version]:
            raise InfrastructureError(f"the wheel of {package} {version} cannot be read", where=wheel.url)
        return {name: text for name, text in self.files[version].items() if name in names}


class CaseShelf:
    """Cases that stand in memory; none has a file."""

    def __init__(self, cases: Sequence[Case], expectations: Expectations | None = None) -> None:
        self.cases = {case.name: case for case in cases}
        self.known = expectations or Expectations()
        self.causes: tuple[KnownCause, ...] = ()

    def read(self, name_or_path: str, *, package: str | None = None) -> Case:
        for case in self.cases.values():
            if name_or_path in (case.name, case.path):
                return case if package is None else replace(case, package=package)
        raise UsageError(f"unknown case {name_or_path!r}")

    def read_all(self, names: Sequence[str] = ()) -> list[Case]:
        return [self.read(name) for name in (names or self.cases)]

    def callable_as(self, case: Case) -> str:
        return case.name

    def causes_for(self, case: Case) -> tuple[KnownCause, ...]:
        return tuple(cause for cause in self.causes if cause.case == case.name)

    def expectations(self, path: Path | None) -> Expectations:
        del path
        return self.known


class ReportShelf:
    """Keeps what was reported, by folder."""

    def __init__(self) -> None:
        self.findings: dict[Path, Finding] = {}
        self.verified: dict[Path, FixReport] = {}
        self.measured: dict[Path, WorkaroundReport] = {}
        self.lost: tuple[str, ...] = ()

    def finding(self, finding: Finding, folder: Path) -> None:
        self.findings[folder] = finding

    def fixes(self, report: FixReport, folder: Path) -> None:
        self.verified[folder] = report

    def workarounds(self, report: WorkaroundReport, folder: Path) -> None:
        self.measured[folder] = report

    def artifacts(self, finding: Finding, folder: Path) -> Sequence[str]:
        del finding, folder
        return self.lost


class OnePython:
    """A machine with one interpreter."""

    def candidates(self) -> list[Interpreter]:
        return [PYTHON]

    def named(self, wanted: str) -> Interpreter:
        if wanted not in (PYTHON.version, PYTHON.minor, PYTHON.path):
            raise UsageError(f"no Python {wanted} was found", where="--python")
        return PYTHON


@dataclass(frozen=True)
class CommitList:
    """A clone with these commits, the oldest first."""

    path: Path
    commits: tuple[Release, ...]

    def commit(self, wanted: str) -> Release:
        ref = wanted.removeprefix("commit:")
        if ref == "HEAD":
            return self.commits[-1]
        for commit in self.commits:
            if commit.version.startswith(ref):
                return commit
        raise UsageError(f"the clone has no commit {ref}", where=str(self.path))

    def commit_at(self, moment: datetime) -> Release:
        known = [commit for commit in self.commits if commit.released is not None and commit.released <= moment]
        if not known:
            raise UsageError(f"the clone has no commit before {moment:%Y-%m-%d}", where=str(self.path))
        return known[-1]

    def timeline(self, first: str, last: str) -> Timeline:
        start, end = (self.commits.index(self.commit(wanted)) for wanted in (first, last))
        return Timeline(releases=self.commits[start : end + 1])

    def save_patch(self, commit: str, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{commit[:12]}.patch"
        file.write_text(f"From {commit}\n", encoding="utf-8")
        return file


class FakeServices:
    """The world of one test: what is published, what each release shows, and run folders on disk.

    Args:
        folder: Of the test; the cache of the harness lies in it.
        cases: Cases that can be read by name.
        published: All releases of all packages on the index.
        trials: What every trial shows.
        environments: Which releases cannot be built.
    """

    version = "0.1.0"
    platform = "linux x86_64"
    containment = "subreaper"

    def __init__(
        self,
        folder: Path,
        cases: Sequence[Case],
        published: Sequence[Release],
        trials: TableTrials | None = None,
        environments: TableEnvironments | None = None,
    ) -> None:
        self.index = MemoryIndex(published)
        self.shelf = CaseShelf(cases)
        self.cases: Cases = self.shelf
        self.runs = RunFolders(Home(folder / "home"))
        self.reports = ReportShelf()
        self.pythons: Pythons = OnePython()
        self.table = trials or TableTrials({})
        self.built = environments or TableEnvironments()
        self.commits: tuple[Release, ...] = ()
        self.boundary = ""
        self.trees: dict[str, Tree] = {}
        self.chosen: list[Companions] = []
        self.began: list[tuple[bool, int | None, tuple[str, ...]]] = []

    def redacted(self, header: RunHeader) -> RunHeader:
        """Nothing here is secret."""
        return header

    def companions(
        self, cases: Sequence[Case], timeline: Timeline, pins: Sequence[str], mode: Mode, python: str | None
    ) -> Companions:
        """What the cases name, in version 1.0 where no pin says otherwise."""
        package = timeline.releases[0].package
        named = {
            str(canonicalize_name(Requirement(text).name)): text
            for text in (*(one for case in cases for one in case.companions), *pins)
            if import_name(Requirement(text).name) != import_name(package)
        }
        made = Companions(
            wanted=Wanted(package=package, requirements=tuple(named.values())),
            mode=mode,
            interpreter=self.pythons.named(python) if python else PYTHON,
            lock=tuple(
                f"{text if '==' in text else f'{name}==1.0'} --hash=sha256:0" for name, text in sorted(named.items())
            ),
            boundary=self.boundary,
        )
        self.chosen.append(made)
        return made

    def environments(self, companions: Companions, listener: Listener) -> TableEnvironments:
        del companions, listener
        return self.built

    def trials(
        self, *, fresh: bool = False, memory_bytes: int | None = None, jobs: int = 1, fixes: Sequence[Fix] = ()
    ) -> TableTrials:
        """The table; how it was asked for is noted."""
        self.began.append((fresh, memory_bytes, tuple(fix.name for fix in fixes)))
        return self.table

    def clone(self, path: Path, package: str) -> CommitList:
        return CommitList(path, tuple(commit for commit in self.commits if commit.package == package))

    def fix(self, name_or_path: str) -> Fix:
        return Fix(name=Path(name_or_path).stem, path=name_or_path, digest="d1")

    def patch(self, path: Path) -> Fix:
        return Fix(name=path.name, path=str(path), digest="d2", patches_files=True)

    def tree(self, environment: Environment, case: Case) -> Tree:
        """What a table says."""
        return self.trees[environment.key.removeprefix("key-")]

    def overlay(self, files: Overlay, *, measured: bool) -> Fix:
        """Named by what it changes."""
        name = "lines:" + ",".join(f"{file}={text}" for file, text in sorted(files.items()))
        return Fix(name=name, path="", digest=name, patches_files=True, files=dict(files), measured=measured)

    def mapping_sweep(self) -> list[Fix]:
        return [Fix(name=f"sum->{value}", path="mapping.py", digest=value) for value in ("NONE", "MEAN")]

    def framework_package(self) -> str:
        return "tensorflow-cpu"

    def pool(self, jobs: int) -> Executor:
        return ThreadPoolExecutor(max_workers=jobs)


def services_are_whole(services: FakeServices) -> Services:
    """Holds the fake against the protocol: mypy refuses one that lacks a part."""
    return services


def commit(number: int, released: datetime | None, package: str = "keras") -> Release:
    """A commit whose hash begins with its number."""
    return Release(package=package, version=f"{number:04x}" * 10, channel=Channel.COMMIT, released=released)
