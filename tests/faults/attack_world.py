"""The world of the attacks: an index in a process of its own, a warm home, and harnesses that are watched from outside.

A harness is forked from a process that has loaded it already (20 ms instead of 400), or started anew. Whatever it
leaves behind falls to this process, which is the reaper of all below it, and is found there.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import psutil
import tenacity

from harness.adapters.index.package_index import PackageIndex
from harness.cli import main
from harness.cli.commands import bisection
from tests import local_index
from tests.local_index import LocalIndex, respond
from tests.toys import Toy, write

__all__ = ["bisection"]  # loaded here, so that each fork has it

CHECK = """
import toynumpy
def check(codes): return toynumpy.same(codes.get(__version__, 0))
"""
COMPANION = "def same(number): return number"
BROKEN_BUILD = "def build_wheel(*_): raise SystemExit('planted: the compiler is missing')"
RELEASES = ("1.0", "1.1", "1.2", "1.3", "1.4", "1.5", "1.6", "1.7", "1.8", "1.9", "2.0", "2.1")
UNTESTABLE = ("1.3", "1.7", "2.1")
DEADLINE_SECONDS = 240.0  # of one harness; most need one, and on a busy machine many times as much
LARGEST_OUTPUT = 1 << 20  # bytes that are read of what a harness printed
PLAIN = b"\0 these bytes were never published"
LOGIN = b"<!DOCTYPE html><html><head><title>Sign in</title></head><body><form></form></body></html>"


def toys() -> list[Toy]:
    """What the index of the attacks publishes."""
    special = {
        "1.3": {"requires_python": ">=3.99"},
        "1.7": {"requires": ("toynumpy>=2",)},
        "2.1": {"build_backend": BROKEN_BUILD},
    }
    own = [Toy(version=version, source=CHECK, **special.get(version, {})) for version in RELEASES]  # type: ignore[arg-type]
    companions = [Toy(name="toynumpy", version=version, source=COMPANION) for version in ("1.0", "2.0")]
    return [*own, *companions, *hostile_toys()]


HOSTILE: dict[str, str] = {
    "hangs": "import time; time.sleep(4)",
    "floods": "import sys\nfor _ in range(3000): sys.stdout.write('x' * 1000); sys.stderr.write('y' * 300)",
    "leaves": "import os; os._exit(0)",
    "exits": "import sys; sys.exit(0)",
    "segfaults": "import os; os.kill(os.getpid(), 11)",
    "daemon": "import os, time\nif os.fork() == 0:\n    os.setsid()\n    os.fork()\n    time.sleep(20)\n    os._exit(0)",
    "threads": "import threading, time; threading.Thread(target=time.sleep, args=(4,)).start()",
    "closes": "import os\nfor n in (0, 1, 2): os.close(n)",
    "patches": "import json; json.dumps = json.loads = None",
    "recurses": "def f(): f()\nf()",
    "raises": "class Odd(BaseException):\n    def __str__(self): raise Odd\nraise Odd",
    "edits": "import toynumpy\ntry: open(toynumpy.__file__, 'a').write('\\nraise SystemExit(1)')\nexcept OSError: pass",
}
RAISE = ("recurses", "raises")
"""What a script that imports them ends by: git's contract calls that bad, as any other exception."""
MAY_WORK = ("hangs", "floods", "daemon", "threads", "closes", "patches", "edits")
ODD_VERSIONS = ("1.0", "1.1", "1.1+cu12", "1.1.post1", "1!0.5")  # in the order of the standard


def hostile_toys() -> list[Toy]:
    """Packages whose middle release does something at import, and one whose versions are odd."""
    found = [Toy(name="toyodd", version=version, source=CHECK) for version in ODD_VERSIONS]
    huge = {f"toyhuge/data{n}.txt": b"x" * 5000 for n in range(100)}
    for version in ("1.0", "1.1", "1.2"):
        members = huge if version == "1.1" else {}
        found.append(
            Toy(name="toyhuge", version=version, source=CHECK, members=members, requires=("toynumpy<2",) * 500)
        )
        for kind, source in HOSTILE.items():
            text = f"{source}\n{CHECK}" if version == "1.1" else CHECK
            found.append(Toy(name=f"toy{kind}", version=version, source=text))
    return found


@dataclass(frozen=True, kw_only=True)
class IndexFault:
    """The answers from one request on, so many of them, are of this kind; `end` limits them to some paths."""

    kind: str
    first: int
    count: int
    end: str = ""


