"""The only module that starts processes: no shell, output to a file, own session, ended with the harness.

A process can leave its group (setsid) and its parents (fork twice), and clear its environment. So each command runs
below a `reaper`, which ends whatever is left of it in the best way that the system offers. Each process carries a mark
in its environment too: what still carries it at the end, because the reaper itself was killed, is ended as well.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import psutil

from harness.adapters.processes import reaper
from harness.adapters.processes.bounded_log import BoundedLog
from harness.adapters.processes.redaction import redacted
from harness.adapters.storage.files import disk_errors
from harness.domain.errors import InfrastructureError, Interrupted

MARK = "HARNESS_PROCESS"
GRACE_SECONDS = 5.0  # between asking a process to end and killing its group
TAIL_BYTES = 16_384
REAPING_SECONDS = 25.0  # what the reaper may need beyond the grace to end what is left
ROUNDS = 10  # of killing what a process left behind


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a process ended.

    Attributes:
        exit_code: Its exit code (negative: the signal).
        seconds: How long it ran.
        timed_out: Whether it was ended at its deadline.
        log: What it printed.
        unwritten: Why the log could not be written to its end; None where it was.
        kept: The end of what it printed, where the log could not be written.
    """

    exit_code: int
    seconds: float
    timed_out: bool
    log: Path
    unwritten: OSError | None = None
    kept: bytes = b""

    @property
    def tail(self) -> str:
        """The end of what it printed, without secrets."""
        if self.unwritten is not None:
            return redacted(self.kept.decode("utf-8", "replace"))
        with contextlib.suppress(OSError), self.log.open("rb") as file:
            file.seek(max(0, self.log.stat().st_size - TAIL_BYTES))
            return redacted(file.read().decode("utf-8", "replace"))
        return ""


