"""Which Python interpreters this machine has, and which one an environment should use."""

from __future__ import annotations

import json
import os
import platform
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

from harness.adapters.environments.failures import machine_failure
from harness.adapters.processes import child_env
from harness.adapters.processes.process import Processes
from harness.adapters.storage.home import Home
from harness.domain.errors import InfrastructureError, UsageError
from harness.domain.releases.companions import Interpreter

# Tried in this order after the harness's own: the middle ones have wheels of the most TensorFlow releases.
PREFERRED = ("3.12", "3.11", "3.10", "3.13", "3.9")
_LIST_SECONDS = 60.0
_LIST = re.compile(r"\[\s*[{\]]")  # how a list of objects begins, or an empty one
_FETCH_SECONDS = 300.0


class Interpreters:
    """Finds interpreters with uv, and those of pyenv, which its shims hide."""

    def __init__(self, processes: Processes, home: Home, uv: str) -> None:
        self._processes = processes
        self._home = home
        self._uv = uv
        self._found: list[Interpreter] | None = None

    def candidates(self) -> list[Interpreter]:
        """One interpreter per minor version, the harness's own first."""
        if self._found is None:
            self._found = self._find()
        return self._found

    def named(self, name: str) -> Interpreter:
        """Return the interpreter with this version (3.11 or 3.11.7) or path; raises `UsageError`."""
        for interpreter in self.candidates():
            if name in (interpreter.minor, interpreter.version, interpreter.path):
                return interpreter
        found = ", ".join(i.version for i in self.candidates())
        raise UsageError(f"no Python {name} on this machine", where="--python", hint=f"found: {found}")

    def fetch(self, minor: str) -> Interpreter | None:
        """Let uv fetch an interpreter; None when it cannot (no network, or not published for this platform)."""
        with self._home.scratch() as scratch:
            ended = self._processes.run(
                [self._uv, "python", "install", minor],
                log=scratch / "log",
                env=child_env.for_installer(),
                cwd=scratch,
                deadline_seconds=_FETCH_SECONDS,
            )
        self._found = None
        fitting = [i for i in self.candidates() if i.minor == minor]
        return fitting[0] if ended.exit_code == 0 and fitting else None

    def _find(self) -> list[Interpreter]:
        own = Interpreter(version=platform.python_version(), path=base_executable())
        by_minor = {own.minor: own}
        for interpreter in (*self._of_uv(), *_of_pyenv()):
            by_minor.setdefault(interpreter.minor, interpreter)
        order = [own.minor, *PREFERRED]
        rank = {minor: place for place, minor in reversed(list(enumerate(order)))}
        return sorted(by_minor.values(), key=lambda i: (rank.get(i.minor, len(order)), i.version))

    def _of_uv(self) -> list[Interpreter]:
        with self._home.scratch() as scratch:
            ended = self._processes.run(
                [self._uv, "python", "list", "--only-installed", "--output-format", "json"],
                log=scratch / "log",
                env=child_env.for_installer(),
                cwd=scratch,
                deadline_seconds=_LIST_SECONDS,
            )
            found = _read_list(ended.log.read_text(encoding="utf-8", errors="replace"))
            if ended.exit_code != 0 or found is None:
                how = f"was not done after {_LIST_SECONDS:.0f} s" if ended.timed_out else f"failed ({ended.exit_code})"
                raise machine_failure(ended, "listing the interpreters") or InfrastructureError(
                    f"uv python list {how}: which interpreters this machine has is not known",
                    where=" ".join(ended.tail.split())[-500:] or self._uv,
                    hint="run it alone: uv python list --only-installed",
                )
            return found


def base_executable() -> str:
    """The interpreter behind the harness's virtual environment."""
    return str(Path(getattr(sys, "_base_executable", None) or sys.executable).resolve())


def _read_list(text: str) -> list[Interpreter] | None:
    """Read uv's list; warnings may come before and after it, for ``--quiet`` would leave out the list too.

    None: there is no list.
    """
    found = [rows for start in _LIST.finditer(text) if (rows := _rows(text[start.start() :])) is not None]
    if not found:
        return None
    rows = max(found, key=len)
    return [
        Interpreter(version=row["version"], path=row["path"])
        for row in rows
        if row.get("implementation") == "cpython"
        and row.get("variant", "default") == "default"
        and row.get("path")
        and not _is_shim(row["path"])
        and _final(row.get("version", ""))
    ]


def _rows(text: str) -> list[dict[str, Any]] | None:
    try:
        rows = json.JSONDecoder().raw_decode(text)[0]
    except (ValueError, RecursionError):
        return None
    return rows if isinstance(rows, list) and all(isinstance(row, dict) for row in rows) else None


def _is_shim(path: str) -> bool:
    """Whether it is a script that chooses an interpreter by the folder that it is called in, as pyenv's are."""
    return Path(path).parent.name == "shims"


def _of_pyenv() -> Sequence[Interpreter]:
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    found = [
        Interpreter(version=folder.name, path=str(folder / "bin" / "python3"))
        for folder in sorted(root.glob("3.*"), reverse=True)
        if re.fullmatch(r"3\.\d+\.\d+", folder.name) and (folder / "bin" / "python3").exists()
    ]
    return [interpreter for interpreter in found if Version(interpreter.version) >= Version("3.9")]


def _final(text: str) -> bool:
    try:
        version = Version(text)
    except InvalidVersion:
        return False
    return not version.is_prerelease and version >= Version("3.9")
