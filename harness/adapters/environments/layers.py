"""Build one layer of an environment with nox and uv, and seal it once its files are those that were published."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import harness
from harness import codec
from harness.adapters.environments import sealing
from harness.adapters.environments.failures import Stale, release_failure, retried
from harness.adapters.environments.index_faults import Kind
from harness.adapters.environments.resolver import uv_program
from harness.adapters.index.listings import Listings
from harness.adapters.processes import child_env
from harness.adapters.processes.process import Ended, Processes
from harness.adapters.processes.redaction import redacted
from harness.adapters.processes.room import check_room, installer_cache
from harness.adapters.storage.files import write_whole
from harness.adapters.storage.home import Home
from harness.domain.errors import HarnessError, InfrastructureError, Untestable
from harness.domain.releases.companions import exact, name_of

BUILD_SECONDS = 1800.0  # a cold download of TensorFlow on a slow line
REASON_LIMIT = 500  # characters of the installer's explanation
SESSION_FILE = Path(harness.__file__).parent / "environment_noxfile.py"
SEAL = "sealed.json"


@dataclass(frozen=True, kw_only=True)
class Layer:
    """One sealed folder: its interpreter, its packages, the layer below it, and a hash of the state of its files."""

    key: str
    executable: str
    site: str
    fingerprint: str
    base: str = ""


class Installer:
    """Installs layers for one interpreter.

    Args:
        processes: Starts nox and uv.
        python: Path of the interpreter.
        home: The cache folder.
    """

    def __init__(self, processes: Processes, python: str, home: Home) -> None:
        self._processes = processes
        self._python = python
        self._home = home
        self._listings = Listings(home)

    def build(
        self, key: str, folder: Path, lock: Sequence[str], base: Layer | None, notify: Callable[[str], None]
    ) -> Layer:
        """Install, check that every file is as published and belongs to one distribution alone, and seal."""
        anew: list[str] = []  # packages of which uv holds a wrong page
        install = partial(retried, partial(self._install, key, folder, lock, base, anew), self._processes, notify)
        layer = install()
        sealing.check([Path(one.site) for one in (base, layer) if one is not None])  # two owners look like an edit
        if edited := sealing.altered(Path(layer.site)):
            notify(f"the installer's cache holds edited files of {', '.join(edited)}: fetching them again")
            self._forget(edited, folder)
            layer = install()
        write_whole(folder / SEAL, codec.dumps(Layer, layer))
        return layer

    def _install(self, key: str, folder: Path, lock: Sequence[str], base: Layer | None, anew: list[str]) -> Layer:
        """Run the nox session in a new folder: a process of a killed harness may still write to the old one."""
        check_room(self._home, "installing", [installer_cache()])
        (folder / SEAL).unlink(missing_ok=True)
        for old in folder.iterdir():
            if old.is_dir():
                shutil.rmtree(old, ignore_errors=True)
        log = folder / f"build-{len(list(folder.glob('build-*.log'))) + 1}.log"
        attempt = Path(tempfile.mkdtemp(dir=folder))
        answer = attempt / "built.json"
        (attempt / "lock.txt").write_text("\n".join(map(exact, lock)) + "\n", encoding="utf-8")
        recipe = {
            "key": key,
            "python": self._python,
            "requirements": str(attempt / "lock.txt"),
            "flags": ["--quiet", *(word for name in dict.fromkeys(anew) for word in ("--refresh-package", name))],
            "base": base.site if base else "",
            "answer": str(answer),
        }
        (attempt / "recipe.json").write_text(json.dumps(recipe), encoding="utf-8")
        ended = self._run_nox(attempt, log)
        if ended.exit_code != 0 or not answer.exists():
            raise self._build_failure(ended, lock, base, anew)
        built = json.loads(answer.read_text(encoding="utf-8"))
        seen = sealing.fingerprint(Path(built["site"]))
        below = base.site if base else ""
        return Layer(key=key, executable=built["executable"], site=built["site"], fingerprint=seen, base=below)

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
            env=child_env.for_installer(settings),
            cwd=folder,
            deadline_seconds=BUILD_SECONDS,
        )
        printed = log.read_text(encoding="utf-8", errors="replace")
        if redacted(printed) != printed:
            log.write_text(redacted(printed), encoding="utf-8")
        return ended

    def _forget(self, names: Sequence[str], folder: Path) -> None:
        """Drop distributions from the installer's cache."""
        command = [uv_program(), "cache", "clean", "--quiet", *names]
        env = child_env.for_installer()
        self._processes.run(command, log=folder / "forget.log", env=env, cwd=folder, deadline_seconds=BUILD_SECONDS)

    def _build_failure(self, ended: Ended, lock: Sequence[str], base: Layer | None, anew: list[str]) -> HarnessError:
        check_room(self._home, "installing", [installer_cache()])
        if not Path(self._python).exists():
            return InfrastructureError(
                "the interpreter is gone", where=self._python, hint="install it again, or use --python"
            )
        try:
            explained, confirmed = release_failure(ended, "installing", self._listings)
        except Stale as stale:
            anew += stale.packages
            return stale
        for claim, reason in confirmed.items():
            if claim.kind is not Kind.BROKEN and any(name_of(line) == claim.name for line in lock):
                return self._gone(reason, explained, base)
        return Untestable(f"cannot be installed: {explained[:REASON_LIMIT]}")

    @staticmethod
    def _gone(reason: str, explained: str, base: Layer | None) -> HarnessError:
        """What was locked is listed no more: of the release that is its own fault, of a companion it is not."""
        if base is not None:
            return Untestable(f"cannot be installed: {reason}")
        return InfrastructureError(
            f"a companion cannot be installed any more: {reason}",
            where=explained[:REASON_LIMIT],
            hint="choose others (--with), or start the search anew in an hour: then companions are chosen again",
        )


def layer_key(lock: Sequence[str], base_key: str, python: str) -> str:
    """Name of a layer: a hash of its lock, the layer below it, the interpreter, the platform and this version."""
    parts = [*sorted(lock), base_key, python, sys.platform, platform.machine(), harness.__version__]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:20]


def sealed(folder: Path, base: str) -> Layer | None:
    """Return the layer if it was finished, no file was edited since, and its base is still in the same place."""
    try:
        layer = codec.loads(Layer, (folder / SEAL).read_bytes())
        intact = Path(layer.executable).exists() and sealing.fingerprint(Path(layer.site)) == layer.fingerprint
    except (OSError, codec.Malformed):
        return None
    return layer if intact and layer.base == base else None
