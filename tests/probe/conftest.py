"""A target environment without a framework: modules of the tests are imported in its place."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import harness
from harness import codec
from harness.domain.trials.observation import Observation

PROBE = Path(harness.__file__).parent / "probe" / "__main__.py"
TOY = """
import os, sys, types

class Callback:
    model = None

class History:
    history = {"loss": [0.5, 0.25]}

class Model:
    weights, metrics, optimizer = [], [], None

    def fit(self, x, y, callbacks, **rest):
        for callback in callbacks:
            callback.model = self
            callback.on_train_begin()
            callback.on_train_batch_end(0, {"loss": 0.25})
        return History()

    def evaluate(self, **kept):
        return {"loss": 0.25}

    def count_params(self):
        return 0

callbacks = types.SimpleNamespace(Callback=Callback)
utils = types.SimpleNamespace(set_random_seed=lambda seed: None)
__version__ = "1.0"
"""
TENSORFLOW = """
import types
config = types.SimpleNamespace(list_physical_devices=lambda kind: [])
"""
CASE = """
import os, sys, signal, json
import toy

def data():
    return [1.0], [1.0]

def model():
    {body}
    return toy.Model()
"""


class Target:
    """Serves requests with the real probe in a process tree of its own.

    Attributes:
        folder: Holds the modules, the request, the case and the results.
        results: Holds what the probe writes.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.results = folder / "results"
        self.results.mkdir()
        (folder / "toy.py").write_text(TOY)
        (folder / "tensorflow.py").write_text(TENSORFLOW)

    def serve(self, *trials: dict[str, Any], case: str = "", **changes: Any) -> dict[str, Any]:
        """Serve one request; returns what was written, by the name of its file."""
        path = self.folder / "case.py"
        path.write_text(case)
        request = {
            "parent": os.getpid(),
            "imports": ["toy"],
            "import_name": "toy",
            "results": str(self.results),
            "case": str(path),
            "seed": 0,
            "fit": {},
            "paths": [str(self.folder)],
            "trials": trials,
            **changes,
        }
        (self.folder / "request.json").write_text(json.dumps(request))
        command = [sys.executable, "-I", str(PROBE), str(self.folder / "request.json")]
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, timeout=60, cwd=self.folder, input="not for a trial"
        )
        assert done.returncode == 0, done.stderr
        return {path.stem: json.loads(path.read_text()) for path in self.results.glob("*.json")}

    def __call__(self, body: str = "pass", trials: int = 1, **changes: Any) -> list[Observation]:
        """Run a body of ``model()`` in one or several trials, and return their observations."""
        described = [trial(f"trial-{n}", **changes) for n in range(trials)]
        self.serve(*described, case=CASE.format(body=body.replace("\n", "\n    ")))
        texts = [(self.results / f"{one['id']}.json").read_text() for one in described]
        return [codec.loads(Observation, text) for text in texts]


def trial(name: str, **changes: Any) -> dict[str, Any]:
    """One trial as a request describes it."""
    usual = {"kind": "model", "strategy": "none", "replicas": 1, "options": {}, "timeout_seconds": 20}
    return {"id": name, **usual, **changes}


@pytest.fixture
def probe(tmp_path: Path) -> Target:
    """The probe, ready to serve requests of the test."""
    return Target(tmp_path)
