"""Read what a probe wrote, and compare it with its request."""

from __future__ import annotations

import signal
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from packaging.version import InvalidVersion, Version

from harness import codec
from harness.adapters.environments.contents import installed
from harness.adapters.environments.failures import Transient, machine_failure
from harness.adapters.processes.process import Ended
from harness.adapters.processes.redaction import clean, redacted
from harness.domain.cases.case import Case, Level
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import HarnessError, InfrastructureError, Untestable
from harness.domain.trials.observation import Ending, EndingKind, Observation, Stage
from harness.domain.verdicts.termination import signal_name


@dataclass(frozen=True, kw_only=True)
class Imported:
    """What the probe's import step reports."""

    versions: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    error: str | None = None


@dataclass(frozen=True, kw_only=True)
class ImportCheck:
    """What an import that is believed showed.

    Attributes:
        seconds: How long it took.
        note: What a reader should know of it; "" for nothing.
    """

    seconds: float
    note: str = ""


def check_imports(case: Case, results: Path, release: str, ended: Ended, executable: str) -> ImportCheck:
    """Raise `Untestable` where what was really imported is not the release that the environment is for.

    A module may say another version than its distribution (tensorflow-cpu 2.15.0.post1 says 2.15.0): where metadata
    and RECORD show that it is the release's own file, they are believed.
    """
    try:
        imported = codec.loads(Imported, (results / "imported.json").read_bytes())
    except (OSError, codec.Malformed) as error:
        raise _not_imported(results, ended) from error
    if imported.error:
        raise Untestable(redacted(f"cannot be imported: {imported.error}"))
    if case.import_name not in imported.versions:
        return ImportCheck(seconds=imported.seconds)
    seen = imported.versions[case.import_name]
    if _same_version(seen, release):
        return ImportCheck(seconds=imported.seconds)
    own = installed.find(case.package, executable)
    file = imported.files.get(case.import_name, "")
    if [Version(one.version) for one in own] == [Version(release)] and own[0].has(file):
        note = f"the module {case.import_name} says version {seen}; metadata and RECORD of {case.package} say {release}"
        return ImportCheck(seconds=imported.seconds, note=note)
    raise Untestable(
        f"the environment of {release} imports {case.import_name} {seen}",
        where=file,
        hint="another package brings this module too: see the environment's lock",
    )


def import_failure(case: Case, results: Path) -> Observation | None:
    """What a trial shows whose package under test cannot be imported, where the case is about that; else None."""
    if case.expects is not Symptom.IMPORT_ERROR:
        return None
    try:
        error = codec.loads(Imported, (results / "imported.json").read_bytes()).error
    except (OSError, codec.Malformed):
        return None
    _, own, told = (error or "").partition(f"import {case.import_name}: ")
    if not own or error != own + told:
        return None
    kind, _, message = redacted(told).partition(": ")
    ending = Ending(kind=EndingKind.RAISED, stage=Stage.IMPORT, exception=kind, message=message)
    return Observation(ending=ending)


def patched_import(case: Case, results: Path, tree: Path, ended: Ended) -> Observation | None:
    """What is known when a patched copy cannot be imported: the patch breaks the package. None: it was imported."""
    try:
        imported = codec.loads(Imported, (results / "imported.json").read_bytes())
    except (OSError, codec.Malformed) as error:
        failure = machine_failure(ended, "importing the patched copy")
        why = f"the probe could not import the patched copy: {_last_line(ended.tail)}"
        raise failure or Untestable(why) from error
    if imported.error:
        why = redacted(f"the patched copy cannot be imported: {imported.error}")
        return Observation(ending=Ending(kind=EndingKind.RAISED, stage=Stage.FIX, exception="ImportError", message=why))
    seen = imported.files.get(case.import_name, "")
    if case.level is Level.MODEL and not Path(seen).is_relative_to(tree):
        hint = "this is a fault of the harness: please report it with the patch"
        raise HarnessError("not the patched copy of the package was imported", where=seen, hint=hint)
    return None


def _not_imported(results: Path, ended: Ended) -> HarnessError:
    """Why the probe ended before it had imported anything: the machine, or the release."""
    if not results.is_dir():
        hint = "does the case remove its results? Correct it and run it again"
        return Transient("the folder of the results was removed while the trial ran", where=str(results), hint=hint)
    if failure := machine_failure(ended, "importing the package under test"):
        return failure
    if ended.timed_out:
        return Untestable(f"cannot be imported: not done after {ended.seconds:.0f} s")
    if ended.exit_code < 0:
        return Untestable(f"cannot be imported: killed by {signal_name(-ended.exit_code)} while importing")
    return Untestable(f"cannot be imported: {_last_line(ended.tail)}")


