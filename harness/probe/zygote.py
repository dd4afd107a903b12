"""Import the framework once, then fork one child per trial and supervise it.

Importing costs seconds and a trial about one. Forking before the first operation is safe: TensorFlow
starts its threads with its first operation or device, and the parent never runs one.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import time
from typing import Any

from . import results
from .exceptions import describe
from .import_guard import guarded
from .processes import adopt_orphans, die_with, end_everything
from .supervisor import supervise

VERSION_LIMIT = 100


def main(request_path: str) -> None:
    """Serve one request file.

    The request holds `imports`, `results` (a folder), `trials` and what each trial needs. Writes
    ``imported.json`` first, then ``<trial id>.json`` for every trial.
    """
    with open(request_path, encoding="utf-8") as file:  # noqa: PTH123
        request = json.load(file)
    die_with(int(os.environ.pop("HARNESS_PARENT", request["parent"])), signal.SIGTERM)
    adopt_orphans()
    sys.path[:0] = request.get("paths", [])  # a patched copy of the package under test
    report_file = os.path.join(request["results"], "imported.json")  # noqa: PTH118
    with guarded(report_file, request.get("import_seconds"), request.get("memory_bytes")):
        imported = import_all(request["imports"])
    signal.signal(signal.SIGTERM, end_everything)  # not before: an import that hangs in C would never hear of it
    results.write(report_file, imported)
    if imported["error"]:
        return
    ended = []
    for trial in request["trials"]:
        ended.append(supervise(request, trial, imported))
        if trial["kind"] == "canary" and not works(request, ended[-1][1]["ending"]):
            break  # no trial in this environment would mean anything
    for path, result in ended:  # again: a case may have written over the results of the trials before it
        results.write(path, result)


def works(request: dict[str, Any], canary: dict[str, Any]) -> bool:
    """Whether an environment works, by how its canary ended.

    `speaks` of the request are the ways in which it may end for the case to go on: a script says by its own exit code
    what an import that fails means, and need not train at all.
    """
    return canary["kind"] == "finished" or (canary["stage"] != "import" and canary["kind"] in request.get("speaks", ()))


def import_all(names: list[str]) -> dict[str, Any]:
    """Import each module; report versions, places and seconds, or the error that stopped it."""
    report: dict[str, Any] = {"versions": {}, "files": {}, "seconds": 0.0, "error": None}
    started = time.monotonic()
    for name in names:
        try:
            module = importlib.import_module(name)
            report["versions"][name] = str(getattr(module, "__version__", "unknown"))[:VERSION_LIMIT]
            report["files"][name] = str(getattr(module, "__file__", ""))
        except BaseException as error:
            report["error"] = f"import {name}: {describe(error)[0]}: {describe(error)[1]}"
            break
    report["versions"]["python"] = sys.version.split()[0]
    report["seconds"] = time.monotonic() - started
    return report