STATUSES = ("401", "403", "404", "410", "500")
FAULTS = (
    *STATUSES, "204", "redirect", "login", "empty", "no files", "foreign", "truncated", "wrong hash", "other wheel",
    "slow", "hangs up",
)  # fmt: skip


def misbehave(kind: str, index: LocalIndex, other: bytes) -> local_index.Fault:
    """How a kind of fault answers."""

    def answer(handler: BaseHTTPRequestHandler, body: bytes) -> None:
        match kind:
            case "204" | "redirect":
                handler.send_response(204 if kind == "204" else 302)
                if kind == "redirect":
                    handler.send_header("Location", "/login")
                handler.send_header("Content-Length", "0")
                handler.end_headers()
            case "login":
                respond(handler, LOGIN)
            case "empty":
                respond(handler, b"", kind=local_index.JSON)
            case "no files":
                page = {"meta": {"api-version": "1.1"}, "name": handler.path.split("/")[2], "files": [], "versions": []}
                respond(handler, json.dumps(page).encode(), kind=local_index.JSON)
            case "foreign":
                respond(handler, PLAIN * 20, kind="application/octet-stream")
            case "other wheel":
                respond(handler, other, kind="application/octet-stream")
            case "truncated":
                local_index.breaks_off(handler, body)
            case "wrong hash":
                local_index.corrupts(handler, body)
            case "slow":
                index.ended.wait(2.5)
                local_index.breaks_off(handler, body)
            case "hangs up":
                handler.connection.close()
            case _:
                handler.send_error(int(kind))

    return answer


class IndexProcess:
    """A local index that is told over a socket how to misbehave."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._socket, theirs = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            with contextlib.suppress(BaseException):
                self._socket.close()
                _serve(folder, theirs)
            os._exit(0)
        theirs.close()
        self._lines = self._socket.makefile("rw")
        self.address = self._lines.readline().strip()

    def arm(self, fault: IndexFault | None) -> int:
        """Misbehave in this way from now on, or no more; return how many requests there were since the last call."""
        self._lines.write(json.dumps(vars(fault) if fault else None) + "\n")
        self._lines.flush()
        return int(self._lines.readline())

    def close(self) -> None:
        """End it."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        self._socket.close()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)


def _serve(folder: Path, channel: socket.socket) -> None:
    index = LocalIndex(folder)
    index.publish(toys())
    (folder / "other").mkdir(exist_ok=True)
    other = write(Toy(version="1.1", source="def check(_): return 1"), folder / "other").read_bytes()
    lines = channel.makefile("rw")
    lines.write(index.address + "\n")
    lines.flush()
    for line in lines:
        asked = len(index.asked)
        index.asked.clear()
        index.faults.clear()
        if spec := json.loads(line):
            fault, guard, left = IndexFault(**spec), threading.Lock(), [0]
            index.faults[fault.end] = _counted(fault, index, other, guard, left)
        lines.write(f"{asked}\n")
        lines.flush()


def _counted(
    fault: IndexFault, index: LocalIndex, other: bytes, guard: threading.Lock, seen: list[int]
) -> local_index.Fault:
    bad = misbehave(fault.kind, index, other)

    def answer(handler: BaseHTTPRequestHandler, body: bytes) -> None:
        with guard:
            seen[0] += 1
            now = fault.first < seen[0] <= fault.first + fault.count
        if now:
            bad(handler, body)
        elif found := index.body(handler.path.split("?")[0], handler.headers.get("Accept", "")):
            respond(handler, found[1], kind=found[0])
        else:
            handler.send_error(404)

    return answer


@dataclass(frozen=True, kw_only=True)
class Kill:
    """A signal after some seconds, to the harness or to its whole group as Ctrl-C in a terminal."""

    number: int
    seconds: float
    group: bool


@dataclass(frozen=True, kw_only=True)
class Setting:
    """In which way a harness is started.

    Attributes:
        env: Further environment variables; None takes one away.
        anew: A new interpreter instead of a fork.
        wrapper: Command that runs the harness's; implies `anew`.
        prepare: Called in the process before the harness begins.
    """

    env: Mapping[str, str | None] = field(default_factory=dict)
    anew: bool = False
    wrapper: tuple[str, ...] = ()
    prepare: Callable[[], None] | None = None


