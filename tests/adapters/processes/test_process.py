"""Real small processes: what they print, how they end, and that nothing outlives them."""

from __future__ import annotations

import errno
import os
import resource
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from harness.adapters.environments.failures import machine_failure
from harness.adapters.processes import process, reaper
from harness.adapters.processes.process import Ended, Processes, ended_by_signal
from harness.domain.errors import InfrastructureError, Interrupted

HANG = "import time; time.sleep(600)"
FORK_AND_HANG = f"import os; os.fork(); open(f'pid-{{os.getpid()}}', 'w'); {HANG}"
ESCAPE = f"""
import os, sys
if os.fork() == 0:          # a grandchild that leaves the group and loses its parent
    os.setsid()
    if os.fork() == 0:
        open(f'pid-{{os.getpid()}}', 'w')
        {HANG}
    os._exit(0)
os.wait()
while not [n for n in os.listdir('.') if n.startswith('pid-')]: pass
"""


CHAIN = """
import os, sys, time
end = time.time() + 20      # bounded, should it survive
for n in range(int(sys.argv[1])):
    if os.fork() == 0:
        os.setsid()
        if os.fork(): os._exit(0)
        while time.time() < end:
            if os.fork(): os._exit(0)
        os._exit(0)
time.sleep(0.3)
"""
DAEMON = """
import os, sys
if os.fork() == 0:          # a build daemon: no parent, no group, and nothing of ours in its environment
    os.setsid()
    if os.fork() == 0: os.execve(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)"], {})
    os._exit(0)
import time; time.sleep(0.3)
"""
WAYS = [ways for n in range(len(reaper.WAYS)) if (ways := reaper.WAYS[n:]) and Processes(ways).containment == ways[0]]
"""What this system offers; the others are not tried. Each is forced by leaving out those before it."""


@pytest.fixture(params=WAYS, ids=lambda ways: ways[0])
def contained(request: pytest.FixtureRequest) -> Processes:
    return Processes(request.param)


@pytest.fixture(autouse=True)
def short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "GRACE_SECONDS", 0.2)


def run(
    folder: Path, code: str, processes: Processes | None = None, words: tuple[str, ...] = (), **changes: object
) -> Ended:
    settings: dict[str, object] = {"env": dict(os.environ), "cwd": folder, "deadline_seconds": 60.0, **changes}
    command = [sys.executable, "-c", code, *words]
    return (processes or Processes()).run(command, log=folder / "log", **settings)  # type: ignore[arg-type]


def hang(folder: Path, processes: Processes) -> None:
    with pytest.raises(Interrupted):
        run(folder, FORK_AND_HANG, processes)


def left_behind(folder: Path) -> list[int]:
    """Processes that are alive in this folder; their reapers do not count. Ids differ between namespaces."""
    return [process.pid for process in psutil.process_iter() if _is_left(process, folder)]


def _is_left(process: psutil.Process, folder: Path) -> bool:
    try:
        return process.cwd() == str(folder) and not any("reaper.py" in word for word in process.cmdline())
    except psutil.Error:
        return False


def wait_for(folder: Path, count: int) -> None:
    while len(list(folder.glob("pid-*"))) < count:
        threading.Event().wait(0.01)


def test_exit_code_and_output(tmp_path: Path) -> None:
    ended = run(tmp_path, "import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)")
    assert (ended.exit_code, ended.timed_out) == (7, False)
    assert sorted(ended.tail.split()) == ["err", "out"]


def test_a_signal_is_a_negative_exit_code(tmp_path: Path) -> None:
    assert run(tmp_path, "import os; os.kill(os.getpid(), 11)").exit_code == -signal.SIGSEGV


def test_300_kb_on_stderr_block_nothing_and_only_the_end_is_kept(tmp_path: Path) -> None:
    ended = run(tmp_path, "import sys; sys.stderr.write('x' * 300_000 + 'the end')")
    assert ended.exit_code == 0
    assert ended.tail.endswith("the end")
    assert len(ended.tail) == process.TAIL_BYTES


def test_whatever_a_process_prints_its_log_stays_small(tmp_path: Path) -> None:
    ended = run(
        tmp_path, "import os; os.write(1, b'begin'); [os.write(1, b'x' * 100_000) for _ in range(200)]; print('end')"
    )
    assert ended.exit_code == 0
    text = ended.log.read_bytes()
    assert text.startswith(b"beginx")
    assert text.endswith(b"xend\n")
    assert b" bytes left out ...]" in text
    assert len(text) < 5_000_000


