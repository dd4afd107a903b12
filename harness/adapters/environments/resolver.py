"""Resolve requirements with uv; the harness has no resolver of its own."""

from __future__ import annotations

import contextlib
import re
import sys
import sysconfig
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from shutil import which

from harness.adapters.environments.failures import explanation, infrastructure_failure, retried
from harness.adapters.processes import child_env
from harness.adapters.processes.process import Processes
from harness.adapters.processes.redaction import clean, remember, restored
from harness.adapters.storage.home import Home
from harness.domain.errors import HarnessError, InfrastructureError

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

    def lock(
        self,
        requirements: Sequence[str],
        *,
        python: str,
        constraints: Iterable[str] = (),
        overrides: Iterable[str] = (),
        without_dependencies: bool = False,
        exclude_newer: str | None = None,
        prefer_offline: bool = False,
        refresh: Iterable[str] = (),
        notify: Callable[[str], None] = lambda _: None,
    ) -> tuple[str, ...]:
        """Resolve and return the lock.

        Args:
            requirements: What to install.
            python: Path of the interpreter the lock is for.
            constraints: Pins of packages, in force only where the package is needed.
            overrides: Requirements that replace those of the packages.
            without_dependencies: Lock the named packages alone.
            exclude_newer: RFC 3339 time; files uploaded later do not exist.
            prefer_offline: Try the cache first; right where everything is pinned, and 50 times faster.
            refresh: Packages whose cached index page is fetched again.
            notify: Called with each attempt that failed.

        Raises:
            Unsatisfiable: with uv's explanation.
            InfrastructureError: the index or the disk failed.
        """
        flags = ["--no-deps"] if without_dependencies else []
        flags += ["--exclude-newer", exclude_newer] if exclude_newer else []
        flags += [word for name in refresh for word in ("--refresh-package", name)]
        with self._home.scratch() as scratch:
            (scratch / "requirements.in").write_text(_lines(requirements), encoding="utf-8")
            (scratch / "constraints").write_text(_lines(constraints), encoding="utf-8")
            (scratch / "overrides").write_text(_lines(overrides), encoding="utf-8")
            command = [
                self._uv, "pip", "compile", "requirements.in", "-c", "constraints", "--override", "overrides",
                "--python", python, "--generate-hashes", "--no-header",
                "--no-annotate", "--quiet", "--output-file", "lock", *flags,
            ]  # fmt: skip
            if prefer_offline:
                with contextlib.suppress(Unsatisfiable, InfrastructureError):
                    return self._compile([*command, "--offline"], scratch)
            return retried(lambda: self._compile(command, scratch), self._processes, notify)

    def _compile(self, command: list[str], scratch: Path) -> tuple[str, ...]:
        log = scratch / f"log-{len(list(scratch.iterdir()))}"
        ended = self._processes.run(
            command, log=log, env=child_env.for_installer(), cwd=scratch, deadline_seconds=RESOLVE_SECONDS
        )
        if ended.exit_code != 0:
            raise infrastructure_failure(ended, "resolving") or Unsatisfiable(explanation(ended.tail))
        lock = read_lock((scratch / "lock").read_text(encoding="utf-8"))
        remember(lock)
        return clean(lock)


def _lines(requirements: Iterable[str]) -> str:
    """Requirements as uv needs them: with their credentials."""
    return "\n".join(map(restored, requirements)) + "\n"


def read_lock(text: str) -> tuple[str, ...]:
    """Join continued lines and drop comments and blank lines."""
    joined = re.sub(r"\\\s*\n\s*", " ", text)
    return tuple(line.strip() for line in joined.splitlines() if line.strip() and not line.startswith(("#", "--")))