@dataclass(frozen=True, kw_only=True)
class Ran:
    """How a harness ended.

    Attributes:
        code: Exit code; negative for a signal.
        late: It had to be ended at its deadline.
        left: Processes that were alive after it.
    """

    code: int
    out: str
    err: str
    late: bool
    left: tuple[str, ...]


class Pipes:
    """Takes what a harness prints: a limit on the size of files must not hold for it."""

    def __init__(self) -> None:
        pairs = [os.pipe(), os.pipe()]
        self._readers, self.writers = [one for one, _ in pairs], [one for _, one in pairs]
        self._read = [bytearray(), bytearray()]
        for reader in self._readers:
            os.set_blocking(reader, False)

    def close_writers(self) -> None:
        """The harness has its own."""
        for writer in self.writers:
            os.close(writer)

    def drain(self) -> None:
        """Read what is there."""
        for reader, collected in zip(self._readers, self._read, strict=True):
            with contextlib.suppress(BlockingIOError):
                while chunk := os.read(reader, 65_536):
                    collected.extend(chunk if len(collected) < LARGEST_OUTPUT else b"")

    def close(self) -> tuple[str, str]:
        """Return all that was printed on both."""
        self.drain()
        for reader in self._readers:
            os.close(reader)
        out, err = (read.decode("utf-8", "replace") for read in self._read)
        return out, err


class World:
    """A folder with an index, a warm home and the installer's cache; harnesses are run in it one after the other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.live, self.pristine, self.attacks = folder / "live", folder / "pristine", folder / "attacks"
        self.attacks.mkdir(parents=True, exist_ok=True)
        become_reaper()
        self.index = IndexProcess(folder / "files")
        self.home, self.uv = self.live / "home", self.live / "uv"

    def close(self) -> None:
        """End everything below this process."""
        self.index.close()
        end_all(())

    def keep(self) -> None:
        """Remember the home as it is now."""
        self._copy(self.live, self.pristine)

    def restore(self) -> None:
        """Bring back the home that was remembered: an attack may have spoiled it."""
        if self.pristine.exists():
            self._copy(self.pristine, self.live)

    def _copy(self, source: Path, target: Path) -> None:
        remove(target)
        subprocess.run(["cp", "-a", str(source), str(target)], check=True)

    def environment(self, extra: Mapping[str, str | None]) -> dict[str, str]:
        """The variables of a harness: nothing of the user's."""
        made: dict[str, str | None] = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}",
            "HOME": str(self.folder),
            "LANG": "C.UTF-8",
            "HARNESS_HOME": str(self.home),
            "UV_CACHE_DIR": str(self.uv),
            "UV_PYTHON_DOWNLOADS": "never",
            "PYENV_ROOT": str(self.folder / "no-pyenv"),
            "UV_HTTP_TIMEOUT": "2",
            "UV_HTTP_RETRIES": "0",
            "UV_DEFAULT_INDEX": self.index.address,
            **extra,
        }
        return {name: value for name, value in made.items() if value is not None}

    def run(self, words: Sequence[str], folder: Path, setting: Setting = Setting(), kill: Kill | None = None) -> Ran:
        """Run one harness to its end."""
        return self.run_all([words], folder, setting, kill)[0]

    def run_all(
        self, commands: Sequence[Sequence[str]], folder: Path, setting: Setting, kill: Kill | None = None
    ) -> list[Ran]:
        """Run harnesses at the same time."""
        pipes = [Pipes() for _ in commands]
        pids = [self._start(words, one, setting, folder) for words, one in zip(commands, pipes, strict=True)]
        ended = wait(pids, pipes, time.monotonic() + DEADLINE_SECONDS, kill)
        killed = any(code == -signal.SIGKILL for code, _ in ended)
        left = self.left_behind(8.0 if killed else 1.5)
        if left:
            end_all((self.index.pid,))
        number = len(list(folder.glob("run-*.out")))
        found = []
        for n, ((code, late), one) in enumerate(zip(ended, pipes, strict=True)):
            out, err = one.close()
            (folder / f"run-{number + n}.out").write_text(out)
            (folder / f"run-{number + n}.err").write_text(err)
            found.append(Ran(code=code, late=late, left=left, out=out, err=err))
        return found

    def left_behind(self, seconds: float) -> tuple[str, ...]:
        """Processes that are alive below this one after so many seconds; what has ended is reaped."""
        end = time.monotonic() + seconds
        while alive := below((self.index.pid,)):
            if time.monotonic() > end:
                return tuple(_described(process) for process in alive)
            time.sleep(0.02)
        return ()

    def _start(self, words: Sequence[str], pipes: Pipes, setting: Setting, folder: Path) -> int:
        env = self.environment(setting.env)
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid:
            pipes.close_writers()
            with contextlib.suppress(OSError):
                os.setpgid(pid, pid)
            return pid
        code = 99
        try:
            _become(pipes, env, folder)
            if setting.prepare:
                setting.prepare()
            command = [sys.executable, "-m", "harness", *words]
            if setting.wrapper:
                os.execvpe(setting.wrapper[0], [*setting.wrapper, *command], env)
            if setting.anew:
                os.execve(sys.executable, command, env)
            be_impatient()
            code = main.run(list(words))
            sys.stdout.flush()
        except KeyboardInterrupt:
            code = 130  # before the harness had its handlers
        except BaseException:  # noqa: BLE001 - told to whoever judges
            traceback.print_exc()
        finally:
            with contextlib.suppress(OSError, ValueError):
                sys.stderr.flush()
            os._exit(code)


