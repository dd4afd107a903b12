"""Resolve requirements with uv; the harness has no resolver of its own."""

from __future__ import annotations

import re
import sys
import sysconfig
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from shutil import which

from harness.adapters.environments.failures import Stale, known_conflict, release_failure, retried
from harness.adapters.index.listings import Listings
from harness.adapters.processes import child_env
from harness.adapters.processes.process import Ended, Processes
from harness.adapters.processes.redaction import clean, remember, restored
from harness.adapters.processes.room import check_room, installer_cache
from harness.adapters.storage.home import Home
from harness.domain.errors import HarnessError, InfrastructureError
from harness.domain.releases.companions import exact, name_of

RESOLVE_SECONDS = 300.0


class Unsatisfiable(HarnessError):
    """No set of packages fits; `what` is uv's own explanation."""


def uv_program() -> str:
    """Path of the uv that came with the harness, else the one on PATH."""
    beside = Path(sysconfig.get_path("scripts")) / "uv"
    found = str(beside) if beside.exists() else which("uv", path=str(Path(sys.executable).parent)) or which("uv")
    if not found:
        raise InfrastructureError("uv was not found", hint="install it: python -m pip install uv")
    return found


class Resolver:
    """Turns requirements into a lock: one pinned requirement with its hashes per line."""

    def __init__(self, processes: Processes, home: Home, uv: str) -> None:
        self._processes = processes
        self._home = home
        self._uv = uv
        self.listings = Listings(home)

    def lock(
        self,
        requirements: Sequence[str],
        *,
        python: str,
        constraints: Iterable[str] = (),
        preferred: Iterable[str] = (),
        overrides: Iterable[str] = (),
        without_dependencies: bool = False,
        exclude_newer: str | None = None,
        prefer_offline: bool = False,
        pages_are_new: bool = False,
        notify: Callable[[str], None] = lambda _: None,
    ) -> tuple[str, ...]:
        """Resolve and return the lock.

        Args:
            requirements: What to install; a release under test by its `exact_requirement`.
            python: Path of the interpreter the lock is for.
            constraints: Pins of packages, in force only where the package is needed; each takes its version alone.
            preferred: Locked lines that are taken wherever they fit: uv keeps what an earlier lock holds.
            overrides: Requirements that replace those of the packages.
            without_dependencies: Lock the named packages alone.
            exclude_newer: RFC 3339 time; files uploaded later do not exist.
            prefer_offline: Try the cache first; right where everything is pinned, and 50 times faster.
            pages_are_new: uv has just read every page that this needs; then a conflict among the cached ones is one.
            notify: Called with each attempt that failed.

        Raises:
            Unsatisfiable: with uv's explanation; what it says of the index is what the index itself says now.
            InfrastructureError: the index or the disk failed.
        """
        check_room(self._home, "resolving", [installer_cache()])
        flags = ["--no-deps"] if without_dependencies else []
        flags += ["--exclude-newer", exclude_newer] if exclude_newer else []
        with self._home.scratch() as scratch:
            (scratch / "requirements.in").write_text(_lines(requirements), encoding="utf-8")
            (scratch / "constraints").write_text(_lines(map(exact, constraints)), encoding="utf-8")
            (scratch / "overrides").write_text(_lines(overrides), encoding="utf-8")
            (scratch / "lock").write_text(_lines(preferred), encoding="utf-8")
            command = [
                self._uv, "pip", "compile", "requirements.in", "-c", "constraints", "--override", "overrides",
                "--python", python, "--generate-hashes", "--no-header",
                "--no-annotate", "--quiet", "--output-file", "lock", *flags,
            ]  # fmt: skip
            if (prefer_offline or pages_are_new) and (
                lock := self._offline([*command, "--offline"], scratch, conflicts_count=pages_are_new)
            ) is not None:
                return lock
            before = datetime.fromisoformat(exclude_newer.replace("Z", "+00:00")) if exclude_newer else None
            anew: list[str] = []  # packages of which uv holds a wrong page
            attempt = partial(self._with_new_pages, command, scratch, anew, before)
            lock = retried(attempt, self._processes, notify)
        self.listings.remember(map(name_of, lock))
        return lock

    def _with_new_pages(
        self, command: Sequence[str], scratch: Path, anew: list[str], before: datetime | None
    ) -> tuple[str, ...]:
        """Resolve; where uv read another page than the index has now, it reads that one at once."""
        try:
            return self._compile([*command, *_refreshing(anew)], scratch, before)
        except Stale as stale:
            anew += stale.packages
            if not stale.at_once:
                raise
        return self._compile([*command, *_refreshing(anew)], scratch, before)

    def _offline(self, command: Sequence[str], scratch: Path, *, conflicts_count: bool) -> tuple[str, ...] | None:
        """The lock as the cache gives it; None where that does not suffice."""
        ended, lock = self._run(command, scratch)
        if conflicts_count and ended.exit_code != 0 and (conflict := known_conflict(ended)):
            raise Unsatisfiable(conflict)
        return lock if ended.exit_code == 0 else None

    def _compile(self, command: Sequence[str], scratch: Path, before: datetime | None) -> tuple[str, ...]:
        ended, lock = self._run(command, scratch)
        if ended.exit_code == 0:
            return lock
        check_room(self._home, "resolving", [installer_cache()])
        raise Unsatisfiable(release_failure(ended, "resolving", self.listings, before=before)[0])

    def _run(self, command: Sequence[str], scratch: Path) -> tuple[Ended, tuple[str, ...]]:
        """Run uv; returns how it ended, and the lock where it wrote one."""
        log = scratch / f"log-{len(list(scratch.iterdir()))}"
        ended = self._processes.run(
            command, log=log, env=child_env.for_installer(), cwd=scratch, deadline_seconds=RESOLVE_SECONDS
        )
        if ended.exit_code != 0:
            return ended, ()
        lock = read_lock((scratch / "lock").read_text(encoding="utf-8"))
        remember(lock)
        return ended, clean(lock)


def _lines(requirements: Iterable[str]) -> str:
    """Requirements as uv needs them: with their credentials."""
    return "\n".join(map(restored, requirements)) + "\n"


def _refreshing(packages: Iterable[str]) -> list[str]:
    return [word for name in dict.fromkeys(packages) for word in ("--refresh-package", name)]


def read_lock(text: str) -> tuple[str, ...]:
    """Join continued lines and drop comments and blank lines."""
    joined = re.sub(r"\\\s*\n\s*", " ", text)
    return tuple(line.strip() for line in joined.splitlines() if line.strip() and not line.startswith(("#", "--")))