def check_canary(results: Path, ended: Ended, *, speaks: Collection[EndingKind] = ()) -> bool:
    """Raise where the tiny training that comes first did not finish.

    Args:
        results: Folder of the results.
        ended: How the probe ended.
        speaks: Ends whose meaning the case says itself: a script need neither import the package nor train.

    Returns:
        Whether it finished; False: what the case shows is for the case to say (but see `check_alike`).
    """
    canary = read_result(results / "canary.json", ended)
    ending = canary.ending
    if ending.kind in speaks and ending.stage is not Stage.IMPORT:
        return False
    if ending.kind is EndingKind.SIGNALLED and ending.signal == signal.SIGKILL:
        raise Transient("the canary was killed: memory may have run out", hint="use fewer --jobs and run it again")
    if ending.kind is EndingKind.REFUSED:
        raise Untestable(redacted(ending.message or "the canary was refused"))
    if ending.stage in (Stage.IMPORT, Stage.LOAD):
        raise Untestable(redacted(f"cannot be imported: {_while_importing(ending)}"))
    if ending.kind is not EndingKind.FINISHED:
        raise _red(canary)
    return True


def check_alike(results: Path, ended: Ended, seen: Sequence[Observation]) -> None:
    """Raise where a script fails by the very error of a canary that is red: then it is the environment's."""
    canary = read_result(results / "canary.json", ended)
    message = (canary.ending.message or "").strip().splitlines()[:1]
    trained = canary.ending.kind is EndingKind.RAISED and canary.ending.stage is not Stage.LOAD
    failed = [one.output for one in seen if one.ending.exit_code != 0]
    if trained and message and any(message[0] in output for output in failed):
        raise _red(canary)


def _red(canary: Observation) -> Untestable:
    why = canary.ending.message or canary.output.strip()[-300:]
    return Untestable(f"the canary (a tiny one-replica training) is red: {canary.ending.kind.value}: {why}")


def _while_importing(ending: Ending) -> str:
    match ending.kind:
        case EndingKind.SIGNALLED:
            return f"killed by {signal_name(ending.signal)} while importing"
        case EndingKind.TIMED_OUT:
            return "the import was not done at the deadline of the canary"
        case EndingKind.EXITED:
            return f"the process left with exit code {ending.exit_code} while importing"
        case _:
            return ending.message or ending.kind.value


def read_result(path: Path, ended: Ended) -> Observation:
    """Read what one trial showed; raises where the probe ended without a result."""
    try:
        return clean(codec.loads(Observation, path.read_text(encoding="utf-8")))
    except (OSError, codec.Malformed) as error:
        raise _without_result(path, ended, error) from error


def _without_result(path: Path, ended: Ended, error: OSError | codec.Malformed) -> InfrastructureError:
    """What was seen instead of a result, and what may be behind it."""
    if ended.exit_code != -signal.SIGKILL and (failure := machine_failure(ended, "running the trial")):
        return failure
    last = _last_line(ended.tail)
    if path.is_dir():
        hint = "does the case write into the folder of its results? Correct it and run it again"
        return Transient("the result of the trial was replaced by a folder", where=str(path), hint=hint)
    if isinstance(error, codec.Malformed):
        hint = "does the case write over its results? If not, report it with this text"
        return Transient(f"the result of the trial cannot be read: {str(error)[:300]}", where=str(path), hint=hint)
    if ended.timed_out:
        hint = "did the case stop the process that runs it, or is the machine overloaded?"
        return Transient(f"the probe was not done after {ended.seconds:.0f} s", where=last, hint=hint)
    if ended.exit_code == -signal.SIGKILL:
        hint = "does the case kill its parent? If not, memory may have run out: use fewer --jobs and run it again"
        return Transient("the probe was killed by SIGKILL while running the trial", where=last, hint=hint)
    if ended.exit_code < 0:
        hint = "does the case send signals to its parent? Correct it and run it again"
        return Transient(
            f"the probe was killed by {signal_name(-ended.exit_code)} while running the trial", where=last, hint=hint
        )
    hint = "does the case end its parent or remove its results? If not, report it with this text"
    return Transient(f"the probe ended without a result (exit code {ended.exit_code})", where=last, hint=hint)


def _same_version(seen: str, release: str) -> bool:
    """Whether the imported version is the release's; commits and modules without a version cannot be compared.

    A nightly reports its whole version with the day. Those of Keras 2 reported only the release that they led to.
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
