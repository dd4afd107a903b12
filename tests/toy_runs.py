"""Run the harness over the toys: in this process, or in one of its own that can be killed."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from harness.cli import main

CASE = """\
# /// script
# [tool.harness]
# title = "toykeras.check() fails"
# package = "toykeras"
# companions = ["toynumpy<2"]
# {metadata}
# ///
import os, sys, time
import toykeras
with open({log!r}, "a") as log:
    log.write(toykeras.__version__ + "\\n")
while os.path.exists({hold!r}):
    time.sleep(0.01)
{body}
sys.exit(toykeras.check())
"""

ANSWER = [
    ("regression", "1.1", "1.3"),
    ("recovery", "1.3", "1.4"),
    ("regression", "1.4", "2.0"),
    ("recovery", "2.2", "2.3"),
]
VERDICTS = {
    "1.0": "good", "1.1": "good", "1.2": "skip", "1.3": "bad", "1.4": "good", "1.5": "skip", "1.8": "skip",
    "2.0": "bad", "2.1": "bad", "2.2": "bad", "2.3": "good",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Repro:
    """A case on disk that notes every run of it, and waits while the file `hold` is there."""

    path: Path
    log: Path
    hold: Path

    def ran(self) -> Counter[str]:
        """How often it was run with each release."""
        return Counter(self.log.read_text().split()) if self.log.exists() else Counter()


def repro(folder: Path, body: str = "", metadata: str = "timeout_seconds = 60", name: str = "toy") -> Repro:
    """Write a case."""
    made = Repro(path=folder / f"{name}.py", log=folder / f"{name}.log", hold=folder / f"{name}.hold")
    text = CASE.format(metadata=metadata, log=str(made.log), hold=str(made.hold), body=body)
    made.path.write_text(text, encoding="utf-8")
    return made


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a run of the harness gave."""

    code: int
    out: str
    err: str

    @property
    def report(self) -> dict[str, Any]:
        read: dict[str, Any] = json.loads(self.out)
        return read

    @property
    def verdicts(self) -> dict[str, str | None]:
        return {r["version"]: r["verdict"] for r in self.report["releases"]}

    @property
    def reasons(self) -> dict[str, str]:
        return {r["version"]: r["reason"] for r in self.report["releases"]}

    @property
    def transitions(self) -> list[tuple[str, str, str]]:
        return [(t["kind"], t["last_before"], t["first_after"]) for t in self.report["transitions"]]

    @property
    def answer(self) -> tuple[object, ...]:
        """What must be the same however often a run was disturbed."""
        return self.code, self.verdicts, self.transitions, self.report["conclusion"]["sentence"]


Harness = Callable[..., Outcome]


def in_process(capsys: pytest.CaptureFixture[str]) -> Harness:
    """``harness`` called as a function."""

    def run(*words: str | Path) -> Outcome:
        capsys.readouterr()
        code = main.run([str(word) for word in words])
        printed = capsys.readouterr()
        assert "Traceback" not in printed.err
        return Outcome(code=code, out=printed.out, err=printed.err)

    return run


def words_of(case: Repro, first: str, last: str, *more: str | Path) -> list[str]:
    """The command line of a bisection that confirms each edge once on each side; `more` may ask for another confidence."""
    asked = ("--from", first, "--to", last, "--json", "--confidence", "0.9")
    return [str(word) for word in ("bisect", case.path, *asked, *more)]


class Child:
    """``python -m harness`` as a process of its own."""

    def __init__(self, words: Sequence[str], folder: Path) -> None:
        command = [sys.executable, "-m", "harness", *words]
        self._process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.pid = self._process.pid

    def end(self) -> Outcome:
        """Wait for its end."""
        out, err = self._process.communicate()
        assert "Traceback" not in err
        return Outcome(code=self._process.returncode, out=out, err=err)

    def kill(self, number: int) -> None:
        self._process.send_signal(number)

    def until(self, there: Callable[[], object]) -> None:
        """Wait for something that it does."""
        while not there():
            assert self._process.poll() is None, self._process.communicate()
            threading.Event().wait(0.005)


def children_of_home() -> list[psutil.Process]:
    """Every process that was started below a harness on this test's home."""
    home = os.environ["HARNESS_HOME"]
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            carried = {key: value for key, value in process.environ().items() if key.startswith("HARNESS_")}
            if "HARNESS_PROCESS" in carried and home in process.environ().get("HARNESS_RECIPE", "") + process.cwd():
                found.append(process)
    return found
