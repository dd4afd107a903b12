"""The composition root: builds the real index, environments and trials behind the protocols."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

import harness
from harness.adapters.environments.companions import wanted
from harness.adapters.environments.interpreters import Interpreters
from harness.adapters.environments.nox_environments import NoxEnvironments
from harness.adapters.environments.planning import Planner
from harness.adapters.environments.resolver import Resolver, pin_of, uv_program
from harness.adapters.git import Clone
from harness.adapters.index.package_index import PackageIndex
from harness.adapters.processes.process import Processes, ended_by_signal
from harness.adapters.storage.home import Home
from harness.adapters.trials.probe_trials import ProbeTrials
from harness.domain.cases.case import Case
from harness.domain.findings.run import SharedEnvironment
from harness.domain.fixes.fix import Fix
from harness.domain.releases.companions import Companions, Mode
from harness.domain.releases.release import Timeline
from harness.jobs.protocols import Event, Listener


class _Notes:
    """Prints what delays a command that shows no progress."""

    def notify(self, event: Event) -> None:
        """Print a note."""
        if event.kind == "note":
            click.echo(f"harness: {event.release}: {event.detail}", err=True)


@dataclass(frozen=True, kw_only=True)
class Services:
    """The real objects of one invocation."""

    processes: Processes
    home: Home
    index: PackageIndex
    interpreters: Interpreters
    planner: Planner

    def companions(
        self, cases: Sequence[Case], timeline: Timeline, pins: Sequence[str], mode: Mode, python: str | None
    ) -> Companions:
        """Plan the companions of one or several cases over a timeline."""
        asked = wanted(
            timeline.releases[0].package,
            [text for case in cases for text in case.companions],
            pins,
            [text for case in cases for text in case.data_packages],
        )
        return self.planner.plan(timeline, asked, mode, python)

    def clone(self, path: Path, package: str) -> Clone:
        """A git clone of the package under test."""
        return Clone(path=path, package=package, processes=self.processes, home=self.home)

    def environments(self, companions: Companions, listener: Listener | None = None) -> NoxEnvironments:
        """Build environments for these companions; without a listener, notes go to stderr."""
        return NoxEnvironments(self.processes, self.home, self.planner, companions, listener or _Notes())

    def trials(
        self, *, fresh: bool = False, memory_bytes: int | None = None, fixes: Mapping[str, Fix] | None = None
    ) -> ProbeTrials:
        """Run trials for real."""
        return ProbeTrials(self.processes, self.home, fresh=fresh, memory_bytes=memory_bytes, fixes=fixes)


@contextmanager
def open_services(*, refresh: bool = False) -> Iterator[Services]:
    """Build the real objects; whatever happens, no process of ours outlives the block."""
    processes = Processes()
    home = Home.default()
    home.sweep()
    uv = uv_program()
    interpreters = Interpreters(processes, home, uv)
    made = Services(
        processes=processes,
        home=home,
        index=PackageIndex(home, fresh_seconds=0.0) if refresh else PackageIndex(home),
        interpreters=interpreters,
        planner=Planner(Resolver(processes, home, uv), interpreters, home),
    )
    with ended_by_signal(processes):
        try:
            yield made
        finally:
            processes.end_all()


def setting(companions: Companions) -> SharedEnvironment:
    """What all environments of a run share, for the report."""
    return SharedEnvironment(
        harness=harness.__version__,
        python=companions.interpreter.version,
        platform=f"{sys.platform} {platform.machine()}",
        mode=companions.mode.value,
        companions=tuple(pin_of(line) for line in companions.shared),
        lock=companions.shared,
    )