def test_one_that_prints_without_end_is_ended_at_its_deadline(tmp_path: Path) -> None:
    ended = run(tmp_path, "while True: print('x' * 10_000)", deadline_seconds=1.0)
    assert ended.timed_out
    assert ended.log.stat().st_size < 5_000_000


def test_a_result_is_kept_whole(tmp_path: Path) -> None:
    assert run(tmp_path, "print('x' * 6_000_000)", whole=True).log.stat().st_size == 6_000_001


def test_stdin_is_handed_over_and_otherwise_empty(tmp_path: Path) -> None:
    copy = "import sys; sys.stdout.write(sys.stdin.read())"
    assert run(tmp_path, copy, stdin=b"given").tail == "given"
    (tmp_path / "log").unlink()
    assert run(tmp_path, copy).tail == ""


def test_a_deadline_ends_the_whole_group(tmp_path: Path, contained: Processes) -> None:
    ended = run(tmp_path, FORK_AND_HANG, contained, deadline_seconds=1.0)
    assert ended.timed_out
    assert list(tmp_path.glob("pid-*"))
    assert left_behind(tmp_path) == []


def test_a_process_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    ended = run(tmp_path, f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {HANG}", deadline_seconds=0.5)
    assert ended.exit_code == -signal.SIGKILL


@pytest.mark.parametrize("then", ["", HANG], ids=["ends", "hangs"])
def test_a_grandchild_that_escapes_group_and_parents_is_ended(tmp_path: Path, then: str, contained: Processes) -> None:
    """It holds neither the group nor a parent of ours; by the mark in its environment any system can tell whose it is."""
    run(tmp_path, ESCAPE + then, contained, deadline_seconds=2.0 if then else 60.0)
    assert list(tmp_path.glob("pid-*"))
    assert left_behind(tmp_path) == []


@pytest.mark.skipif(not psutil.LINUX, reason="the system tells nobody whose child a process was")
@pytest.mark.parametrize(("code", "count"), [(CHAIN, 1), (CHAIN, 3), (DAEMON, 0)], ids=["chain", "chains", "daemon"])
@pytest.mark.parametrize("ways", [ways for ways in WAYS if ways[0] != "group"], ids=lambda ways: ways[0])
def test_what_forks_on_and_what_hides_is_ended_too(
    tmp_path: Path, code: str, count: int, ways: tuple[str, ...]
) -> None:
    ended = run(tmp_path, code, Processes(ways), (str(count),))
    assert ended.exit_code == 0
    assert ended.seconds < 15  # the chains would go on for 20, and the daemon for 600
    assert left_behind(tmp_path) == []


@pytest.mark.parametrize("code", [0, 7, 127, 139, 255])
def test_exit_codes_pass_through(tmp_path: Path, code: int, contained: Processes) -> None:
    assert run(tmp_path, f"raise SystemExit({code})", contained).exit_code == code


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT, signal.SIGTERM])
def test_signals_pass_through(tmp_path: Path, number: int, contained: Processes) -> None:
    assert run(tmp_path, f"import os; os.kill(os.getpid(), {number:d})", contained).exit_code == -number


def test_the_parent_of_a_process_never_held_what_the_harness_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, contained: Processes
) -> None:
    if not psutil.LINUX:
        pytest.skip("no /proc")
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_0123456789")
    read = "import os; print(b'ghp_0123456789' in open(f'/proc/{os.getppid()}/environ', 'rb').read())"
    assert run(tmp_path, read, contained, env={"PATH": os.defpath}).tail == "False\n"


@pytest.mark.skipif("pid-namespace" not in {ways[0] for ways in WAYS}, reason="the system allows no PID namespace")
def test_in_a_namespace_a_process_sees_neither_the_harness_nor_its_parents(tmp_path: Path) -> None:
    listed = "import os; print(max(int(n) for n in os.listdir('/proc') if n.isdigit()) < 20)"
    assert run(tmp_path, listed).tail == "True\n"


def test_processes_of_another_run_are_left_alone(tmp_path: Path) -> None:
    processes = Processes()
    (tmp_path / "other").mkdir()
    other = threading.Thread(target=hang, args=(tmp_path / "other", processes))
    other.start()
    wait_for(tmp_path / "other", 2)
    run(tmp_path, "pass", processes)
    assert left_behind(tmp_path / "other")
    processes.end_all()
    other.join()
    assert left_behind(tmp_path / "other") == []


