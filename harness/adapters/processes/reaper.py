"""Runs one command and ends whatever it leaves behind; started as a program of its own, with nothing of the harness.

    harness -> reaper -> command                          cgroup, subreaper, group
    harness -> reaper -> gate -> init -> command          pid-namespace

The best way that the system offers is used:

pid-namespace  The command's processes are alone in a namespace with its own /proc: the system kills them with its init,
               and they see neither the harness nor its parents, nor what stands in their environments.
cgroup         They are members of a group of cgroup v2, and the system kills the group at once.
subreaper      What loses its parents becomes a child of the reaper, which kills its descendants until none is left.
group          Where there is none of these (macOS): the process group is killed, and the harness looks for its mark.

The reaper's environment is the command's own, so the parent of a trial never held a secret of the user.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import sys
import time

TYPE_CHECKING = False  # as `typing` has it: importing that module is a third of the start of each process
if TYPE_CHECKING:
    from typing import NoReturn

WAYS = ("pid-namespace", "cgroup", "subreaper", "group")
PARENT = "HARNESS_PARENT"
"""Tells the command the process id of its parent, with which it has to end."""

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_CLONE_NEWNS, _CLONE_NEWUSER, _CLONE_NEWPID = 0x00020000, 0x10000000, 0x20000000
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_REC, _MS_PRIVATE = 0x2, 0x4, 0x8, 0x4000, 0x40000
_POLL_SECONDS = 0.2
_KILL_SECONDS = 20.0  # of killing descendants that fork faster than they are found
_LINUX = sys.platform == "linux"


class _Asked:
    """Whether the reaper was asked to end, and who its parent was at the start."""

    def __init__(self) -> None:
        self.parent = os.getppid()
        self.to_end = False
        self.wakes, self._writes = os.pipe()
        os.set_blocking(self._writes, False)

    def end(self, *_: object) -> None:
        self.to_end = True
        self.child_ended()

    def child_ended(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            os.write(self._writes, b"!")

    def wait(self) -> None:
        """Sleep until a signal comes; a while at most, since a parent may die without one."""
        if select.select([self.wakes], [], [], _POLL_SECONDS)[0]:
            os.read(self.wakes, 4096)

    @property
    def orphaned(self) -> bool:
        return os.getppid() != self.parent


def main(arguments: list[str]) -> NoReturn:
    """``reaper.py GRACE WAYS COMMAND...``: run the command and leave as it left."""
    grace, ways, command = float(arguments[0]), arguments[1].split(","), arguments[2:]
    asked = _Asked()
    signal.signal(signal.SIGTERM, asked.end)
    signal.signal(signal.SIGCHLD, asked.child_ended)
    _die_with_parent(signal.SIGTERM)
    if "subreaper" in ways or "cgroup" in ways:
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    status = None
    if "pid-namespace" in ways:
        status = _in_namespace(command, asked, grace)
    if status is None:
        status = _beside(command, asked, grace, ways)
    _leave_like(status)


def which(ways: list[str]) -> str:
    """The first of these ways that works on this system."""
    for way in ways:
        if way == "pid-namespace" and _namespace_works():
            return way
        if way == "cgroup" and (group := _make_cgroup()):
            os.rmdir(group)  # noqa: PTH106
            return way
        if (way == "subreaper" and _LINUX) or way == "group":
            return way
    return "group"


# --- without a namespace ---


def _beside(command: list[str], asked: _Asked, grace: float, ways: list[str]) -> int:
    """Run the command as a child; kill what is left of it and of its descendants at the end."""
    group = _make_cgroup() if "cgroup" in ways else ""
    child = os.fork()
    if child == 0:
        if group:
            with contextlib.suppress(OSError), open(f"{group}/cgroup.procs", "w", encoding="ascii") as file:  # noqa: PTH123
                file.write(str(os.getpid()))
        _execute(command)
    status = _await(child, asked, grace)
    _kill_group(child)
    if group:
        _kill_cgroup(group)
    _kill_descendants()
    return status


def _await(child: int, asked: _Asked, grace: float) -> int:
    """Wait for a child; once the reaper is asked to end, the child is asked too, and killed after the grace."""
    kill_at = None
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        if kill_at is None and (asked.to_end or asked.orphaned):
            kill_at = time.monotonic() + (0.0 if asked.orphaned else grace)
            with contextlib.suppress(OSError):
                os.killpg(child, signal.SIGTERM)
        if kill_at is not None and time.monotonic() >= kill_at:
            _kill_group(child)
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGKILL)
        asked.wait()


def _kill_group(leader: int) -> None:
    with contextlib.suppress(OSError):
        os.killpg(leader, signal.SIGKILL)


def _kill_descendants() -> None:
    """Kill until none is left. A chain of forks has a new process each time: only many quick looks catch it."""
    end = time.monotonic() + _KILL_SECONDS
    while time.monotonic() < end:
        for pid in _descendants():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return  # no child: what has lost its parents would be one, where the system has subreapers
    sys.stderr.write("harness: some processes fork faster than they can be killed\n")


def _descendants() -> list[int]:
    """Process ids below this one."""
    children = f"/proc/self/task/{os.getpid()}/children"
    with contextlib.suppress(OSError), open(children, encoding="ascii") as file:  # noqa: PTH123
        if direct := [int(word) for word in file.read().split()]:
            return direct  # enough: when they are dead, theirs become ours
    try:
        names = [name for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208
    except OSError:
        return []
    parents = {}
    for name in sorted(names, key=int, reverse=True):  # the newest first: they are those that fork
        with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
            fields = file.read().rsplit(b")", 1)[1].split()
            parents[int(name)] = int(fields[1])
            if int(fields[1]) == os.getpid() and fields[0] != b"Z":
                os.kill(int(name), signal.SIGKILL)
    found: list[int] = []
    level = [os.getpid()]
    while level:
        level = [pid for pid, parent in parents.items() if parent in level]
        found += level
    return found


# --- cgroup v2 ---


def _make_cgroup() -> str:
    """Make a group below our own in cgroup v2; "" where that may not be written or cannot be killed at once."""
    try:
        with open("/proc/self/mountinfo", encoding="utf-8") as file:  # noqa: PTH123
            mounts = [line.split(" - ") for line in file]
        root = next(left.split()[4] for left, right in mounts if right.split()[0] == "cgroup2")
        with open("/proc/self/cgroup", encoding="utf-8") as file:  # noqa: PTH123
            own = next(line.strip()[len("0::") :] for line in file if line.startswith("0::"))
        folder = f"{root}{own.rstrip('/')}/harness-{os.getpid()}"
        os.mkdir(folder)  # noqa: PTH102
    except (OSError, StopIteration, IndexError, ValueError):
        return ""
    if os.access(f"{folder}/cgroup.kill", os.W_OK) and os.access(f"{folder}/cgroup.procs", os.W_OK):
        return folder
    with contextlib.suppress(OSError):
        os.rmdir(folder)  # noqa: PTH106
    return ""


def _kill_cgroup(folder: str) -> None:
    """Kill all members at once and remove the group."""
    end = time.monotonic() + _KILL_SECONDS
    while time.monotonic() < end:
        with contextlib.suppress(OSError), open(f"{folder}/cgroup.kill", "w", encoding="ascii") as file:  # noqa: PTH123
            file.write("1")
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        try:
            os.rmdir(folder)  # noqa: PTH106
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(0.01)  # a member is still ending
        else:
            return


# --- PID namespace ---


def _in_namespace(command: list[str], asked: _Asked, grace: float) -> int | None:
    """Run the command in a PID namespace; returns None, with nothing begun, where the system allows none."""
    (told, tells), (result, results) = os.pipe(), os.pipe()
    gate = os.fork()
    if gate == 0:
        _gate(command, tells, results, grace)
    os.close(tells)
    os.close(results)
    init = os.read(told, 32)
    if not init:
        os.waitpid(gate, 0)
        return None
    asked_already = False
    while True:
        done, status = os.waitpid(gate, os.WNOHANG)
        if done:
            told_status = os.read(result, 32)
            return int(told_status) if told_status else status
        with contextlib.suppress(OSError):
            if asked.orphaned:
                os.kill(int(init), signal.SIGKILL)
            elif asked.to_end and not asked_already:
                asked_already = True
                os.kill(int(init), signal.SIGTERM)
        asked.wait()


def _namespace_works() -> bool:
    """Try it with a command that does nothing."""
    asked = _Asked()
    signal.signal(signal.SIGCHLD, asked.child_ended)
    return _LINUX and _in_namespace([sys.executable, "-I", "-S", "-c", ""], asked, 0.0) == 0


def _gate(command: list[str], tells: int, results: int, grace: float) -> NoReturn:
    """Enter the namespaces, fork their init, and leave as that left; says the init's id once it is ready."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _die_with_parent(signal.SIGKILL)
    if not _unshare():
        os._exit(1)
    ready, readies = os.pipe()
    init = os.fork()
    if init == 0:
        os.close(tells)
        _init(command, readies, results, grace)
    os.close(readies)
    if os.read(ready, 1) == b"1":
        os.write(tells, b"%d" % init)
    os.close(tells)
    _leave_like(os.waitpid(init, 0)[1])


