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
from harness.adapters.processes.process import Processes
from harness.adapters.processes.room import check_room, check_room_after
from harness.adapters.storage.files import write_whole
from harness.adapters.storage.home import Home
from harness.adapters.trials.probing import Probe
from harness.domain.cases.case import Case
from harness.domain.cases.inline_metadata import metadata_lines
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import InfrastructureError, Untestable
from harness.domain.fixes.fix import Fix
from harness.domain.trials.diagnosis_facts import WATCHING
from harness.domain.trials.observation import CONTRACT, EndingKind, Observation
from harness.domain.trials.shortage import Shortage, shortage_in, shortage_of
from harness.domain.trials.trial import Environment, FinishedTrial, Trial
from harness.domain.verdicts.termination import untestable

DOING = "running a trial"


class ProbeTrials:
    """Runs trials of a case and remembers each finished one.

    Args:
        processes: Starts the probe.
        home: Holds the cache of finished trials.
        fresh: Ignore the cache (it is still written).
        memory_bytes: Resident memory that a trial may take; None: no limit.
        fixes: Each fix by its name.
    """

    def __init__(
        self,
        processes: Processes,
        home: Home,
        *,
        fresh: bool = False,
        memory_bytes: int | None = None,
        fixes: Mapping[str, Fix] | None = None,
    ) -> None:
        self._processes = processes
        self._home = home
        self._fresh = fresh
        self._memory_bytes = memory_bytes
        self._fixes = dict(fixes or {})
        self._probe = Probe(processes, home, memory_bytes, self._fixes)

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
                observed = self._observe(environment, case, group)
                for trial, observation in zip(group, observed, strict=True):
                    found[trial] = self._keep(environment, case, trial, observation)
        return [finished for trial in trials if (finished := found[trial]) is not None]

    def _observe(self, environment: Environment, case: Case, group: Sequence[Trial]) -> list[Observation]:
        """Run trials that share a process tree; what failed for want of something runs once more, when it is there."""
        check_room(self._home, DOING)
        try:
            observed = self._watched(environment, case, group)
        except Untestable as reason:
            if (lacked := shortage_in(reason.what)) is None:
                raise
            check_room_after(lacked, self._home, DOING)
            observed = self._watched(environment, case, group)
        return [
            self._once_more(environment, case, trial, seen, lacked)
            if (lacked := shortage_of(seen)) is not None
            else seen
            for trial, seen in zip(group, observed, strict=True)
        ]

    def _watched(self, environment: Environment, case: Case, group: Sequence[Trial]) -> list[Observation]:
        return retried(partial(self._probe.observe, environment, case, group), self._processes)

    def _once_more(
        self, environment: Environment, case: Case, trial: Trial, first: Observation, lacked: Shortage
    ) -> Observation:
        """Run a trial again that failed for want of something, alone and with room for it.

        Raises:
            InfrastructureError: there is no room, or the second run lacked something else.
        """
        check_room_after(lacked, self._home, DOING)
        (second,) = self._watched(environment, case, [trial])
        again = shortage_of(second)
        if again is not None:
            check_room_after(again, self._home, DOING)
        if again is None or again is lacked:
            return second
        raise InfrastructureError(
            f"a trial of {trial.release} ended for want of {lacked.value}, and then for want of {again.value}",
            where=first.ending.message or _last_line(second.output),
            hint="free some of both, or use fewer --jobs, then run the same command again",
        )

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

    So is a timeout that nobody expects: a loaded machine makes one, and the cache would make it last for ever. It is
    looked at when a result is read too: what the case expects is no part of the key.
    """
    late = observation.ending.kind is EndingKind.TIMED_OUT and case.expects is not Symptom.TIMEOUT
    return untestable(observation.ending, case) is None and not late


def _last_line(text: str) -> str:
    return next((line for line in reversed(text.splitlines()) if line.strip()), "it printed nothing")


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