def _become(pipes: Pipes, env: Mapping[str, str], folder: Path) -> None:
    """Make this forked process look like a fresh one."""
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(folder)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    for place, writer in zip((1, 2), pipes.writers, strict=True):
        os.dup2(writer, place)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - pytest has put its own there
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    random.seed()


def be_impatient() -> None:
    """Try again at once: what is tested is what happens, not how long one waits before."""
    vars(tenacity)["sleep_using_event"] = lambda event: lambda seconds: None
    with contextlib.suppress(AttributeError):
        PackageIndex._fetch.retry.wait = lambda state: 0.0


def wait(pids: Sequence[int], pipes: Sequence[Pipes], deadline: float, kill: Kill | None) -> list[tuple[int, bool]]:
    """Wait for all; return (exit code, whether it was late) of each."""
    began, late = time.monotonic(), False
    codes: dict[int, int] = {}
    while len(codes) < len(pids):
        for one in pipes:
            one.drain()
        for pid in pids:
            done, status = (0, 0) if pid in codes else os.waitpid(pid, os.WNOHANG)
            if done:
                codes[pid] = os.waitstatus_to_exitcode(status)
        if kill is not None and time.monotonic() - began > kill.seconds:
            for pid in set(pids) - set(codes):
                _send(pid, kill.number, group=kill.group)
            kill = None
        if time.monotonic() > deadline:
            late = True
            for pid in set(pids) - set(codes):
                _send(pid, signal.SIGKILL, group=True)
        time.sleep(0.004)
    return [(codes[pid], late) for pid in pids]


def _send(pid: int, number: int, *, group: bool) -> None:
    with contextlib.suppress(ProcessLookupError):
        if group:
            os.killpg(pid, number)
        else:
            os.kill(pid, number)


def become_reaper() -> None:
    """Let orphans fall to this process; where the system has no such thing (macOS) they are looked for no further."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)


def below(but: Sequence[int]) -> list[psutil.Process]:
    """Live processes below this one, except these; orphans that ended are reaped on the way."""
    found = []
    for process in psutil.Process().children(recursive=True):
        if process.pid in but:
            continue
        with contextlib.suppress(psutil.Error, ChildProcessError):
            if process.status() == psutil.STATUS_ZOMBIE:
                if process.ppid() == os.getpid():
                    os.waitpid(process.pid, os.WNOHANG)
            else:
                found.append(process)
    return found


def end_all(but: Sequence[int]) -> None:
    """Kill everything below this process, until nothing is left or ten seconds have passed."""
    end = time.monotonic() + 10
    while (alive := below(but)) and time.monotonic() < end:
        for process in alive:
            with contextlib.suppress(psutil.Error):
                process.kill()
        time.sleep(0.01)


def remove(folder: Path) -> None:
    """Remove a folder, also where something in it is not writable."""
    if not folder.exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        subprocess.run(["chmod", "-R", "u+rwx", str(folder)], check=False, capture_output=True)
        shutil.rmtree(folder, ignore_errors=True)


def limit_files(size: int) -> Callable[[], None]:
    """A limit on the size of each file, as `ulimit -f` sets it."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def _described(process: psutil.Process) -> str:
    try:
        return f"{process.name()}: {' '.join(process.cmdline())[-120:]}"
    except psutil.Error:
        return f"process {process.pid}"