def test_what_is_ended_with_the_harness_tells_nothing(tmp_path: Path) -> None:
    """A build that Ctrl-C ends must not look like a release that cannot be built."""
    processes = Processes()

    def end() -> None:
        wait_for(tmp_path, 2)
        processes.end_all()

    ender = threading.Thread(target=end)
    ender.start()
    with pytest.raises(Interrupted):
        run(tmp_path, FORK_AND_HANG, processes)
    ender.join()
    assert left_behind(tmp_path) == []
    with pytest.raises(Interrupted):
        run(tmp_path, "pass", processes)


def test_a_program_that_is_not_there_names_itself(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match="cannot start nosuch") as failure:
        Processes().run(["/nosuch"], log=tmp_path / "log", env={}, cwd=tmp_path, deadline_seconds=1.0)
    assert failure.value.hint


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_interrupts_even_while_the_main_thread_holds_the_lock(tmp_path: Path, number: int) -> None:
    """The handler runs inside whatever the main thread does, here inside the lock that `end_all` needs."""
    processes = Processes()
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt), ended_by_signal(processes), processes._guard:
        signal.raise_signal(number)
    assert processes.ended.wait(10)
    assert signal.getsignal(number) is before


def test_secrets_are_masked_in_what_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_TOKEN", "s3cr3t-value")
    printed = "print('s3cr3t-value at http://joe:pa55@host/simple')"
    assert run(tmp_path, printed).tail.split() == ["***", "at", "http://***@host/simple"]


def test_a_failure_is_seen_though_the_parent_ignored_sigchld(tmp_path: Path) -> None:
    """With it ignored, the system forgets how children end, and it is inherited: theirs are forgotten too."""
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    program = "import subprocess, sys; sys.exit(subprocess.run(['false']).returncode + 4)"
    try:
        ended = Processes().run(
            [sys.executable, "-c", program], log=tmp_path / "log", env={}, cwd=tmp_path, deadline_seconds=60
        )
        assert ended.exit_code == 5
        assert signal.getsignal(signal.SIGCHLD) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_where_it_cannot_be_restored_that_is_said(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        with ThreadPoolExecutor(1) as pool, pytest.raises(InfrastructureError, match="SIGCHLD is ignored"):
            pool.submit(Processes).result()
    finally:
        signal.signal(signal.SIGCHLD, before)


@pytest.mark.parametrize(
    ("number", "what"),
    [
        (errno.ENOSPC, "the disk is full (installing)"),
        (errno.EDQUOT, "the disk is full (installing)"),
        (errno.EIO, "cannot write: Input/output error (installing)"),
        (errno.EFBIG, "a limit of this session is reached: File too large (installing)"),
    ],
)
def test_why_a_log_could_not_be_written_is_said_as_it_is(tmp_path: Path, number: int, what: str) -> None:
    lost = OSError(number, os.strerror(number))
    log = tmp_path / "log"
    failure = machine_failure(Ended(exit_code=1, seconds=0.0, timed_out=False, log=log, unwritten=lost), "installing")
    assert failure is not None
    assert failure.what == what
    assert failure.where is not None
    assert failure.where.startswith(str(log))
    assert failure.hint


def test_a_log_that_cannot_be_written_does_not_swallow_how_it_ended(tmp_path: Path) -> None:
    """/dev/full takes nothing: what was printed last is known all the same, and so is why the log is not there."""
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    script = "import sys; print('the reason'); sys.exit(3)"
    ended = Processes().run([sys.executable, "-c", script], log=full, env={}, cwd=tmp_path, deadline_seconds=60.0)
    assert ended.exit_code == 3
    assert ended.unwritten is not None
    assert ended.unwritten.errno == errno.ENOSPC
    assert "the reason" in ended.tail
    failure = machine_failure(ended, "installing")
    assert failure is not None
    assert failure.what == "the disk is full (installing)"


def test_a_session_without_free_file_descriptors_is_told_so(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    held = [os.open(os.devnull, os.O_RDONLY) for _ in range(3)]
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(held) + 1, hard))
    try:
        with pytest.raises(InfrastructureError) as refused:
            Processes().run([sys.executable, "-c", ""], log=tmp_path / "log", env={}, cwd=tmp_path, deadline_seconds=60)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for one in held:
            os.close(one)
    assert "ulimit -n" in str(refused.value.hint)
