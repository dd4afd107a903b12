"""What the tests of the adapters share."""

from __future__ import annotations

import venv
from pathlib import Path

import pytest
import tenacity

from harness.adapters.processes.process import Processes
from harness.adapters.storage.home import Home
from tests.adapters.toy_environment import ToyEnvironment


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty virtual environment."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, symlinks=True)
    return folder


@pytest.fixture
def toys(
    bare: Path, home: Home, processes: Processes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> ToyEnvironment:
    monkeypatch.setattr(tenacity, "sleep_using_event", lambda event: lambda seconds: None)
    return ToyEnvironment(bare, home, processes, tmp_path)
