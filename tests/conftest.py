"""Fixtures of all tests: a local index, an own home and an own installer cache; nothing of the user's is touched."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.adapters.processes.process import Processes
from harness.adapters.storage.home import Home
from tests.local_index import LocalIndex
from tests.toy_runs import Harness, in_process
from tests.toys import table


@pytest.fixture(scope="session")
def shared_index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalIndex]:
    """The toys on an index that no test makes fail."""
    made = LocalIndex(tmp_path_factory.mktemp("index"))
    made.publish(table())
    yield made
    made.close()


@pytest.fixture
def isolated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No setting of the user's installer or harness; an own, empty home. Returns the home."""
    for name in list(os.environ):
        if name.startswith(("PIP_", "UV_", "HARNESS_", "VIRTUAL_ENV", "PYTHON", "KERAS_", "TF_")):
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    monkeypatch.setenv("HARNESS_HOME", str(home))
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv"))
    monkeypatch.setenv("UV_PYTHON_DOWNLOADS", "never")
    # Only the interpreter of these tests is found: a machine may have a dozen, and each costs a second to look at.
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "no-pyenv"))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)  # no file of the user's says where packages come from
    monkeypatch.setenv("UV_NO_CONFIG", "1")
    monkeypatch.setenv("UV_HTTP_TIMEOUT", "2")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    monkeypatch.chdir(tmp_path)
    return home


@pytest.fixture
def index(isolated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalIndex]:
    """The toys on an index of the test's own, which it may make fail."""
    folder = tmp_path / "files"
    folder.mkdir()
    made = LocalIndex(folder)
    made.publish(table())
    monkeypatch.setenv("UV_DEFAULT_INDEX", made.address)
    yield made
    made.close()


@pytest.fixture(scope="session")
def warm_folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Home and installer cache that several tests share: environments are built once."""
    return {"HARNESS_HOME": str(tmp_path_factory.mktemp("home")), "UV_CACHE_DIR": str(tmp_path_factory.mktemp("uv"))}


@pytest.fixture
def warm(
    isolated: Path, shared_index: LocalIndex, warm_folders: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> LocalIndex:
    """The shared index with a home that stays warm from test to test."""
    monkeypatch.setenv("UV_DEFAULT_INDEX", shared_index.address)
    for name, folder in warm_folders.items():
        monkeypatch.setenv(name, folder)
    return shared_index


@pytest.fixture
def home(isolated: Path) -> Home:
    """An empty home."""
    return Home(isolated)


@pytest.fixture
def processes() -> Iterator[Processes]:
    """Runs processes and ends what a failed test leaves behind."""
    made = Processes()
    yield made
    made.end_all()


@pytest.fixture
def harness_run(capsys: pytest.CaptureFixture[str]) -> Iterator[Harness]:
    """``harness`` as a function that returns exit code and output."""
    before = signal.getsignal(signal.SIGTERM)
    yield in_process(capsys)
    signal.signal(signal.SIGTERM, before)
