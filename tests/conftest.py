"""Fixtures of all tests: a local index, an own home and an own installer cache; nothing of the user's is touched."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock

from harness.adapters.environments.resolver import uv_program
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


# Only the interpreter of these tests is found: a machine may have a dozen, and each costs a second to look at.
SEARCH_PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}"


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all workers of one run of the tests share."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session")
def known_interpreters(run_folder: Path) -> Path:
    """What uv keeps of the interpreters that it looked at: a fifth of a second of work for each new cache."""
    cache = run_folder / "interpreters"
    with FileLock(f"{cache}.lock"):
        if not cache.exists():
            settings = {"UV_CACHE_DIR": str(cache), "PATH": SEARCH_PATH}
            listing = [uv_program(), "python", "list", "--only-installed", "--quiet"]
            subprocess.run(listing, check=True, capture_output=True, env={**os.environ, **settings})
    (bucket,) = cache.glob("interpreter-*")
    return bucket


@pytest.fixture
def isolated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, known_interpreters: Path) -> Path:
    """No setting of the user's installer or harness; an own, empty home. Returns the home."""
    for name in list(os.environ):
        if name.startswith(("PIP_", "UV_", "HARNESS_", "VIRTUAL_ENV", "PYTHON", "KERAS_", "TF_")):
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    monkeypatch.setenv("HARNESS_HOME", str(home))
    (tmp_path / "uv-cache").mkdir()
    (tmp_path / "uv-cache" / known_interpreters.name).symlink_to(known_interpreters)
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv-cache"))
    monkeypatch.setenv("UV_PYTHON_DOWNLOADS", "never")
    monkeypatch.setenv("PATH", SEARCH_PATH)
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
def warm_folders(run_folder: Path) -> dict[str, str]:
    """Home and installer cache that all tests share which are not about them: each environment is built once."""
    return {"HARNESS_HOME": str(run_folder / "warm-home"), "UV_CACHE_DIR": str(run_folder / "warm-uv")}


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
def built(index: LocalIndex, warm_folders: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> LocalIndex:
    """An index of the test's own with the home that stays warm: an environment is known by its lock alone."""
    monkeypatch.setenv("HARNESS_HOME", warm_folders["HARNESS_HOME"])
    return index


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
