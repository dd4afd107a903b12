"""Run trials: one probe process per environment, whose results are files, cached by what identifies them."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

import harness
from harness.core.cases import Case, Level
from harness.core.diagnosis_facts import WATCHING
from harness.core.endings import signal_name, untestable
from harness.core.errors import HarnessError, Untestable, UsageError
from harness.core.observations import CONTRACT, Ending, EndingKind, FixFacts, Observation, Stage
from harness.core.symptoms import Symptom
from harness.edge import case_files, codec, surroundings
from harness.edge.failures import Transient, machine_failure, retried
from harness.edge.fixes import Fix, patched_tree
from harness.edge.home import Home, disk_errors
from harness.edge.masking import masked
from harness.edge.process import Ended, Processes
from harness.seams import Environment, FinishedTrial, Trial

PROBE = Path(harness.__file__).parent / "probe" / "__main__.py"
IMPORT_SECONDS = 300.0  # TensorFlow without byte code on a loaded machine needs under 20
CANARY_SECONDS = 120.0
CANARY = "canary.json"


@dataclass(frozen=True, kw_only=True)
class Imported:
    """What the probe's import step reports."""

    versions: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    error: str | None = None


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

    def run(self, environment: Environment, case: Case, trials: Sequence[Trial]) -> Sequence[FinishedTrial]:
        """Run the trials that are not cached, in one process tree, and return all in the order asked.

        Raises:
            Untestable: the environment cannot import what it should, or its canary is red.
            SurroundingsError: memory, disk or the machine failed, again and again.
            HarnessError: it imports another version than was asked for.
        """
        found = {trial: self._cached(environment, case, trial) for trial in trials}
        missing = [trial for trial, finished in found.items() if finished is None]
        if missing:
            for group in self._groups(missing):
                observed = retried(partial(self._probe, environment, case, group), self._processes)
                for trial, observation in zip(group, observed, strict=True):
                    found[trial] = self._keep(environment, case, trial, observation)
        return [finished for trial in trials if (finished := found[trial]) is not None]

    def _groups(self, trials: Sequence[Trial]) -> list[list[Trial]]:
        """Trials that share a process tree: a patched copy of the package needs an import of its own."""
        patched = [t for t in trials if t.variant.fix and self._fixes[t.variant.fix].patches_files]
        together = [t for t in trials if t not in patched]
        return [group for group in (together, *([t] for t in patched)) if group]

    def _probe(self, environment: Environment, case: Case, trials: Sequence[Trial]) -> list[Observation]:
        _check_unchanged(case)
        sealed = Path(environment.executable).parents[1] / CANARY
        fix = self._fixes.get(trials[0].variant.fix or "")
        patching = fix is not None and fix.patches_files
        needs_canary = not sealed.exists() and not patching  # a patched copy says nothing about the environment
        with self._home.scratch() as scratch, disk_errors(scratch, "set HARNESS_HOME to a folder with space"):
            results = scratch / "results"
            results.mkdir()
            (scratch / "case").mkdir()
            path = scratch / "case" / Path(case.path).name
            path.write_text(case.text, encoding="utf-8")
            described = [self._describe(case, trial, f"trial-{n}") for n, trial in enumerate(trials)]
            canary = {"id": "canary", "kind": "canary", "timeout_seconds": CANARY_SECONDS}
            request = {
                "parent": os.getpid(),
                "imports": _imports(case) if needs_canary or case.level is Level.MODEL else [],
                "import_name": case.import_name,
                "results": str(results),
                "case": str(path if case.level is Level.MODEL else case.path),
                "seed": case.seed,
                "fit": dict(case.fit),
                "paths": [],
                "trials": [*([canary] if needs_canary else []), *described],
            }
            if fix is not None and patching:
                refusal = patched_tree(fix, self._package_folder(environment, case), scratch, self._processes)
                if refusal is not None:
                    return [_refused(fix, refusal)]
                request["paths"] = [str(scratch / "patched")]
            (scratch / "request.json").write_text(json.dumps(request), encoding="utf-8")
            ended = self._start(environment, scratch, described)
            if patching:
                if broken := _patched_import(case, results, scratch / "patched", ended):
                    return [broken]
            else:
                self._check_imports(case, results, trials[0].release, ended)
            if needs_canary:
                _check_canary(results, ended)
                sealed.touch()
            return [_read(results / f"{one['id']}.json", ended) for one in described]

    def _start(self, environment: Environment, scratch: Path, described: Sequence[Mapping[str, Any]]) -> Ended:
        """Run the probe to its end; its own deadline lies behind those of its trials."""
        return self._processes.run(
            [environment.executable, "-I", str(PROBE), str(scratch / "request.json")],
            log=scratch / "probe.log",
            env=surroundings.for_trial(scratch),
            cwd=scratch / "case",
            deadline_seconds=IMPORT_SECONDS + CANARY_SECONDS + sum(one["timeout_seconds"] + 10 for one in described),
        )

    def _describe(self, case: Case, trial: Trial, name: str) -> dict[str, Any]:
        variant = trial.variant
        described: dict[str, Any] = {
            "id": name,
            "kind": "diagnosis" if variant.watched else case.level.value,
            "strategy": variant.strategy,
            "replicas": variant.replicas,
            "options": dict(variant.options),
            "policy": variant.policy,
            "timeout_seconds": case.timeout_seconds,
            "memory_bytes": self._memory_bytes,
        }
        if case.level is Level.SCRIPT:
            described["arguments"] = [f"--{name}={value}" for name, value in variant.options]
        fix = self._fixes.get(variant.fix or "")
        if fix is not None and not fix.patches_files:
            described["fix"] = {"name": fix.name, "path": str(fix.path), "options": dict(fix.options)}
        return described

    def _package_folder(self, environment: Environment, case: Case) -> Path:
        """Where the package under test lies in an environment."""
        found = sorted(Path(environment.executable).parents[1].glob(f"lib*/python*/site-packages/{case.import_name}"))
        if not found:
            raise HarnessError(f"{case.import_name} is not a folder in the environment", where=environment.executable)
        return found[0]

    def _check_imports(self, case: Case, results: Path, release: str, ended: Ended) -> None:
        """Hold what was really imported against what the environment is for."""
        try:
            imported = codec.loads(Imported, (results / "imported.json").read_bytes())
        except (OSError, codec.Malformed) as error:
            raise _not_imported(ended) from error
        if imported.error:
            raise Untestable(masked(f"cannot be imported: {imported.error}"))
        if case.import_name not in imported.versions:
            return
        seen = imported.versions[case.import_name]
        if not _same_version(seen, release):
            raise HarnessError(
                f"the environment of {release} imports {case.import_name} {seen}",
                where=imported.files.get(case.import_name),
                hint="this is a fault of the harness: please report it with the environment's lock",
            )

    def _key(self, environment: Environment, case: Case, trial: Trial) -> str:
        fix = self._fixes.get(trial.variant.fix or "")
        parts = {
            "contract": CONTRACT,
            "case": case.digest,
            "package": case.package,
            "seed": case.seed,
            "fit": dict(case.fit),
            "timeout": case.timeout_seconds,
            "environment": environment.key,
            "trial": _identity(trial),
            "fix": fix.digest if fix else "",
            "memory": self._memory_bytes,
            "settings": surroundings.case_settings(),
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
        return FinishedTrial(trial=trial, observation=observation, seconds=time.monotonic() - started, cached=True)

    def _keep(self, environment: Environment, case: Case, trial: Trial, observation: Observation) -> FinishedTrial:
        """Cache what tells something about the release; a refusal or a kill by the machine is tried again next time.

        So is a timeout that nobody expects: a loaded machine makes one, and the cache would make it last for ever.
        """
        late = observation.ending.kind is EndingKind.TIMED_OUT and case.expects is not Symptom.TIMEOUT
        if untestable(observation.ending, case) is None and not late:
            codec.write_whole(self._file(environment, case, trial), codec.dumps(Observation, observation))
        return FinishedTrial(trial=trial, observation=observation, seconds=observation.durations.get("total", 0.0))


def _identity(trial: Trial) -> Any:
    """A trial as part of a key; what was added later and is not used leaves the key as it was."""
    described = codec.to_json(Trial, trial)
    for name in ("policy", "watched"):
        if not described["variant"][name]:
            del described["variant"][name]
    return {**described, "watching": WATCHING} if trial.variant.watched else described


def _refused(fix: Fix, reason: str) -> Observation:
    """What is known of a trial whose patch does not apply: nothing of the release, all of the patch."""
    return Observation(
        ending=Ending(kind=EndingKind.REFUSED, stage=Stage.FIX, message=f"the patch does not apply: {reason}"),
        fix=FixFacts(name=fix.name, outcome="refused", detail=f"the patch does not apply: {reason}"),
    )


def _patched_import(case: Case, results: Path, tree: Path, ended: Ended) -> Observation | None:
    """What is known when a patched copy cannot be imported: the patch breaks the package. None: it was imported."""
    try:
        imported = codec.loads(Imported, (results / "imported.json").read_bytes())
    except (OSError, codec.Malformed) as error:
        failure = machine_failure(ended, "importing the patched copy")
        told = f"the probe could not import the patched copy: {_last_line(ended.tail)}"
        raise failure or Untestable(told) from error
    if imported.error:
        told = f"the patched copy cannot be imported: {imported.error}"
        return Observation(
            ending=Ending(kind=EndingKind.RAISED, stage=Stage.FIX, exception="ImportError", message=told)
        )
    seen = imported.files.get(case.import_name, "")
    if not Path(seen).is_relative_to(tree):
        hint = "this is a fault of the harness: please report it with the patch"
        raise HarnessError("not the patched copy of the package was imported", where=seen, hint=hint)
    return None


def _imports(case: Case) -> list[str]:
    names = ["numpy", "tensorflow"] if case.uses_framework else []
    return [*names, *([case.import_name] if case.import_name not in names else [])]


def _check_unchanged(case: Case) -> None:
    """A script runs where it lies; what is run must be what the question's digest says."""
    if case.level is Level.SCRIPT and case_files.text_of(Path(case.path)) != case.text:
        raise UsageError(
            "the case was edited while the search went on", where=case.path, hint="start the edited case as a new run"
        )


def _not_imported(ended: Ended) -> HarnessError:
    """Why the probe ended before it had imported anything: the machine, or the release."""
    if failure := machine_failure(ended, "importing the package under test"):
        return failure
    if ended.timed_out:
        return Untestable(f"cannot be imported: not done after {ended.seconds:.0f} s")
    if ended.exit_code < 0:
        return Untestable(f"cannot be imported: killed by {signal_name(-ended.exit_code)} while importing")
    return Untestable(f"cannot be imported: {_last_line(ended.tail)}")


def _check_canary(results: Path, ended: Ended) -> None:
    canary = _read(results / "canary.json", ended)
    ending = canary.ending
    if ending.kind is EndingKind.SIGNALLED and ending.signal == signal.SIGKILL:
        raise Transient("the canary was killed: memory may have run out", hint="use fewer --jobs and run it again")
    if ending.kind is not EndingKind.FINISHED:
        told = ending.message or canary.output.strip()[-300:]
        raise Untestable(f"the canary (a tiny one-replica training) is red: {ending.kind.value}: {told}")


def _read(path: Path, ended: Ended) -> Observation:
    try:
        return codec.loads(Observation, masked(path.read_text(encoding="utf-8")))
    except (OSError, codec.Malformed) as error:
        raise machine_failure(ended, "running the trial") or Transient(
            "the probe ended without a result",
            where=_last_line(ended.tail),
            hint="memory may have run out; run the same command again",
        ) from error


def _same_version(seen: str, release: str) -> bool:
    """Whether the imported version is the release's; commits and modules without a version cannot be held against it.

    A nightly says its whole version, day included. Those of Keras 2 said only the release that they led to.
    """
    try:
        wanted = Version(release)
    except InvalidVersion:
        return True
    try:
        found = Version(seen)
    except InvalidVersion:
        return True
    terse = wanted.is_devrelease and not found.is_devrelease and wanted.major < 3
    return found == wanted or (terse and found.release == wanted.release)


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1][:500] if lines else "it printed nothing"
