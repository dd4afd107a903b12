"""How an environment is kept from the trials that run in it, which may write wherever their user may.

Where the system allows it (Linux: a mount namespace with overlays), a trial gets a private view of the layers that it
stands on: what it writes there goes to its scratch folder. Elsewhere the files are made read-only, which root does not
mind and which a rename goes around, and every group of trials is followed by a check of all files.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from enum import Enum
from pathlib import Path

import harness
from harness.adapters.processes.process import Processes
from harness.adapters.storage.home import Home

LAUNCHER = Path(harness.__file__).parent / "probe" / "launch.py"
LAUNCH_FAILURE = "harness: the folders cannot be given a private view: "  # what the launcher prints
SETTING = "HARNESS_ISOLATION"  # "checks": do not use mount namespaces
_TEST_SECONDS = 60.0
_NVIDIA = Path("/dev/nvidiactl")
_TEST = "import sys; open(sys.argv[1], 'a').write('changed')"


class Isolation(str, Enum):
    """What keeps a trial from changing the environment of the others; recorded with each environment."""

    VIEW = "private view"
    CHECKS = "read-only files and checks"


_known: dict[Path, Isolation] = {}
_guard = threading.Lock()


def isolation(processes: Processes, home: Home) -> Isolation:
    """What can be used here; tried once for each home, because it depends on the file system too."""
    if os.environ.get(SETTING) == "checks" or sys.platform != "linux":
        return Isolation.CHECKS
    with _guard:
        if home.root not in _known:
            _known[home.root] = Isolation.VIEW if _views_work(processes, home) else Isolation.CHECKS
        return _known[home.root]


def _views_work(processes: Processes, home: Home) -> bool:
    """Whether a file of a folder stays as it is when a process writes into its view."""
    with home.scratch() as scratch:
        folder = scratch / "folder"
        folder.mkdir()
        file = folder / "file"
        file.write_text("as it was", encoding="utf-8")
        views = Views([folder], scratch / "views")
        command = [sys.executable, "-I", "-S", "-c", _TEST, str(file)]
        ended = processes.run(
            views.command(sys.executable, command),
            log=scratch / "log",
            env={},
            cwd=scratch,
            deadline_seconds=_TEST_SECONDS,
        )
        works = ended.exit_code == 0 and file.read_text(encoding="utf-8") == "as it was" and views.written() == ["file"]
        views.close()
    return works


class Views:
    """Private views of some folders for one process tree.

    Args:
        folders: Each gets a view; nothing else may change them meanwhile.
        place: A folder that takes what is written; made here.
    """

    def __init__(self, folders: Sequence[Path], place: Path) -> None:
        self._places = {folder: place / str(number) for number, folder in enumerate(folders)}
        for made in self._places.values():
            for name in ("upper", "work"):
                (made / name).mkdir(parents=True)

    @property
    def folders(self) -> list[Path]:
        """What has a view."""
        return list(self._places)

    def command(self, python: str, command: Sequence[str]) -> list[str]:
        """The command that runs another one with these views; `python` only starts it."""
        plan = {
            "views": [
                [str(folder), str(place / "upper"), str(place / "work")] for folder, place in self._places.items()
            ],
            # In a user namespace, programs of root do not become root; CUDA calls one to load its driver.
            "user_namespace": not _NVIDIA.exists(),
        }
        return [python, "-I", "-S", str(LAUNCHER), json.dumps(plan), *command]

    def written(self) -> list[str]:
        """Files that were written, changed or removed in the views, relative to their folder."""
        found = []
        for place in self._places.values():
            upper = place / "upper"
            for folder, folders, files in os.walk(upper):
                folders[:] = sorted(name for name in folders if name != "__pycache__")
                found += [str(Path(folder, name).relative_to(upper)) for name in sorted(files)]
        return found

    def close(self) -> None:
        """Make what the system keeps for itself removable by a user that is not root."""
        for place in self._places.values():
            with suppress(OSError):
                (place / "work" / "work").chmod(0o700)


class Turns:
    """Many may run at once, or one alone: to see whose trial changed a file, it runs again with no other beside it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._running = 0
        self._waiting = 0
        self._taken = False

    @contextmanager
    def together(self) -> Iterator[None]:
        """Run beside others."""
        with self._changed:
            self._changed.wait_for(lambda: not self._taken and not self._waiting)
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Run when nothing else does."""
        with self._changed:
            self._waiting += 1
            self._changed.wait_for(lambda: not self._taken and not self._running)
            self._waiting -= 1
            self._taken = True
        try:
            yield
        finally:
            with self._changed:
                self._taken = False
                self._changed.notify_all()


def settings(kind: Isolation) -> Mapping[str, str]:
    """How uv puts files into an environment: never as links to its cache, unless nothing can write through them.

    A hard link shares the file with the cache and with other environments; so where a trial could write to it, files
    are copied. Symbolic links would break with the cache.
    """
    return {"UV_LINK_MODE": "hardlink" if kind is Isolation.VIEW else "copy"}
