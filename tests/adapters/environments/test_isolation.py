"""Private views made for real where the system allows them; turns with real threads."""

from __future__ import annotations

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.adapters.environments import isolation as module
from harness.adapters.environments.isolation import LAUNCH_FAILURE, Isolation, Turns, Views, isolation, settings
from harness.adapters.processes.process import Processes
from harness.adapters.storage.home import Home
from harness.probe import launch


@pytest.fixture
def viewed(processes: Processes, home: Home) -> None:
    if isolation(processes, home) is not Isolation.VIEW:
        pytest.skip("no mount namespaces here")


@pytest.mark.usefixtures("viewed")
@pytest.mark.parametrize("name", ["plain", "with, comma: and \\ others"])
def test_what_a_process_changes_in_a_view_is_named_and_changes_nothing(
    processes: Processes, tmp_path: Path, name: str
) -> None:
    folder = tmp_path / name
    (folder / "in").mkdir(parents=True)
    for file in ("in/edited", "in/removed", "in/left"):
        (folder / file).write_text("as it was")
    views = Views([folder], tmp_path / "views")
    program = "import os, sys; os.chdir(sys.argv[1]); open('in/edited', 'a').write('x'); os.remove('in/removed')"
    program += "; open('new', 'w').write('y'); os.mkdir('__pycache__'); open('__pycache__/z', 'w')"
    command = views.command(sys.executable, [sys.executable, "-c", program, str(folder)])
    ended = processes.run(command, log=tmp_path / "log", env={}, cwd=tmp_path, deadline_seconds=60)
    views.close()
    assert ended.exit_code == 0, ended.tail
    assert views.written() == ["new", "in/edited", "in/removed"]
    assert sorted(path.name for path in folder.rglob("*")) == ["edited", "in", "left", "removed"]
    assert (folder / "in/edited").read_text() == "as it was"


def test_without_mount_namespaces_files_are_checked(
    processes: Processes, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(module.SETTING, "checks")
    assert isolation(processes, home) is Isolation.CHECKS


def test_so_are_they_where_a_view_cannot_be_made(
    processes: Processes, home: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "launch.py"
    broken.write_text("raise SystemExit(72)")
    monkeypatch.setattr(module, "LAUNCHER", broken)
    assert isolation(processes, home) is Isolation.CHECKS
    assert list((home.root / "scratch").iterdir()) == []


def test_both_sides_of_the_launcher_name_its_failure_alike() -> None:
    assert LAUNCH_FAILURE == launch.FAILURE


def test_files_are_linked_only_where_nothing_can_write_through_the_link() -> None:
    assert settings(Isolation.VIEW)["UV_LINK_MODE"] == "hardlink"
    assert settings(Isolation.CHECKS)["UV_LINK_MODE"] == "copy"


def test_one_that_runs_alone_waits_for_the_others_and_they_for_it() -> None:
    turns, running, seen = Turns(), [], []
    guard = threading.Lock()

    def work(number: int) -> None:
        alone = number % 3 == 0
        with turns.alone() if alone else turns.together():
            with guard:
                running.append(number)
            os.sched_yield()
            with guard:
                seen.append((alone, len(running)))
                running.remove(number)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(300)))
    assert len(seen) == 300
    assert all(together == 1 for alone, together in seen if alone)


def test_a_turn_ends_with_the_error_in_it() -> None:
    turns = Turns()
    for turn in (turns.alone, turns.together, turns.alone):
        with pytest.raises(ValueError, match="planted"), turn():
            raise ValueError("planted")
