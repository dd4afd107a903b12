"""Run trials, and remember each finished one by what identifies it."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from harness import codec
from harness.adapters.environments.failures import retried
from harness.adapters.processes import child_env
from harness.adapters.processes.memory import share_of_free
from harness.adapters.processes.process import Processes
from harness.adapters.storage.files import write_whole
from harness.adapters.storage.home import Home
from harness.adapters.trials.probing import Probe
from harness.domain.cases.case import Case
from harness.domain.cases.inline_metadata import metadata_lines
from harness.domain.cases.symptoms import Symptom
from harness.domain.fixes.fix import Fix
from harness.domain.trials.diagnosis_facts import WATCHING
from harness.domain.trials.observation import CONTRACT, EndingKind, Observation
from harness.domain.trials.trial import Environment, FinishedTrial, Trial
from harness.domain.verdicts.termination import untestable


class ProbeTrials:
    """Runs trials of a case and remembers each finished one.

    Args:
        processes: Starts the probe.
        home: Holds the cache of finished trials.
        fresh: Ignore the cache (it is still written).
        memory_bytes: Memory that the import and each trial may take; None: a share of what is free.
        jobs: How many releases are tried at once, for that share.
        fixes: Each fix by its name.
    """

    def __init__(
        self,
        processes: Processes,
        home: Home,
        *,
        fresh: bool = False,
        memory_bytes: int | None = None,
        jobs: int = 1,
        fixes: Mapping[str, Fix] | None = None,
    ) -> None:
        self._processes = processes
        self._home = home
        self._fresh = fresh
        self._memory_bytes = memory_bytes
        self._fixes = dict(fixes or {})
        self._probe = Probe(processes, home, memory_bytes or share_of_free(jobs), self._fixes)

    def run(self, environment: Environment, case: Case, trials: Sequence[Trial]) -> Sequence[FinishedTrial]:
        """Run the trials that are not cached, in one process tree, and return all in the given order.

        Raises:
            Untestable: the environment cannot import what it should, or its canary is red.
            InfrastructureError: memory, disk or the machine failed, again and again.
            HarnessError: it imports another version than it should.
        """
        found = {trial: self._cached(environment, case, trial) for trial in trials}
        missing = [trial for trial, finished in found.items() if finished is None]
        if missing:
            for group in self._groups(missing):
                observed = retried(partial(self._probe.observe, environment, case, group), self._processes)
                for trial, observation in zip(group, observed, strict=True):
                    found[trial] = self._keep(environment, case, trial, observation)
        return [finished for trial in trials if (finished := found[trial]) is not None]

    def _groups(self, trials: Sequence[Trial]) -> list[list[Trial]]:
        """Trials that share a process tree: a patched copy of the package needs an import of its own."""
        patched = [t for t in trials if t.variant.fix and self._fixes[t.variant.fix].patches_files]
        together = [t for t in trials if t not in patched]
        return [group for group in (together, *([t] for t in patched)) if group]

    def _key(self, environment: Environment, case: Case, trial: Trial) -> str:
        """Hash of all that the result depends on; not of what the case says about itself (title, claims, tolerance)."""
        fix = self._fixes.get(trial.variant.fix or "")
        parts = {
            "contract": CONTRACT,
            "code": hashlib.sha256(case.code.encode()).hexdigest(),
            "level": case.level.value,
            "package": case.package,
            "framework": case.uses_framework,
            "seed": case.seed,
            "fit": dict(case.fit),
            "timeout": case.timeout_seconds,
            "environment": environment.key,
            "trial": _identity(trial, case),
            "fix": fix.digest if fix else "",
            "memory": self._memory_bytes,
            "settings": child_env.case_settings(),
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def _file(self, environment: Environment, case: Case, trial: Trial) -> Path:
        key = self._key(environment, case, trial)
        return self._home.folder("trials", key[:2]) / f"{key[2:]}.json"

    def _cached(self, environment: Environment, case: Case, trial: Trial) -> FinishedTrial | None:
        if self._fresh:
            return None
        started = time.monotonic()
        try:
            observation = codec.loads(Observation, self._file(environment, case, trial).read_bytes())
        except (OSError, codec.Malformed):
            return None
        if not _kept(observation, case):
            return None
        return FinishedTrial(trial=trial, observation=observation, seconds=time.monotonic() - started, cached=True)

    def _keep(self, environment: Environment, case: Case, trial: Trial, observation: Observation) -> FinishedTrial:
        if _kept(observation, case):
            write_whole(self._file(environment, case, trial), codec.dumps(Observation, observation))
        return FinishedTrial(trial=trial, observation=observation, seconds=observation.durations.get("total", 0.0))


def _kept(observation: Observation, case: Case) -> bool:
    """Whether it tells something about the release; a refusal or a kill by the machine is tried again next time.

    So is one that ran into the limit of memory, which may be another one then, and a timeout that nobody expects: a
    loaded machine makes one, and the cache would make it last for ever. It is looked at when a result is read too: what
    the case expects is no part of the key.
    """
    late = observation.ending.kind is EndingKind.TIMED_OUT and case.expects is not Symptom.TIMEOUT
    limited = observation.ending.kind is EndingKind.OUT_OF_MEMORY
    return untestable(observation.ending, case) is None and not late and not limited


def _identity(trial: Trial, case: Case) -> Any:
    """A trial as part of a key; what was added later and is not used leaves the key as it was.

    A diagnosis names lines of the case, so for it the length of the metadata before the code counts too.
    """
    described = codec.to_json(Trial, trial)
    for name in ("policy", "watched"):
        if not described["variant"][name]:
            del described["variant"][name]
    if not trial.variant.watched:
        return described
    return {**described, "watching": WATCHING, "metadata_lines": metadata_lines(case.text)}
