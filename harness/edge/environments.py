"""Build the environment of one release with nox and uv: a base of companions, and a thin layer on top.

    base   companions of the whole timeline, byte-compiled once
      ^    (_companions.pth)
    top    the package under test alone: 15 MB and under a second per release

Both are named by a hash of their lock, the interpreter and the platform, and count only once sealed.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from filelock import FileLock, Timeout
from packaging.utils import canonicalize_name

import harness
from harness.core.distributions import import_name
from harness.core.errors import HarnessError, SurroundingsError, Untestable
from harness.core.releases import Release
from harness.edge import codec, sealing, surroundings
from harness.edge.companions import Companions, Mode
from harness.edge.failures import explanation, retried, surroundings_failure
from harness.edge.home import Home, disk_errors
from harness.edge.masking import masked
from harness.edge.planning import Planner
from harness.edge.process import Ended, Processes
from harness.edge.resolver import Unsatisfiable, name_of, pin_of, uv_program
from harness.seams import Environment, Event, Listener

BUILD_SECONDS = 1800.0  # a cold download of TensorFlow on a slow line
LOCK_POLL_SECONDS = 0.5
REASON_LIMIT = 500  # characters of the installer's explanation that are kept
SESSION_FILE = Path(harness.__file__).parent / "environment_noxfile.py"
SEAL = "sealed.json"


@dataclass(frozen=True, kw_only=True)
class Layer:
    """One sealed folder: where its interpreter and packages are, what it stands on, what its files looked like."""

    key: str
    executable: str
    site: str
    fingerprint: str
    base: str = ""


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

    def prepare(self, release: Release) -> Environment:
        """Resolve, build and seal the environment of one release, or find it in the cache.

        Raises:
            Untestable: it cannot be resolved, built or sealed, with the reason.
            SurroundingsError: index, disk or nox failed.
        """
        python = self._companions.interpreter
        if not release.accepts_python(python.version):
            raise Untestable(f"requires Python {release.requires_python}; the timeline runs on {python.version}")
        tell = partial(self._tell, release.version)
        started = time.monotonic()
        try:
            lock = self._planner.lock_for(self._companions, release, tell)
        except Unsatisfiable as failure:
            raise Untestable(f"cannot be installed with these companions: {failure.what[:500]}") from failure
        resolve_seconds = time.monotonic() - started
        return self._assemble(*self._layers(lock), tell, resolve_seconds=resolve_seconds)

    def restore(self, recorded: Environment) -> Environment:
        """Build again exactly what a journal recorded, without resolving anything.

        Raises:
            Untestable: a package of its lock can no longer be installed.
            SurroundingsError: index, disk or nox failed.
        """
        return self._assemble(*self._layers(recorded.lock), partial(self._tell, recorded.key), resolve_seconds=0.0)

    def _assemble(
        self, top: tuple[str, ...], base_lock: tuple[str, ...], tell: Callable[[str], None], *, resolve_seconds: float
    ) -> Environment:
        started = time.monotonic()
        base, base_built = self._layer(base_lock, None, tell)
        layer, built = self._layer(top, base, tell)
        return Environment(
            key=layer.key,
            executable=layer.executable,
            python=self._companions.interpreter.version,
            lock=top if base_lock == self._companions.shared else (*top, *base_lock),
            seconds={"resolve": resolve_seconds, "build": time.monotonic() - started},
            reused=not (base_built or built),
        )

    def _tell(self, version: str, note: str) -> None:
        self._listener.notify(Event(kind="note", release=version, detail=note))

    def _layers(self, lock: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Split a lock into the package under test and the rest; the rest is the timeline's own set where it fits."""
        package = canonicalize_name(self._companions.wanted.package)
        siblings = {package, canonicalize_name(import_name(package))}
        top = tuple(line for line in lock if name_of(line) in siblings)
        rest = {line for line in lock if name_of(line) not in siblings}
        shared = self._companions.lock
        fits = self._companions.mode is Mode.FIXED and {pin_of(x) for x in rest} <= {pin_of(x) for x in shared}
        return top, self._companions.shared if fits else (*sorted(rest), *self._companions.data_lock)

    def _layer(self, lock: Sequence[str], base: Layer | None, tell: Callable[[str], None]) -> tuple[Layer, bool]:
        """Return a sealed layer and whether it had to be built; safe for several harnesses at once."""
        key = layer_key(lock, base.key if base else "", self._companions.interpreter.path)
        if base is None and key in self._bases:
            return self._bases[key], False
        folder = self._home.folder("environments", key)
        with self._alone(key, tell), disk_errors(folder, "set HARNESS_HOME to a folder that can be written"):
            layer = _sealed(folder, base.site if base else "")
            built = layer is None
            if layer is None:
                layer = self._build(key, folder, lock, base, tell)
        if base is None:
            self._bases[key] = layer
        return layer, built

    @contextmanager
    def _alone(self, key: str, tell: Callable[[str], None]) -> Iterator[None]:
        """Hold the lock of one layer; says so when another harness holds it, and can be interrupted."""
        lock = FileLock(self._home.folder("locks") / f"{key}.lock")
        tell_once = iter([tell])
        while True:
            self._processes.check_open()
            try:
                lock.acquire(timeout=LOCK_POLL_SECONDS)
                break
            except Timeout:
                for first in tell_once:
                    first("another harness is building this environment: waiting for it")
        try:
            yield
        finally:
            lock.release()

    def _build(
        self, key: str, folder: Path, lock: Sequence[str], base: Layer | None, tell: Callable[[str], None]
    ) -> Layer:
        """Install until the files are those that were published, check that none has two owners, and seal."""
        install = partial(retried, partial(self._install, key, folder, lock, base), self._processes, tell)
        layer = install()
        if edited := sealing.altered(Path(layer.site)):
            tell(f"the installer's cache holds edited files of {', '.join(edited)}: fetching them again")
            self._forget(edited, folder)
            layer = install()
        sealing.check([Path(one.site) for one in (base, layer) if one is not None])
        codec.write_whole(folder / SEAL, codec.dumps(Layer, layer))
        return layer

    def _install(self, key: str, folder: Path, lock: Sequence[str], base: Layer | None) -> Layer:
        """Run the nox session in a folder that nobody else writes to, not even what a killed harness left behind."""
        (folder / SEAL).unlink(missing_ok=True)
        for old in folder.iterdir():
            if old.is_dir():
                shutil.rmtree(old, ignore_errors=True)
        log = folder / f"build-{len(list(folder.glob('build-*.log'))) + 1}.log"
        attempt = Path(tempfile.mkdtemp(dir=folder))
        answer = attempt / "built.json"
        (attempt / "lock.txt").write_text("\n".join(lock) + "\n", encoding="utf-8")
        recipe = {
            "key": key,
            "python": self._companions.interpreter.path,
            "requirements": str(attempt / "lock.txt"),
            "flags": ["--quiet"],
            "base": base.site if base else "",
            "answer": str(answer),
        }
        (attempt / "recipe.json").write_text(json.dumps(recipe), encoding="utf-8")
        ended = self._run_nox(attempt, log)
        if ended.exit_code != 0 or not answer.exists():
            raise self._build_failure(ended)
        built = json.loads(answer.read_text(encoding="utf-8"))
        seen = sealing.fingerprint(Path(built["site"]))
        stands_on = base.site if base else ""
        return Layer(key=key, executable=built["executable"], site=built["site"], fingerprint=seen, base=stands_on)

    def _run_nox(self, folder: Path, log: Path) -> Ended:
        command = [
            sys.executable, "-m", "nox", "-f", str(SESSION_FILE), "--envdir", str(folder), "-s", "repro",
            "--install-only", "--error-on-missing-interpreters", "--no-stop-on-first-error",
        ]  # fmt: skip
        settings = {
            "HARNESS_RECIPE": str(folder / "recipe.json"),
            "HARNESS_PARENT": str(os.getpid()),
            "NO_COLOR": "1",
        }
        ended = self._processes.run(
            command,
            log=log,
            env=surroundings.for_installer(settings),
            cwd=folder,
            deadline_seconds=BUILD_SECONDS,
        )
        printed = log.read_text(encoding="utf-8", errors="replace")
        if masked(printed) != printed:
            log.write_text(masked(printed), encoding="utf-8")
        return ended

    def _forget(self, names: Sequence[str], folder: Path) -> None:
        """Drop distributions from the installer's cache."""
        command = [uv_program(), "cache", "clean", "--quiet", *names]
        env = surroundings.for_installer()
        self._processes.run(command, log=folder / "forget.log", env=env, cwd=folder, deadline_seconds=BUILD_SECONDS)

    def _build_failure(self, ended: Ended) -> HarnessError:
        python = self._companions.interpreter.path
        if not Path(python).exists():
            return SurroundingsError("the interpreter is gone", where=python, hint="install it again, or use --python")
        failure = surroundings_failure(ended, "installing")
        return failure or Untestable(f"cannot be installed: {explanation(ended.tail)[:REASON_LIMIT]}")


def layer_key(lock: Sequence[str], base_key: str, python: str) -> str:
    """Name of a layer: its lock, what it stands on, the interpreter and the platform."""
    parts = [*sorted(lock), base_key, python, sys.platform, platform.machine(), harness.__version__]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:20]


def _sealed(folder: Path, base: str) -> Layer | None:
    """Return the layer if it was finished, nobody edited it since, and its base still lies where it did."""
    try:
        layer = codec.loads(Layer, (folder / SEAL).read_bytes())
        intact = Path(layer.executable).exists() and sealing.fingerprint(Path(layer.site)) == layer.fingerprint
    except (OSError, codec.Malformed):
        return None
    return layer if intact and layer.base == base else None
