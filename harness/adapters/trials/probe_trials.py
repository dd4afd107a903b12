"""Run trials, and remember each finished one by what identifies it."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from harness import codec
from harness.adapters.environments.failures import retried
from harness.adapters.environments.isolation import Isolation, Turns, isolation
from harness.adapters.environments.layers import Standing, standing
from harness.adapters.processes import child_env
from harness.adapters.processes.memory import share_of_free
from harness.adapters.processes.process import Processes
from harness.adapters.processes.room import check_room, check_room_after
from harness.adapters.storage.checksums import read_checked, write_checked
from harness.adapters.storage.home import Home
from harness.adapters.trials.probing import Probe, needs_canary
from harness.domain.cases.case import Case
from harness.domain.cases.inline_metadata import metadata_lines
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import EnvironmentChanged, HarnessError, InfrastructureError, Interrupted, Untestable
from harness.domain.fixes.fix import Fix
from harness.domain.trials.diagnosis_facts import WATCHING
from harness.domain.trials.observation import CONTRACT, EndingKind, Observation
from harness.domain.trials.shortage import Shortage, shortage_in, shortage_of
from harness.domain.trials.trial import Environment, FinishedTrial, Trial
from harness.domain.verdicts.surroundings import case_error, from_surroundings
from harness.domain.verdicts.termination import untestable

MOST_CHECKED = 5000  # files of a layer that are looked through although trials could not change them
MOST_NAMED = 3  # changed files that a reason names
_REFUSED = re.compile(r"(?:Permission denied|Read-only file system): '([^'\n]+)'")
_TURNS = Turns()
_SUSPECTS: set[tuple[Path, str]] = set()  # environments in which something was changed, by home and key
DOING = "running a trial"


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
            Untestable: the environment cannot import what it should, its canary is red, or the trials change files
                of their environment.
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
        return retried(partial(self._isolated, environment, case, group), self._processes)

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

    def _isolated(self, environment: Environment, case: Case, group: Sequence[Trial]) -> list[Observation]:
        """Run a group so that it changes nothing for those after it, or notice that it did; nothing is kept before.

        Raises:
            EnvironmentChanged: the environment is not as it was sealed; what the group showed is thrown away. The next
                group in it runs with no other beside it, so that it is known whose change it was.
        """
        viewed = isolation(self._processes, self._home) is Isolation.VIEW
        with _TURNS.alone() if (self._home.root, environment.key) in _SUSPECTS else _TURNS.together():
            used = standing(self._home, environment)
            if used is None:
                return self._probe.observe(environment, case, group)
            try:
                observed = (
                    self._in_views(environment, case, group, used)
                    if viewed
                    else self._bare(environment, case, group, used)
                )
            except Interrupted:
                raise
            except HarnessError:
                self._check(environment, used, viewed=viewed)
                raise
            self._check(environment, used, viewed=viewed)
            return observed

    def _in_views(
        self, environment: Environment, case: Case, group: Sequence[Trial], used: Standing
    ) -> list[Observation]:
        """Run a group in private views; where something writes there, each trial gets a view of its own.

        The canary of a new environment counts too: the package under test may write while it is imported.
        """
        first = needs_canary(environment, case)
        observed = self._probe.observe(environment, case, group, used.folders)
        if (len(group) > 1 or first) and any(one.changed for one in observed):
            return [one for trial in group for one in self._probe.observe(environment, case, [trial], used.folders)]
        return observed

    def _bare(self, environment: Environment, case: Case, group: Sequence[Trial], used: Standing) -> list[Observation]:
        """Run a group on the files themselves, which may be read-only."""
        observed = self._probe.observe(environment, case, group)
        for one in observed:
            if refused := refused_change(one, used.folders):
                raise Untestable(f"the trial tried to change files of its environment: {refused}")
        return observed

    def _check(self, environment: Environment, used: Standing, *, viewed: bool) -> None:
        """Raise `EnvironmentChanged` where files are not as they were sealed.

        Trials with views cannot have changed them; so then only what is looked through in milliseconds is.
        """
        place = (self._home.root, environment.key)
        alone = place in _SUSPECTS
        if changed := used.changed(MOST_CHECKED if viewed else None, viewed=viewed):
            _SUSPECTS.add(place)
            raise EnvironmentChanged(_sentence(changed), where=environment.executable, own=alone and not viewed)
        _SUSPECTS.discard(place)

    def _groups(self, trials: Sequence[Trial]) -> list[list[Trial]]:
        """Trials that share a process tree: a patched copy of the package needs an import of its own."""
        patched = [t for t in trials if t.variant.fix and self._fixes[t.variant.fix].patches_files]
        together = [t for t in trials if t not in patched]
        laid = {t.variant.fix: [o for o in patched if o.variant.fix == t.variant.fix] for t in patched if self._laid(t)}
        alone = [[t] for t in patched if t.variant.fix not in laid]
        return [group for group in (together, *alone, *laid.values()) if group]

    def _laid(self, trial: Trial) -> bool:
        """Whether its copy of the package is made by replacing files: its reference then runs on the same copy."""
        return self._fixes[trial.variant.fix or ""].files is not None

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
        parts |= case.added
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def _file(self, environment: Environment, case: Case, trial: Trial) -> Path:
        key = self._key(environment, case, trial)
        return self._home.folder("trials", key[:2]) / f"{key[2:]}.json"

    def _cached(self, environment: Environment, case: Case, trial: Trial) -> FinishedTrial | None:
        if self._fresh:
            return None
        started = time.monotonic()
        path = self._file(environment, case, trial)
        try:
            observation = codec.loads(Observation, read_checked(path, self._key(environment, case, trial)))
        except (OSError, ValueError):
            return None
        if not _kept(observation, case):
            return None
        return FinishedTrial(trial=trial, observation=observation, seconds=time.monotonic() - started, cached=True)

    def _keep(self, environment: Environment, case: Case, trial: Trial, observation: Observation) -> FinishedTrial:
        if _kept(observation, case):
            text = codec.dumps(Observation, observation)
            write_checked(self._file(environment, case, trial), text, self._key(environment, case, trial))
        return FinishedTrial(trial=trial, observation=observation, seconds=observation.durations.get("total", 0.0))


def _sentence(changed: Sequence[str]) -> str:
    more = f" and {len(changed) - MOST_NAMED} more" if len(changed) > MOST_NAMED else ""
    return f"the trial changed files of its environment: {', '.join(changed[:MOST_NAMED])}{more}"


def refused_change(observation: Observation, folders: Sequence[Path]) -> str:
    """The file of its environment that a trial failed to change, by the error that ended it; "" for none.

    Read-only files are what makes it fail here, so its failure says nothing of the release.
    """
    ending = observation.ending
    if ending.kind is EndingKind.FINISHED or (ending.kind is EndingKind.EXITED and ending.exit_code == 0):
        return ""
    told = "\n".join([observation.output, ending.message or "", ending.traceback or ""])
    return next((path for path in _REFUSED.findall(told) if path.startswith(tuple(map(str, folders)))), "")


def _kept(observation: Observation, case: Case) -> bool:
    """Whether it tells something about the release; a refusal or a kill by the machine is tried again next time.

    So is one that ran into the limit of memory, which may be another one then, and a timeout that nobody expects: a
    loaded machine makes one, and the cache would make it last for ever. It is looked at when a result is read too: what
    the case expects is no part of the key. A failure that comes from the surroundings may be gone next time as well.
    """
    late = observation.ending.kind is EndingKind.TIMED_OUT and case.expects is not Symptom.TIMEOUT
    limited = observation.ending.kind is EndingKind.OUT_OF_MEMORY
    elsewhere = from_surroundings(case, observation) or case_error(case, observation)
    return untestable(observation.ending, case) is None and not late and not limited and not elsewhere


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
