"""Real small processes: what they print, how they end, and that nothing outlives them."""

from __future__ import annotations

import errno
import os
import resource
import signal
import sys
import threading
from pathlib import Path

import psutil
import pytest

from harness.adapters.environments.failures import machine_failure
from harness.adapters.processes import process
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


@pytest.fixture(autouse=True)
def short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "GRACE_SECONDS", 0.2)


def run(folder: Path, code: str, processes: Processes | None = None, **changes: object) -> Ended:
    settings: dict[str, object] = {"env": dict(os.environ), "cwd": folder, "deadline_seconds": 60.0, **changes}
    command = [sys.executable, "-c", code]
    return (processes or Processes()).run(command, log=folder / "log", **settings)  # type: ignore[arg-type]


def hang(folder: Path, processes: Processes) -> None:
    with pytest.raises(Interrupted):
        run(folder, FORK_AND_HANG, processes)


def left_behind(folder: Path) -> list[int]:
    """Processes that wrote their id and are alive."""
    ids = [int(path.name.removeprefix("pid-")) for path in folder.glob("pid-*")]
    assert ids
    return [pid for pid in ids if psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE]


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


def test_a_deadline_ends_the_whole_group(tmp_path: Path) -> None:
    ended = run(tmp_path, FORK_AND_HANG, deadline_seconds=1.0)
    assert ended.timed_out
    assert left_behind(tmp_path) == []


def test_a_process_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    ended = run(tmp_path, f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {HANG}", deadline_seconds=0.5)
    assert ended.exit_code == -signal.SIGKILL


@pytest.mark.parametrize("then", ["", HANG], ids=["ends", "hangs"])
def test_a_grandchild_that_escapes_group_and_parents_is_ended(tmp_path: Path, then: str) -> None:
    """It holds neither the group nor a parent of ours; only the mark in its environment tells whose it is."""
    run(tmp_path, ESCAPE + then, deadline_seconds=2.0 if then else 60.0)
    assert left_behind(tmp_path) == []


def test_processes_of_another_run_are_left_alone(tmp_path: Path) -> None:
    processes = Processes()
    (tmp_path / "other").mkdir()
    other = threading.Thread(target=hang, args=(tmp_path / "other", processes))
    other.start()
    wait_for(tmp_path / "other", 2)
    run(tmp_path, "pass", processes)
    assert len(left_behind(tmp_path / "other")) == 2
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
