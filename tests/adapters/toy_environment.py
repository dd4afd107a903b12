"""A real interpreter with a toy module on its path; no installer is involved."""

from __future__ import annotations

import shutil
from pathlib import Path

from harness.adapters.processes.process import Processes
from harness.adapters.storage.home import Home
from harness.adapters.trials.probe_trials import ProbeTrials
from harness.adapters.trials.probing import CANARY
from harness.domain.cases.case import Case
from harness.domain.trials.observation import Observation
from harness.domain.trials.trial import Environment, FinishedTrial, Trial
from harness.domain.trials.variant import Variant
from tests.adapters.samples import script

BASE = Trial(release="1.0", variant=Variant())


class ToyEnvironment:
    """One environment with one module, and cases that run in it."""

    def __init__(self, folder: Path, home: Home, processes: Processes, folder_of_cases: Path) -> None:
        self.folder, self.home, self.processes, self.cases = folder, home, processes, folder_of_cases
        (folder / CANARY).unlink(missing_ok=True)
        self.installs("__version__ = '1.0'")

    def installs(self, source: str) -> None:
        (site,) = self.folder.glob("lib/python*/site-packages")
        shutil.rmtree(site / "__pycache__", ignore_errors=True)  # of a text as long, written in the same second
        (site / "toykeras.py").write_text(source)

    @property
    def environment(self) -> Environment:
        return Environment(key="0" * 20, executable=str(self.folder / "bin/python"), python="3", lock=())

    def case(self, text: str, **changes: object) -> Case:
        path = self.cases / "case.py"
        path.write_text(text)
        return script(text, path=str(path), **{"timeout_seconds": 60.0, **changes})

    def run(self, case: Case, *trials: Trial, **options: object) -> list[FinishedTrial]:
        made = ProbeTrials(self.processes, self.home, **options)  # type: ignore[arg-type]
        return list(made.run(self.environment, case, trials or (BASE,)))

    def see(self, text: str, **changes: object) -> Observation:
        return self.run(self.case(text, **changes))[0].observation
