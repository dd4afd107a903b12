"""Build the environment of one release with nox and uv: a base of companions, and a thin layer on top.

    base   companions of the whole timeline, byte-compiled once
      ^    (_companions.pth)
    top    the package under test alone: 15 MB and under a second per release

Both are named by a hash of their lock, the interpreter and the platform, and count only once sealed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from filelock import FileLock, Timeout
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from harness.adapters.environments.contents import installed
from harness.adapters.environments.isolation import isolation
from harness.adapters.environments.layers import SEAL, Installer, Layer, layer_key, read_seal, sealed
from harness.adapters.environments.planning import Planner
from harness.adapters.environments.resolver import Unsatisfiable
from harness.adapters.processes.process import Processes
from harness.adapters.storage.files import disk_errors
from harness.adapters.storage.home import Home
from harness.domain.errors import Untestable
from harness.domain.releases.companions import Companions, Mode, name_of, pin_of
from harness.domain.releases.distributions import import_name
from harness.domain.releases.release import Release
from harness.domain.trials.trial import Environment
from harness.jobs.events import Event, EventKind, Listener

LOCK_POLL_SECONDS = 0.5


def check_installed(release: Release, environment: Environment) -> None:
    """Raise `Untestable` where another version is installed than the release under test: local versions count."""
    found = installed_versions(release, environment)
    if found is None or found == [release.version] or [_parsed(one) for one in found] == [release.parsed]:
        return
    raise Untestable(
        f"the environment of {release.package} {release.version} has {', '.join(found) or 'no version of it'}",
        where=str(Path(environment.executable).parents[1]),
        hint="this is a fault of the harness: please report it with the environment's lock",
    )


def installed_versions(release: Release, environment: Environment) -> list[str] | None:
    """Versions of the package under test that the environment has; None for a commit, which bears another's number."""
    if release.source is not None:
        return None
    return [one.version for one in installed.find(release.package, environment.executable)]


def _parsed(version: str) -> Version | None:
    try:
        return Version(version)
    except InvalidVersion:
        return None


class NoxEnvironments:
    """Builds environments on demand and shares them between runs and checkouts."""

    def __init__(
        self, processes: Processes, home: Home, planner: Planner, companions: Companions, listener: Listener
    ) -> None:
        self._processes = processes
        self._home = home
        self._planner = planner
        self._companions = companions
        self._listener = listener
        self._bases: dict[str, Layer] = {}
        self._locks: dict[Release, tuple[str, ...]] = {}

    def prepare(self, release: Release) -> Environment:
        """Resolve, build and seal the environment of one release, or find it in the cache.

        Raises:
            Untestable: it cannot be resolved, built or sealed, with the reason.
            InfrastructureError: index, disk or nox failed.
        """
        python = self._companions.interpreter
        if not release.accepts_python(python.version):
            raise Untestable(f"requires Python {release.requires_python}; the timeline runs on {python.version}")
        notify = partial(self._notify, release.version)
        started = time.monotonic()
        lock = self._lock_of(release, notify)
        resolve_seconds = time.monotonic() - started
        notes = self._planner.providers.notes(lock)
        environment = self._assemble(*self._layers(lock), notify, resolve_seconds=resolve_seconds)
        try:
            check_installed(release, environment)
        except Untestable:
            if not environment.reused:
                raise
            notify("the environment in the cache is not what its seal says: building it again")
            (self._home.folder("environments", environment.key) / SEAL).unlink(missing_ok=True)
            environment = self._assemble(*self._layers(lock), notify, resolve_seconds=resolve_seconds)
            check_installed(release, environment)
        self._locks[release] = lock
        return replace(environment, notes=notes)

    def _lock_of(self, release: Release, notify: Callable[[str], None]) -> tuple[str, ...]:
        """The lock with which this release was installed before in this search, else a new one.

        A lock that led to no environment is not kept: the index may say something else at the next try.
        """
        if (known := self._locks.pop(release, None)) is not None:
            return known
        try:
            return self._planner.lock_for(self._companions, release, notify)
        except Unsatisfiable as failure:
            raise Untestable(f"cannot be installed with these companions: {failure.what[:500]}") from failure

    def restore(self, earlier: Environment) -> Environment:
        """Build an environment of a journal again, exactly as its lock says, without resolving anything.

        Raises:
            Untestable: a package of its lock can no longer be installed.
            InfrastructureError: index, disk or nox failed.
        """
        return self._assemble(*self._layers(earlier.lock), partial(self._notify, earlier.key), resolve_seconds=0.0)

    def _assemble(
        self, top: tuple[str, ...], base_lock: tuple[str, ...], notify: Callable[[str], None], *, resolve_seconds: float
    ) -> Environment:
        started = time.monotonic()
        base, base_built = self._layer(base_lock, None, notify)
        layer, built = self._layer(top, base, notify)
        return Environment(
            key=layer.key,
            executable=layer.executable,
            python=self._companions.interpreter.version,
            lock=top if base_lock == self._companions.shared else (*top, *base_lock),
            seconds={"resolve": resolve_seconds, "build": time.monotonic() - started},
            reused=not (base_built or built),
            isolation=isolation(self._processes, self._home).value,
        )

    def _notify(self, version: str, note: str) -> None:
        self._listener.notify(Event(kind=EventKind.NOTE, release=version, detail=note))

    def _layers(self, lock: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Split a lock into the package under test and the rest; the rest is the timeline's own set where it fits."""
        package = canonicalize_name(self._companions.wanted.package)
        siblings = {package, canonicalize_name(import_name(package))}
        top = tuple(line for line in lock if name_of(line) in siblings)
        rest = {line for line in lock if name_of(line) not in siblings}
        shared = self._companions.lock
        fits = self._companions.mode is Mode.FIXED and {pin_of(x) for x in rest} <= {pin_of(x) for x in shared}
        return top, self._companions.shared if fits else (*sorted(rest), *self._companions.data_lock)

    def _layer(self, lock: Sequence[str], base: Layer | None, notify: Callable[[str], None]) -> tuple[Layer, bool]:
        """Return a sealed layer and whether it had to be built; safe for several harnesses at once."""
        key = layer_key(lock, base.key if base else "", self._companions.interpreter.path)
        folder = self._home.folder("environments", key)
        if base is None and key in self._bases and read_seal(folder) == self._bases[key]:
            return self._bases[key], False
        kind = isolation(self._processes, self._home)
        installer = Installer(self._processes, self._companions.interpreter.path, self._home, kind)
        with self._alone(key, notify), disk_errors(folder, "set HARNESS_HOME to a folder that can be written"):
            layer = sealed(folder, base.site if base else "")
            built = layer is None
            if layer is None:
                layer = installer.build(key, folder, lock, base, notify)
        if base is None:
            self._bases[key] = layer
        return layer, built

    @contextmanager
    def _alone(self, key: str, notify: Callable[[str], None]) -> Iterator[None]:
        """Lock one layer; the listener learns when another harness has it, and the wait can be interrupted."""
        lock = FileLock(self._home.folder("locks") / f"{key}.lock")
        waiting = False
        while True:
            self._processes.check_open()
            try:
                with disk_errors(Path(lock.lock_file), "set HARNESS_HOME to a folder that can be written"):
                    lock.acquire(timeout=LOCK_POLL_SECONDS)
                break
            except Timeout:
                if not waiting:
                    notify("another harness is building this environment: waiting for it")
                waiting = True
        try:
            yield
        finally:
            lock.release()
