"""Run one probe: write its request, start it in the environment, read its results."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import harness
from harness.adapters.environments.contents.installed import module_of
from harness.adapters.environments.failures import Transient
from harness.adapters.environments.isolation import LAUNCH_FAILURE, SETTING, Views
from harness.adapters.processes import child_env
from harness.adapters.processes.process import Ended, Processes
from harness.adapters.processes.redaction import REDACTED, redacted
from harness.adapters.storage import beside, case_files
from harness.adapters.storage.files import disk_errors
from harness.adapters.storage.home import Home
from harness.adapters.trials.fixes import Patched, patched_tree
from harness.adapters.trials.probe_results import (
    check_alike,
    check_canary,
    check_imports,
    import_failure,
    patched_import,
    read_result,
)
from harness.adapters.trials.trees import laid_over, package_folder
from harness.domain.cases.backends import Backend
from harness.domain.cases.case import Case, Level
from harness.domain.cases.shapes.runners import MAIN_CALL, Runner
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import UsageError
from harness.domain.fixes.fix import Fix
from harness.domain.trials.observation import Ending, EndingKind, FixFacts, Observation, Stage
from harness.domain.trials.trial import Environment, Trial

PROBE = Path(harness.__file__).parent / "probe" / "__main__.py"
IMPORT_SECONDS = 300.0  # TensorFlow without byte code on a loaded machine needs under 20
LEAST_IMPORT_SECONDS = 60.0  # whatever other releases needed
IMPORT_FACTOR = 10  # so many times longer than the slowest release so far may an import take
CANARY_SECONDS = 120.0
SLACK_SECONDS = 30.0  # for the probe to notice that an import takes too long, and to end it
CANARY = "canary.json"
MEASURED = "imported.txt"
MOST_CHANGED = 20  # names of changed files that are kept
REASON_LIMIT = 500


class ImportTimes:
    """How long an import may take: it follows what the other releases of the run needed."""

    def __init__(self) -> None:
        self._slowest = 0.0
        self._guard = threading.Lock()

    def add(self, seconds: float) -> None:
        """One import was done."""
        with self._guard:
            self._slowest = max(self._slowest, seconds)

    @property
    def deadline_seconds(self) -> float:
        """Ten times the slowest so far, but at least a minute; without any, what is enough for all that is known."""
        with self._guard:
            slowest = self._slowest
        return min(IMPORT_SECONDS, max(LEAST_IMPORT_SECONDS, IMPORT_FACTOR * slowest)) if slowest else IMPORT_SECONDS


class Probe:
    """Runs trials of a case in one process tree of its own.

    Args:
        processes: Starts it.
        home: Holds its scratch folder.
        memory_bytes: Memory that the import may take, and each trial with all its processes.
        fixes: Each fix by its name.
    """

    def __init__(self, processes: Processes, home: Home, memory_bytes: int, fixes: Mapping[str, Fix]) -> None:
        self._processes = processes
        self._home = home
        self._memory_bytes = memory_bytes
        self._fixes = fixes
        self._times = ImportTimes()

    def observe(
        self, environment: Environment, case: Case, trials: Sequence[Trial], folders: Sequence[Path] = ()
    ) -> list[Observation]:
        """Run the trials to their ends and return what each showed; raises as `ProbeTrials.run` does.

        Args:
            environment: Where they run.
            case: What they run.
            trials: They share one process tree.
            folders: Those of the environment of which the tree gets private views.
        """
        module = module_of(case.package, case.import_name, environment.executable)
        case = case if module == case.import_name else replace(case, module=module)
        fix = self._fixes.get(trials[0].variant.fix or "")
        fix = fix if fix is not None and fix.patches_files else None
        with_canary = needs_canary(environment, case) and fix is None  # a patched copy proves nothing
        with self._home.scratch() as scratch, disk_errors(scratch, "set HARNESS_HOME to a folder with space"):
            described = self._laid_out(case, trials, scratch)
            import_seconds = self._times.deadline_seconds
            request = {
                **self._request(case, described, with_canary=with_canary),
                "results": str(scratch / "results"),
                "import_seconds": import_seconds,
                "case": str(_case_file(case, scratch)),
            }
            left_out: Sequence[str] = ()
            if fix is not None:
                patched = _patched(fix, package_folder(environment, case), scratch, self._processes)
                if patched.refusal:
                    return [_refused(fix, patched.refusal) for _ in trials]
                left_out = patched.left_out
                request |= _on_the_copy(fix, scratch)
            (scratch / "request.json").write_text(json.dumps(request), encoding="utf-8")
            views = Views(folders, scratch / "views")
            ended = self._start(environment, case, scratch, described, import_seconds, views)
            views.close()
            if broken := _not_imported(case, fix, scratch, ended):
                return [broken for _ in trials]
            notes = self._notes(environment, case, trials[0], scratch, ended) if fix is None else ()
            read = _read(environment, case, described, scratch, ended, with_canary=with_canary)
            changed = tuple(views.written()[:MOST_CHANGED])
            executed = _measured(scratch / MEASURED) if fix is not None and fix.measured else ()
            seen = [replace(one, changed=changed, notes=notes, imported=executed) for one in read]
            return [_partly(fix, left_out, one) for one in seen] if fix is not None else seen

    def _laid_out(self, case: Case, trials: Sequence[Trial], scratch: Path) -> list[dict[str, Any]]:
        """Write the case and the place of each trial; returns what the probe is told of each."""
        text = _exact_text(case)
        (scratch / "results").mkdir()
        (scratch / "case").mkdir()
        called = MAIN_CALL if case.runner is Runner.MAIN else ""
        _case_file(case, scratch).write_text(text + called, encoding="utf-8")
        return [
            {**self._describe(case, trial, f"trial-{n}"), **_placed(case, text, scratch / f"place-{n}")}
            for n, trial in enumerate(trials)
        ]

    def _notes(
        self, environment: Environment, case: Case, trial: Trial, scratch: Path, ended: Ended
    ) -> tuple[str, ...]:
        """What is to be said of the import; raises where it is not that of the environment."""
        imported = check_imports(case, scratch / "results", trial.release, ended, environment.executable)
        self._times.add(imported.seconds)
        return (imported.note,) if imported.note else ()

    def _request(self, case: Case, described: Sequence[Mapping[str, Any]], *, with_canary: bool) -> dict[str, Any]:
        """What the probe is asked for, as far as it does not depend on where it runs."""
        canary = {
            "id": "canary",
            "kind": "canary",
            "timeout_seconds": CANARY_SECONDS,
            "memory_bytes": self._memory_bytes,
        }
        return {
            "parent": os.getpid(),
            "imports": _imports(case) if case.level is Level.MODEL else [],
            "prerequisites": case.prerequisites,
            "speaks": speaks(case),
            "import_name": case.import_name,
            "backend": case.keras_backend.value if case.keras_backend else None,
            "memory_bytes": self._memory_bytes,
            "place": case.path,
            "seed": case.seed,
            "fit": dict(case.fit),
            "paths": [],
            "trials": [*([canary] if with_canary else []), *described],
        }

    def _start(
        self,
        environment: Environment,
        case: Case,
        scratch: Path,
        described: Sequence[Mapping[str, Any]],
        import_seconds: float,
        views: Views,
    ) -> Ended:
        """Run the probe to its end; its own deadline is later than those of its import and its trials."""
        probe = [environment.executable, "-I", "-B", str(PROBE), str(scratch / "request.json")]
        ended = self._processes.run(
            views.command(environment.executable, probe) if views.folders else probe,
            log=scratch / "probe.log",
            env=child_env.for_trial(scratch, case.trial_env),
            cwd=scratch / "case",
            deadline_seconds=import_seconds
            + SLACK_SECONDS
            + CANARY_SECONDS
            + sum(one["timeout_seconds"] + 10 for one in described),
        )
        if ended.exit_code != 0 and ended.tail.startswith(LAUNCH_FAILURE):
            raise Transient(
                "the trial cannot be kept from changing its environment",
                where=ended.tail.strip()[:REASON_LIMIT],
                hint=f"set {SETTING}=checks to do without mount namespaces",
            )
        return ended

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
            described["python_flags"] = list(case.python_flags)
            described["arguments"] = [*case.arguments, *(f"--{name}={value}" for name, value in variant.options)]
        fix = self._fixes.get(variant.fix or "")
        if fix is not None and not fix.patches_files:
            described["fix"] = {"name": fix.name, "path": fix.path, "options": dict(fix.options)}
        return described


def _case_file(case: Case, scratch: Path) -> Path:
    return scratch / "case" / (Path(case.path).name if case.runner is not Runner.COMMAND else "command")


def _on_the_copy(fix: Fix, scratch: Path) -> dict[str, Any]:
    """What the probe is told where the package under test is a patched copy."""
    copy = str(scratch / "patched")
    return {"paths": [copy], "measured": [copy, str(scratch / MEASURED)] if fix.measured else []}


def _not_imported(case: Case, fix: Fix | None, scratch: Path, ended: Ended) -> Observation | None:
    """What an import showed that failed, where that is for the case to judge, or the work of a patch."""
    if failed := import_failure(case, scratch / "results"):
        return failed
    return patched_import(case, scratch / "results", scratch / "patched", ended) if fix is not None else None


def _read(
    environment: Environment,
    case: Case,
    described: Sequence[Mapping[str, Any]],
    scratch: Path,
    ended: Ended,
    *,
    with_canary: bool,
) -> list[Observation]:
    """What each trial showed; raises where the canary says that it means nothing."""
    results = scratch / "results"
    green = not with_canary or check_canary(results, ended, speaks=speaks(case))
    read = [read_result(results / f"{one['id']}.json", ended) for one in described]
    if not green:
        check_alike(results, ended, read)
    elif with_canary:
        _canary(environment, case).touch()
    return read


def needs_canary(environment: Environment, case: Case) -> bool:
    """Whether no canary was good in an environment yet: then one runs first, beside the trials."""
    return not _canary(environment, case).exists()


def _canary(environment: Environment, case: Case) -> Path:
    return Path(environment.executable).parents[1] / _canary_file(case)


def _placed(case: Case, text: str, place: Path) -> dict[str, Any]:
    """Lay the private copies of one trial of a script: where it runs, and what runs it.

    The copy of the folder in which the user stands is the working folder. Tests are collected from files, so theirs
    is a copy too; a script runs from the text that was read, in the name of the user's file.
    """
    if case.level is not Level.SCRIPT or not case.folder:
        return {}
    user = Path(case.folder).resolve()
    work = place / "work"
    work.mkdir(parents=True)
    described = {"runner": case.runner.value, "folder": str(work), "node": case.node}
    if case.runner is Runner.COMMAND:
        beside.copy(_unchanged(case), [(user, work)])
        return {**described, "command": text}
    own = Path(case.path).resolve().parent
    copied = work / own.relative_to(user) if own.is_relative_to(user) else place / "case"
    copied.mkdir(parents=True, exist_ok=True)
    beside.copy(_unchanged(case), [(own, copied), (user, work)])
    file = copied / Path(case.path).name
    if case.runner in (Runner.PYTEST, Runner.UNITTEST):
        file.write_text(text, encoding="utf-8")
    return {**described, "file": str(file)}


def _unchanged(case: Case) -> beside.Beside:
    """The files of a case; raises `UsageError` where they are no longer those that the question is about."""
    found = case_files.files_of(case)
    if found.digest != case.beside_digest:
        raise UsageError(
            "a file that the case reads was edited during the search",
            where=", ".join(map(str, found.names[:3])) or case.folder,
            hint="start it as a new run",
        )
    return found


def _patched(fix: Fix, folder: Path, scratch: Path, processes: Processes) -> Patched:
    """Make the copy of the package that a fix asks for, below ``scratch/patched``."""
    if fix.files is None:
        return patched_tree(fix, folder, scratch, processes)
    laid_over(fix, folder, scratch)
    return Patched()


def _measured(file: Path) -> tuple[str, ...]:
    """The files that a measured trial noted; none where it was ended by force, or is no script or model."""
    try:
        return tuple(sorted(set(file.read_text(encoding="utf-8").splitlines())))
    except OSError:
        return ()


def _refused(fix: Fix, reason: str) -> Observation:
    """The observation of a trial whose patch does not apply: it says nothing of the release."""
    return Observation(
        ending=Ending(kind=EndingKind.REFUSED, stage=Stage.FIX, message=f"the patch does not apply: {reason}"),
        fix=FixFacts(name=fix.name, outcome="refused", detail=f"the patch does not apply: {reason}"),
    )


def _partly(fix: Fix, left_out: Sequence[str], seen: Observation) -> Observation:
    """The observation with the files of the patch that are not in the package, where there are any."""
    if not left_out or seen.fix is not None:
        return seen
    return replace(seen, fix=FixFacts(name=fix.name, outcome="applied", left_out=tuple(left_out)))


def _imports(case: Case) -> list[str]:
    """What a model case needs before its trials are forked."""
    return [*case.prerequisites, case.import_name]


def speaks(case: Case) -> tuple[EndingKind, ...]:
    """The ends of an import of the package under test whose meaning the case itself says: git's contract for scripts.

    A death or a hang while importing is no such end, unless the case was written for it: git would stop the search.
    """
    if case.level is not Level.SCRIPT:
        return ()
    forced = {Symptom.KILLED: EndingKind.SIGNALLED, Symptom.TIMEOUT: EndingKind.TIMED_OUT}
    expected = forced.get(case.expects) if case.expects else None
    return (EndingKind.RAISED, *([expected] if expected else []))


def _canary_file(case: Case) -> str:
    """Says that the canary was green with one backend."""
    backend = case.keras_backend
    return CANARY if backend in (None, Backend.TENSORFLOW) else f"canary-{backend.value}.json"


def _exact_text(case: Case) -> str:
    """The text that runs: the one that the question names. A trial gets a private copy of it.

    A case that was read from a journal is without its credentials, which are then read from its file again.

    Raises:
        UsageError: a script was edited since, or the credentials of a case are gone.
    """
    hidden = REDACTED in case.text
    if case.level is not Level.SCRIPT and not hidden:
        return case.text
    if (now := _text_now(case)) == case.text or (hidden and now is not None and redacted(now) == case.text):
        return now or case.text
    if case.level is not Level.SCRIPT and f"://{REDACTED}@" not in case.text:
        return case.text
    raise UsageError(
        "the case was edited during the search", where=case.path, hint="start the edited case as a new run"
    )


def _text_now(case: Case) -> str | None:
    """The text of the case's file; a script must have one, since what lies beside it belongs to it."""
    if case.level is Level.SCRIPT or Path(case.path).is_file():
        return case_files.code_now(case)
    return None
