"""Build the environment of one release with nox and uv: a base of companions, and a thin layer on top.

    base   companions of the whole timeline, byte-compiled once
      ^    (_companions.pth)
    top    the package under test alone: 15 MB and under a second per release

Both are named by a hash of their lock, the interpreter and the platform, and count only once sealed.
"""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock
from packaging.utils import canonicalize_name

import harness
from harness.core.cases import import_name
from harness.core.errors import SurroundingsError, Untestable
from harness.core.releases import Release
from harness.edge import codec, sealing, surroundings
from harness.edge.companions import Companions, Mode, Planner
from harness.edge.home import Home
from harness.edge.index import index_address
from harness.edge.process import Ended, Processes
from harness.edge.resolver import Unsatisfiable, name_of, pin_of
from harness.seams import Environment

BUILD_SECONDS = 1800.0  # a cold download of TensorFlow on a slow line
SESSION_FILE = Path(harness.__file__).parent / "environment_noxfile.py"
SEAL = "sealed.json"


@dataclass(frozen=True, kw_only=True)
class Layer:
    """One sealed folder: where its interpreter and packages are, and what its files looked like."""

    key: str
    executable: str
    site: str
    fingerprint: str


class NoxEnvironments:
    """Builds environments on demand and shares them between runs and checkouts."""

    def __init__(self, processes: Processes, home: Home, planner: Planner, companions: Companions) -> None:
        self._processes = processes
        self._home = home
        self._planner = planner
        self._companions = companions
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
        started = time.monotonic()
        try:
            lock = self._planner.lock_for(self._companions, release)
        except Unsatisfiable as failure:
            raise Untestable(f"cannot be installed with these companions: {failure.what[:500]}") from failure
        return self._assemble(*self._layers(lock), resolve_seconds=time.monotonic() - started)

    def restore(self, recorded: Environment) -> Environment:
        """Build again exactly what a journal recorded, without resolving anything.

        Raises:
            Untestable: a package of its lock can no longer be installed.
            SurroundingsError: index, disk or nox failed.
        """
        return self._assemble(*self._layers(recorded.lock), resolve_seconds=0.0)

    def _assemble(self, top: tuple[str, ...], base_lock: tuple[str, ...], *, resolve_seconds: float) -> Environment:
        started = time.monotonic()
        base, base_built = self._layer(base_lock, None)
        layer, built = self._layer(top, base)
        ready = time.monotonic()
        if base_built or built:
            sealing.check([Path(base.site), Path(layer.site)])
        return Environment(
            key=layer.key,
            executable=layer.executable,
            python=self._companions.interpreter.version,
            lock=top if base_lock == self._companions.shared else (*top, *base_lock),
            seconds={"resolve": resolve_seconds, "build": ready - started, "seal": time.monotonic() - ready},
            reused=not (base_built or built),
        )

    def _layers(self, lock: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Split a lock into the package under test and the rest; the rest is the timeline's own set where it fits."""
        package = canonicalize_name(self._companions.wanted.package)
        siblings = {package, canonicalize_name(import_name(package))}
        top = tuple(line for line in lock if name_of(line) in siblings)
        rest = {line for line in lock if name_of(line) not in siblings}
        shared = self._companions.lock
        fits = self._companions.mode is Mode.FIXED and {pin_of(x) for x in rest} <= {pin_of(x) for x in shared}
        return top, self._companions.shared if fits else (*sorted(rest), *self._companions.data_lock)

    def _layer(self, lock: Sequence[str], base: Layer | None) -> tuple[Layer, bool]:
        """Return a sealed layer and whether it had to be built; safe for several harnesses at once."""
        key = layer_key(lock, base.key if base else "", self._companions.interpreter.path)
        if base is None and key in self._bases:
            return self._bases[key], False
        folder = self._home.folder("environments") / key
        with FileLock(self._home.folder("locks") / f"{key}.lock"):
            layer = _sealed(folder)
            built = layer is None
            if layer is None:
                layer = self._build(key, folder, lock, base)
        if base is None:
            self._bases[key] = layer
        return layer, built

    def _build(self, key: str, folder: Path, lock: Sequence[str], base: Layer | None) -> Layer:
        if folder.exists():  # half built by a harness that was killed, or edited since
            shutil.rmtree(folder)
        folder.mkdir(parents=True)
        answer = folder / "built.json"
        (folder / "lock.txt").write_text("\n".join(lock) + "\n", encoding="utf-8")
        recipe = {
            "key": key,
            "python": self._companions.interpreter.path,
            "requirements": str(folder / "lock.txt"),
            "flags": ["--default-index", index_address(), "--quiet"],
            "base": base.site if base else "",
            "answer": str(answer),
        }
        (folder / "recipe.json").write_text(json.dumps(recipe), encoding="utf-8")
        ended = self._run_nox(folder)
        if ended.exit_code != 0 or not answer.exists():
            raise _build_failure(ended, folder)
        built = json.loads(answer.read_text(encoding="utf-8"))
        layer = Layer(
            key=key,
            executable=built["executable"],
            site=built["site"],
            fingerprint=sealing.fingerprint(Path(built["site"])),
        )
        codec.write_whole(folder / SEAL, codec.dumps(Layer, layer))
        return layer

    def _run_nox(self, folder: Path) -> Ended:
        command = [
            sys.executable, "-m", "nox", "-f", str(SESSION_FILE), "--envdir", str(folder), "-s", "repro",
            "--install-only", "--error-on-missing-interpreters", "--no-stop-on-first-error",
        ]  # fmt: skip
        return self._processes.run(
            command,
            log=folder / "build.log",
            env=surroundings.for_installer({"HARNESS_RECIPE": str(folder / "recipe.json"), "NO_COLOR": "1"}),
            cwd=folder,
            deadline_seconds=BUILD_SECONDS,
        )


def layer_key(lock: Sequence[str], base_key: str, python: str) -> str:
    """Name of a layer: its lock, what it stands on, the interpreter and the platform."""
    parts = [*sorted(lock), base_key, python, sys.platform, platform.machine(), harness.__version__]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:20]


def _sealed(folder: Path) -> Layer | None:
    """Return the layer if it was finished and nobody has edited it since."""
    try:
        layer = codec.loads(Layer, (folder / SEAL).read_bytes())
    except (OSError, codec.Malformed):
        return None
    intact = Path(layer.executable).exists() and sealing.fingerprint(Path(layer.site)) == layer.fingerprint
    return layer if intact else None


def _build_failure(ended: Ended, folder: Path) -> Untestable | SurroundingsError:
    tail = " ".join(line.strip() for line in ended.tail.splitlines() if line.strip())[-700:]
    if "No space left" in tail:
        return SurroundingsError("the disk is full", where=str(folder), hint="free some space and resume")
    if ended.timed_out or any(
        word in tail for word in ("error sending request", "dns error", "timed out", "Failed to fetch")
    ):
        return SurroundingsError(
            "the package index did not answer while installing", where=str(ended.log), hint="run the same command again"
        )
    return Untestable(f"cannot be installed: {tail}")
