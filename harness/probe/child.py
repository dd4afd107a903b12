"""The forked process of one trial: run the trial, write its facts, and exit."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import traceback
from collections.abc import Callable
from typing import Any

from . import results
from .exceptions import describe
from .processes import die_with
from .refusals import Refused
from .script_runner import MEASURED, note_imports
from .stages import reached, stage_marker

_HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
SCRIPT_RUNNER = os.path.join(_HERE, "script_runner.py")  # noqa: PTH118
TEST_RUNNERS = {name: os.path.join(_HERE, "runners", f"{name}_runner.py") for name in ("pytest", "unittest")}  # noqa: PTH118
"""Programs that run files of tests and say by their exit code what came of it."""
RUNNERS = {"canary": ".training.canary", "diagnosis": ".diagnosis.watching", "model": ".training.model"}
"""The module that runs each kind of trial; imported late, because it imports the framework."""


def run_and_exit(
    request: dict[str, Any],
    trial: dict[str, Any],
    imported: dict[str, Any],
    *,
    output: int,
    result_file: str,
    stage_file: str,
    zygote: int,
) -> None:
    """Run the trial in the forked process; never returns.

    Args:
        request: The request that the probe serves.
        trial: The trial's part of it.
        imported: What the import step reported.
        output: File descriptor that takes what the trial prints.
        result_file: Where the facts are written.
        stage_file: Where the stage is written that the trial has reached.
        zygote: Process id of the parent, with which the trial dies.
    """
    code, own = 70, os.getpid()
    try:
        os.setpgid(0, 0)
        die_with(zygote, signal.SIGKILL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        enter = stage_marker(stage_file)
        if trial["kind"] == "script":
            _run_script(request, trial, enter)
        facts = _facts(request, trial, imported, enter, stage_file)
        if os.getpid() == own:  # a case may fork; its children come here too, and only the trial itself writes facts
            _write(result_file, facts)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _write(path: str, facts: dict[str, Any]) -> None:
    """Write the facts; what cannot be written is our failure, and no verdict about the release."""
    try:
        results.write(path, facts)
    except (OSError, TypeError, ValueError, RecursionError) as error:
        message = f"the probe could not write what it saw: {describe(error)[1]}"
        results.write(path, {"ending": {"kind": "refused", "stage": facts["ending"]["stage"], "message": message}})


def _facts(
    request: dict[str, Any],
    trial: dict[str, Any],
    imported: dict[str, Any],
    enter: Callable[[str], None],
    stage_file: str,
) -> dict[str, Any]:
    """Run the trial's kind and turn whatever happens into facts."""
    runner = importlib.import_module(RUNNERS[trial["kind"]], __package__)
    facts: dict[str, Any] = {"versions": imported["versions"], "durations": {}}
    try:
        runner.run(request, trial, facts, enter)
        facts["ending"] = {"kind": "finished", "stage": reached(stage_file)}
    except Refused as refusal:
        facts["ending"] = {"kind": "refused", "stage": reached(stage_file), "message": str(refusal)}
    except BaseException as error:
        name, message, frames = describe(error)
        traceback.print_exc()
        facts["ending"] = {
            "kind": "raised",
            "stage": reached(stage_file),
            "exception": name,
            "message": message,
            "traceback": frames,
        }
    if request.get("measured"):
        note_imports(*request["measured"])
    facts["peak_memory_bytes"] = _peak_memory()
    return facts


def _run_script(request: dict[str, Any], trial: dict[str, Any], enter: Callable[[str], None]) -> None:
    """Become the program that runs the script, in the trial's own copy of the working folder."""
    enter("script")
    os.environ["PYTHONUNBUFFERED"] = "1"
    if request.get("paths"):  # a copy of the package under test, which the new program has to find too
        os.environ["PYTHONPATH"] = os.pathsep.join([*request["paths"], *filter(None, [os.environ.get("PYTHONPATH")])])
    if request.get("measured"):
        os.environ[MEASURED] = os.pathsep.join(request["measured"])
    if trial.get("folder"):
        os.chdir(trial["folder"])
    command = script_command(request, trial)
    os.execv(command[0], command)  # noqa: S606


def script_command(request: dict[str, Any], trial: dict[str, Any]) -> list[str]:
    """The command of a trial of a script; a command of the user finds the environment's programs first."""
    runner = trial.get("runner", "script")
    if runner == "command":
        os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])  # noqa: PTH120
        os.environ["VIRTUAL_ENV"] = sys.prefix
        return ["/bin/sh", "-c", trial["command"]]
    python = [sys.executable, *trial.get("python_flags", [])]
    arguments = trial.get("arguments", [])
    if runner in TEST_RUNNERS:
        node = f"::{trial['node']}" if trial.get("node") else ""
        return [*python, TEST_RUNNERS[runner], trial["file"] + node, *arguments]
    return [*python, SCRIPT_RUNNER, request["case"], request.get("place", request["case"]), *arguments]


def _peak_memory() -> int:
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
