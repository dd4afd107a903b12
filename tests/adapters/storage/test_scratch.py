"""Folders of killed harnesses are swept away; those of living ones never."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from harness.adapters.storage.home import Home
from harness.adapters.storage.scratch import scratch_folder

HOLDS = """
import sys, time
from pathlib import Path
from harness.adapters.storage.home import Home
with Home(Path(sys.argv[1])).scratch() as folder:
    (folder / "file").write_text("x")
    print(folder, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def other(home: Home):
    """Another harness that has a folder in use, and that folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(home.root)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
    )
    assert process.stdout is not None
    yield process, Path(process.stdout.readline().strip())
    process.kill()
    process.wait()


def left(home: Home) -> list[Path]:
    return list(home.folder("scratch").iterdir())


def test_what_a_killed_harness_left_is_swept_and_what_is_in_use_stays(home: Home, other) -> None:
    process, folder = other
    home.sweep()
    assert (folder / "file").exists()
    process.send_signal(signal.SIGKILL)
    process.wait()
    with home.scratch() as mine:
        home.sweep()
        assert mine.exists()
    assert left(home) == []


def test_a_folder_leaves_nothing_behind_whatever_happened_in_it(home: Home) -> None:
    def fail_in(folder: Path) -> None:
        (folder / "deep" / "er").mkdir(parents=True)
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"), home.scratch() as folder:
        fail_in(folder)
    assert left(home) == []


def test_a_folder_without_a_lock_is_left_alone_until_it_is_a_day_old(home: Home) -> None:
    young, old = home.folder("scratch", "young"), home.folder("scratch", "old")
    os.utime(old, (0, 0))
    (home.folder("scratch") / "gone.lock").touch()
    home.sweep()
    assert left(home) == [young]


def test_many_at_once_never_take_each_other_s_folder(home: Home) -> None:
    lost = []

    def work() -> None:
        for _ in range(20):
            with home.scratch() as folder:
                home.sweep()
                (folder / "file").write_text("x")
                lost.extend([] if (folder / "file").exists() else [folder])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert lost == []
    home.sweep()
    assert left(home) == []


def _leave_read_only(parent: Path, outside: Path) -> None:
    with scratch_folder(parent) as made:
        (made / "a" / "b").mkdir(parents=True)
        (made / "a" / "b" / "file").touch()
        (made / "a" / "outside").symlink_to(outside)
        for folder in (made / "a" / "b", made / "a", made):
            folder.chmod(0o500)


def test_a_folder_that_a_trial_has_made_read_only_is_removed():
    """Root may remove it in any case, so this is done by a user without rights."""
    with tempfile.TemporaryDirectory() as place:
        parent, outside = Path(place, "scratch"), Path(place, "outside")
        for folder in (Path(place), parent, outside):
            folder.mkdir(exist_ok=True)
            folder.chmod(0o777)
        outside.chmod(0o555)
        pid = os.fork()
        if pid == 0:
            try:
                if os.geteuid() == 0:
                    os.setgid(65534)
                    os.setuid(65534)
                _leave_read_only(parent, outside)
            except BaseException:  # noqa: BLE001 - a child of pytest must not go on as pytest
                os._exit(1)
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
        assert list(parent.iterdir()) == []
        assert outside.stat().st_mode & 0o777 == 0o555