def _unshare() -> bool:
    """Leave the PID and mount namespaces; who is not root needs a user namespace for that."""
    if not _LINUX:
        return False
    uid, gid = os.geteuid(), os.getegid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWPID | _CLONE_NEWNS) == 0:
        return True
    if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWPID | _CLONE_NEWNS) != 0:
        return False
    try:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:  # noqa: PTH123
                file.write(text)
    except OSError:
        return False
    return True


def _init(command: list[str], readies: int, results: int, grace: float) -> NoReturn:
    """Process 1 of the namespace: everything in it dies with this one."""
    _die_with_parent(signal.SIGKILL, known=False)
    libc = ctypes.CDLL(None, use_errno=True)
    private = libc.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None)
    if private or libc.mount(b"proc", b"/proc", b"proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC, None):
        os._exit(1)
    os.write(readies, b"1")
    os.close(readies)
    asked = _Asked()
    signal.signal(signal.SIGTERM, asked.end)
    signal.signal(signal.SIGCHLD, asked.child_ended)
    child = os.fork()
    if child == 0:
        _execute(command)
    os.write(results, b"%d" % _await_and_reap(child, asked, grace))  # an init cannot leave by a signal
    os._exit(0)


def _await_and_reap(child: int, asked: _Asked, grace: float) -> int:
    """Wait for the command, and meanwhile for every orphan of the namespace."""
    kill_at = None
    while True:
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == child:
                    return ended[1]
        if asked.to_end and kill_at is None:
            kill_at = time.monotonic() + grace
            with contextlib.suppress(OSError):
                os.killpg(child, signal.SIGTERM)
        if kill_at is not None and time.monotonic() >= kill_at:
            with contextlib.suppress(OSError):
                os.kill(-1, signal.SIGKILL)  # everything in the namespace but this process
        asked.wait()


# --- common ---


def _execute(command: list[str]) -> NoReturn:
    """Become the command: leader of its own session, with the signals as they are by default."""
    try:
        parent = os.getppid()
        os.setsid()
        _die_with_parent(signal.SIGKILL, known=False)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.environ[PARENT] = str(parent)
        os.execvp(command[0], command)  # noqa: S606
    except OSError as error:
        sys.stderr.write(f"cannot start {command[0]}: {error.strerror}\n")
    finally:
        os._exit(127)


def _die_with_parent(number: int, *, known: bool = True) -> None:
    """Let Linux send this process a signal when its parent dies; `known`: leave where it died before that."""
    parent = os.getppid()
    _prctl(_PR_SET_PDEATHSIG, int(number))
    if known and os.getppid() != parent:
        os._exit(71)


def _prctl(option: int, value: int) -> None:
    if _LINUX:
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _leave_like(status: int) -> NoReturn:
    """Leave with the exit code or the signal of a child."""
    if not os.WIFSIGNALED(status):
        os._exit(os.WEXITSTATUS(status))
    number = os.WTERMSIG(status)
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource  # noqa: PLC0415 - not on every system

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError, ValueError):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    os._exit(128 + number)


if __name__ == "__main__":
    if sys.argv[1] == "--which":
        sys.stdout.write(which(sys.argv[2].split(",")) + "\n")
        sys.exit()
    main(sys.argv[1:])