class Processes:
    """Starts processes and can end all of them at once.

    Of a long output only the beginning and the end are written, so a process that prints without end fills no disk.

    Args:
        ways: How processes may be contained, the first that works is used; see `reaper`.
    """

    def __init__(self, ways: Sequence[str] = reaper.WAYS) -> None:
        self._ways = ",".join(ways)
        self._live: set[subprocess.Popen[bytes]] = set()
        self._guard = threading.Lock()
        self._mark = uuid.uuid4().hex
        self.ended = threading.Event()
        _hear_of_children()

    @cached_property
    def containment(self) -> str:
        """How processes are contained on this system: ``pid-namespace``, ``cgroup``, ``subreaper`` or ``group``."""
        asking = subprocess.run(
            [sys.executable, "-I", "-S", reaper.__file__, "--which", self._ways],
            env={}, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return asking.stdout.strip() or "group"

    def run(
        self,
        command: Sequence[str],
        *,
        log: Path,
        env: Mapping[str, str],
        cwd: Path,
        deadline_seconds: float,
        stdin: bytes | None = None,
        whole: bool = False,
    ) -> Ended:
        """Run one command to its end or its deadline and return how it ended.

        Args:
            command: Program and arguments.
            log: What it prints is appended here.
            env: Its environment.
            cwd: Its working directory.
            deadline_seconds: When its group is ended.
            stdin: What it is given to read.
            whole: Write all that it prints, because that is the result; else the middle may be left out.

        Raises:
            InfrastructureError: the program cannot be started.
            Interrupted: the harness is being ended, so how the process ended means nothing.
        """
        started = time.monotonic()
        mark = f"{self._mark}-{uuid.uuid4().hex}"
        with disk_errors(log, "free some space"), BoundedLog(log, whole=whole) as output:
            process = self._start(command, output.writer, {**env, MARK: mark}, cwd, feed=stdin is not None)
            output.handed_over()
            try:
                timed_out = self._wait(process, deadline_seconds, stdin)
            finally:
                self._end(process)
                if self._may_have_left(process):
                    _end_marked(mark)
                with self._guard:
                    self._live.discard(process)
        self.check_open()
        return Ended(
            exit_code=process.returncode,
            seconds=time.monotonic() - started,
            timed_out=timed_out,
            log=log,
            unwritten=output.failure,
            kept=output.last,
        )

    def _may_have_left(self, process: subprocess.Popen[bytes]) -> bool:
        """Whether the reaper was killed, or cannot know what was left behind."""
        return process.returncode == -signal.SIGKILL or self._ways == "group" or sys.platform != "linux"

    def check_open(self) -> None:
        """Raise `Interrupted` when the harness is being ended."""
        if self.ended.is_set():
            raise Interrupted("the harness is being ended")

    def end_all(self) -> None:
        """End every live process and refuse to start new ones."""
        self.ended.set()
        with self._guard:
            live = list(self._live)
        for process in live:
            self._end(process)
        _end_marked(self._mark)

    def _start(
        self, command: Sequence[str], output: int, env: Mapping[str, str], cwd: Path, *, feed: bool
    ) -> subprocess.Popen[bytes]:
        with self._guard:
            self.check_open()
            _hear_of_children()
            try:
                process = subprocess.Popen(
                    self._contained(command, env),
                    stdin=subprocess.PIPE if feed else subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env=dict(env),
                    cwd=cwd,
                    start_new_session=True,
                )
            except OSError as error:
                lacked = error.errno in (errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM)
                raise InfrastructureError(
                    f"cannot start {Path(command[0]).name}: {error.strerror}",
                    where=command[0],
                    hint="raise the limits of this session (ulimit -n, ulimit -u), or use fewer --jobs"
                    if lacked
                    else "is it installed and executable?",
                ) from error
            self._live.add(process)
            return process

    def _contained(self, command: Sequence[str], env: Mapping[str, str]) -> list[str]:
        """The command below a reaper; raises `OSError` where its program cannot be started."""
        if shutil.which(command[0], path=env.get("PATH", os.defpath)) is None:
            missing = not os.path.exists(command[0])  # noqa: PTH110
            number = errno.ENOENT if missing else errno.EACCES
            raise OSError(number, os.strerror(number))
        grace = str(GRACE_SECONDS)
        return [sys.executable, "-I", "-S", reaper.__file__, grace, self._ways, *command]

    @staticmethod
    def _wait(process: subprocess.Popen[bytes], deadline_seconds: float, stdin: bytes | None) -> bool:
        try:
            process.communicate(stdin, timeout=deadline_seconds)
        except subprocess.TimeoutExpired:
            return True
        return False

    @staticmethod
    def _end(process: subprocess.Popen[bytes]) -> None:
        """Ask the reaper to end all that it started; it asks first too, so that a probe can end its own children."""
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(GRACE_SECONDS + REAPING_SECONDS)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextlib.contextmanager
def ended_by_signal(processes: Processes) -> Iterator[None]:
    """On Ctrl-C end the children first: the threads that wait for them can then return.

    A handler runs between two instructions of the main thread, which may hold a lock at that moment; so it
    only writes a byte, and a thread that waits for the byte does the work. Outside the main thread nothing changes:
    signals reach the main thread alone, and only it may set their handlers.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    wakes, writes = os.pipe()
    os.set_blocking(writes, False)

    def watch() -> None:
        if os.read(wakes, 1) == b"!":
            processes.end_all()

    def interrupt(*_: object) -> None:
        with contextlib.suppress(OSError):
            os.write(writes, b"!")
        raise KeyboardInterrupt

    watcher = threading.Thread(target=watch, name="interrupt", daemon=True)
    watcher.start()
    before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(writes)
        watcher.join()
        os.close(wakes)


def _hear_of_children() -> None:
    """Undo an ignored SIGCHLD, which is inherited: with it every child seems to end with exit code 0.

    Children inherit what is set here, so nox and uv hear of theirs too.

    Raises:
        InfrastructureError: it is ignored, and this is not the main thread, which alone may change that.
    """
    if signal.getsignal(signal.SIGCHLD) is not signal.SIG_IGN:
        return
    if threading.current_thread() is not threading.main_thread():
        raise InfrastructureError(
            "SIGCHLD is ignored, so no failure of a process can be seen",
            hint="call signal.signal(signal.SIGCHLD, signal.SIG_DFL) in the main thread",
        )
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def _end_marked(mark: str) -> None:
    """Kill whatever carries the mark until nothing does: a process may fork during the search for it."""
    for _ in range(ROUNDS):
        found = [process for process in psutil.process_iter() if _carries(process, mark)]
        if not found:
            return
        for process in found:
            with contextlib.suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(found, timeout=GRACE_SECONDS)


def _carries(process: psutil.Process, mark: str) -> bool:
    """Whether a process that is alive has the mark in its environment; others' processes cannot be read."""
    try:
        marked = process.environ().get(MARK, "").startswith(mark)
        return marked and process.status() != psutil.STATUS_ZOMBIE
    except (psutil.Error, OSError):
        return False
