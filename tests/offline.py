"""A harness without a network: an index page in the cache, and an address at which nobody answers."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness import codec
from harness.adapters.environments.interpreters import Interpreters
from harness.adapters.index.package_index import PackageIndex
from harness.adapters.storage.checksums import write_checked
from harness.adapters.storage.home import Home
from harness.cli.main import run
from harness.domain.releases.index_page import IndexPage
from harness.domain.releases.release import Release
from tests.examples import release

NOWHERE = "http://127.0.0.1:9/simple/"
LEAKING = ("HARNESS_", "UV_", "PIP_", "KERAS_", "TF_", "NOX_", "COLUMNS", "FORCE_COLOR", "NO_COLOR", "TERM")
PUBLISHED = (
    release("3.5.0", day=0, requires_python=">=3.9"),
    release("3.6.0rc0", day=40),
    release("3.6.0", day=50, requires_python=">=3.9"),
    release("3.6.1", day=55, yanked="forgot a file"),
    release("3.7.0", day=100, requires_python=">=3.9"),
    release("3.10.0", day=200, requires_python=">=3.20"),
    release("3.9.9", day=300, requires_python=">=3.9"),
)


@dataclass(frozen=True)
class Said:
    """What one command left behind."""

    code: int
    out: str
    err: str


class Offline:
    """Runs commands in an empty folder with an empty home."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.home = folder / "home"
        self._capsys = capsys

    def __call__(self, *arguments: str) -> Said:
        code = run(list(arguments))
        said = self._capsys.readouterr()
        assert "Traceback" not in said.err
        return Said(code, said.out, said.err)

    def refused(self, *arguments: str, code: int) -> list[str]:
        """Run a command that must fail with one clear message; returns its lines."""
        said = self(*arguments)
        assert said.code == code, said.err
        lines = said.err.rstrip("\n").split("\n")
        assert sum(line.startswith(("harness: ", "Error: ")) for line in lines) == 1, said.err
        assert said.out == ""
        return lines

    def publish(self, releases: Sequence[Release] = PUBLISHED, *, age_hours: float = 0.0) -> None:
        """Put an index page into the cache as if it had been fetched some hours ago."""
        package = releases[0].package
        index = PackageIndex(Home(self.home), address=NOWHERE)
        page = IndexPage(package=package, fetched=time.time() - 3600 * age_hours, releases=tuple(releases))
        write_checked(index._file(package), codec.dumps(IndexPage, page), package)

    def case(self, text: str, name: str = "my.py") -> str:
        """Write a case file and return its path."""
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return str(path)


@pytest.fixture
def harness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Offline]:
    """An offline harness; nothing of the user's settings leaks in, no signal handler out."""
    import os

    for name in list(os.environ):
        if name.startswith(LEAKING):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HARNESS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HARNESS_INDEX_URL", NOWHERE)
    monkeypatch.setattr(PackageIndex._fetch.retry, "sleep", lambda seconds: None)
    monkeypatch.setattr(Interpreters, "_of_uv", lambda self: [])  # uv takes seconds to look through the machine
    monkeypatch.chdir(tmp_path)
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield Offline(tmp_path, capsys)
    for number, handler in before.items():
        signal.signal(number, handler)
