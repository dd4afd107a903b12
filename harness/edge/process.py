"""The only module that starts processes: no shell, bounded output, own group, ended with the harness."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from harness.core.errors import SurroundingsError

GRACE_SECONDS = 5.0  # between asking a process to end and killing its group
TAIL_BYTES = 16_384


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a process ended: its exit code (negative: the signal), duration, and the log it wrote."""

    exit_code: int
    seconds: float
    timed_out: bool
    log: Path

    @property
    def tail(self) -> str:
        """The end of what it printed."""
        with contextlib.suppress(OSError), self.log.open("rb") as file:
            file.seek(max(0, self.log.stat().st_size - TAIL_BYTES))
            return file.read().decode("utf-8", "replace")
        return ""


class Processes:
    """Starts processes and can end all of them at once.

    Output goes to a file, never through a pipe of ours, so a process that prints megabytes cannot block.
    """

    def __init__(self) -> None:
        self._live: set[subprocess.Popen[bytes]] = set()
        self._guard = threading.Lock()
        self._closed = False

    def run(
        self,
        command: Sequence[str],
        *,
        log: Path,
        env: Mapping[str, str],
        cwd: Path,
        deadline_seconds: float,
        stdin: bytes | None = None,
    ) -> Ended:
        """Run one command to its end or its deadline and return how it ended.

        Raises:
            SurroundingsError: the program cannot be started, or the harness is being ended.
        """
        started = time.monotonic()
        with log.open("ab") as output:
            process = self._start(command, output.fileno(), env, cwd, stdin is not None)
        try:
            timed_out = self._wait(process, deadline_seconds, stdin)
        finally:
            self._end(process)
            with self._guard:
                self._live.discard(process)
        return Ended(exit_code=process.returncode, seconds=time.monotonic() - started, timed_out=timed_out, log=log)

    def end_all(self) -> None:
        """End every live process and refuse to start new ones."""
        with self._guard:
            self._closed = True
            live = list(self._live)
        for process in live:
            self._end(process)

    def _start(
        self, command: Sequence[str], output: int, env: Mapping[str, str], cwd: Path, feed: bool
    ) -> subprocess.Popen[bytes]:
        with self._guard:
            if self._closed:
                raise SurroundingsError("the harness is being ended")
            try:
                process = subprocess.Popen(
                    list(command),
                    stdin=subprocess.PIPE if feed else subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env=dict(env),
                    cwd=cwd,
                    start_new_session=True,
                )
            except OSError as error:
                raise SurroundingsError(
                    f"cannot start {Path(command[0]).name}: {error.strerror}",
                    where=command[0],
                    hint="is it installed and executable?",
                ) from error
            self._live.add(process)
            return process

    @staticmethod
    def _wait(process: subprocess.Popen[bytes], deadline_seconds: float, stdin: bytes | None) -> bool:
        try:
            process.communicate(stdin, timeout=deadline_seconds)
        except subprocess.TimeoutExpired:
            return True
        return False

    @staticmethod
    def _end(process: subprocess.Popen[bytes]) -> None:
        """End the group and everything below it; ask first, so that a probe can end its own children."""
        if process.poll() is None:
            children = _descendants(process.pid)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(GRACE_SECONDS)
            for child in children:
                with contextlib.suppress(psutil.Error):
                    child.kill()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _descendants(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return []
