"""The reaper as a program of its own; what it does for the harness is tried in `test_process`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from harness.adapters.processes import reaper
from tests.probe.running import is_gone

OFFERED = [way for way in reaper.WAYS if reaper.which([way]) == way]


def start(way: str, program: str, folder: Path, grace: float = 0.2) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-I", "-S", reaper.__file__, str(grace), way, sys.executable, "-c", program]
    return subprocess.Popen(command, cwd=folder, start_new_session=True)


def wait_for(path: Path) -> None:
    for _ in range(1000):
        if path.exists():
            return
        time.sleep(0.01)
    raise AssertionError(f"{path} is not there")


def test_the_last_way_works_everywhere() -> None:
    assert reaper.which(["group"]) == "group"
    assert reaper.which([]) == "group"
    assert reaper.which(["no such way", "group"]) == "group"


def test_the_first_that_works_is_taken() -> None:
    assert reaper.which(list(reaper.WAYS)) == OFFERED[0]


@pytest.mark.parametrize("way", OFFERED)
def test_when_it_is_asked_to_end_it_asks_the_command_first(tmp_path: Path, way: str) -> None:
    program = (
        "import signal, sys, time, pathlib\n"
        "def end(*_): pathlib.Path('asked').touch(); sys.exit(3)\n"
        "signal.signal(signal.SIGTERM, end); pathlib.Path('ready').touch(); time.sleep(60)"
    )
    process = start(way, program, tmp_path, grace=30)
    wait_for(tmp_path / "ready")
    process.terminate()
    assert process.wait(30) == 3
    assert (tmp_path / "asked").exists()


@pytest.mark.parametrize("way", OFFERED)
def test_a_command_that_does_not_listen_is_killed_after_the_grace(tmp_path: Path, way: str) -> None:
    program = (
        "import signal, time, pathlib\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "pathlib.Path('ready').touch(); time.sleep(60)"
    )
    process = start(way, program, tmp_path)
    wait_for(tmp_path / "ready")
    process.terminate()
    assert process.wait(30) == -signal.SIGKILL


@pytest.mark.skipif(not psutil.LINUX, reason="elsewhere a process does not learn that its parent died")
@pytest.mark.parametrize("way", OFFERED)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_who_started_it_dies_and_takes_all_along(tmp_path: Path, way: str, number: int) -> None:
    program = "import os, time, pathlib; os.fork(); pathlib.Path('ready').touch(); time.sleep(60)"
    command = [sys.executable, "-I", "-S", reaper.__file__, "30", way, sys.executable, "-c", program]
    outer = subprocess.Popen(
        [sys.executable, "-c", f"import subprocess; subprocess.run({command!r})"], cwd=tmp_path, start_new_session=True
    )
    wait_for(tmp_path / "ready")
    below = psutil.Process(outer.pid).children(recursive=True)
    assert len(below) >= 3
    os.kill(outer.pid, number)
    outer.wait()
    assert all(is_gone(process.pid) for process in below)


@pytest.mark.parametrize("way", OFFERED)
def test_a_program_that_cannot_be_started(tmp_path: Path, way: str) -> None:
    command = [sys.executable, "-I", "-S", reaper.__file__, "1", way, "/no/such/program"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 127
    assert "cannot start /no/such/program" in done.stderr


@pytest.mark.parametrize("way", OFFERED)
def test_the_command_learns_its_parent(tmp_path: Path, way: str) -> None:
    program = (
        f"import os; assert int(os.environ[{reaper.PARENT!r}]) == os.getppid(); assert os.getsid(0) == os.getpid()"
    )
    assert start(way, program, tmp_path).wait(30) == 0


def test_no_group_is_left_in_the_tree_of_cgroups(tmp_path: Path) -> None:
    if "cgroup" not in OFFERED:
        pytest.skip("cgroup v2 cannot be written here")
    process = start("cgroup", "pass", tmp_path)
    assert process.wait(30) == 0
    assert not list(Path("/sys/fs/cgroup").glob(f"**/harness-{process.pid}"))
