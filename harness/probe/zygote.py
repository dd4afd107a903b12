"""Import the framework once, then fork one child per trial and watch it.

Importing costs seconds and a trial about one. Forking before the first operation is safe: TensorFlow
starts its threads with its first operation or device, and the parent never runs one.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import os
import pathlib
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

from . import results

OUTPUT_LIMIT = 16_384  # bytes of a trial's output that are kept: enough for a traceback and its warnings
MESSAGE_LIMIT = 2_000
VERSION_LIMIT = 100
MEMORY_LOOKS_SECONDS = 0.2  # reading how much memory a tree of processes holds costs milliseconds
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


class Refused(Exception):
    """The trial cannot be run here; its text is the reason of the skip."""


def main(request_path: str) -> None:
    """Serve one request file.

    The request holds `imports`, `results` (a folder), `trials` and what each trial needs. Writes
    ``imported.json`` first, then ``<trial id>.json`` for every trial.
    """
    with open(request_path, encoding="utf-8") as file:  # noqa: PTH123
        request = json.load(file)
    _die_with(request["parent"], signal.SIGTERM)
    _adopt_orphans()
    sys.path[:0] = request.get("paths", [])  # a patched copy of the package under test
    imported = import_all(request["imports"])
    signal.signal(signal.SIGTERM, _end_everything)  # not before: an import that hangs in C would never hear of it
    results.write(os.path.join(request["results"], "imported.json"), imported)  # noqa: PTH118
    if imported["error"]:
        return
    ended = []
    for trial in request["trials"]:
        ended.append(_watch(request, trial, imported))
        if trial["kind"] == "canary" and ended[-1][1]["ending"]["kind"] != "finished":
            break  # nothing that this environment says would be believed
    for path, result in ended:  # again: a case may have written over the results of the trials before it
        results.write(path, result)


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


def describe(error: BaseException) -> tuple[str, str, str]:
    """Return (type, message, innermost frames) of an exception, each cut to a limit."""
    kind = type(error)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    try:
        message = _cause_first(str(error))
        frames = "".join(traceback.format_exception(kind, error, error.__traceback__)[-6:])
    except Exception as broken:  # an exception whose text cannot be had
        message, frames = f"(its message cannot be shown: {type(broken).__name__})", ""
    return name[:MESSAGE_LIMIT], message[:MESSAGE_LIMIT], frames[-2 * MESSAGE_LIMIT :]


def _cause_first(message: str) -> str:
    """Put the cause of a graph's failure into the first line; TensorFlow prints pages of places before it."""
    if not message.startswith("Graph execution error"):
        return message
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    places = [n for n, line in enumerate(lines) if line.startswith('File "')]
    rest = lines[places[-1] + 1 :] if places else lines[1:]
    root = next((line for line in rest if line.startswith("(0)")), rest[0] if rest else "")
    return f"Graph execution error: {root.removeprefix('(0)').strip()}\n{message}" if root else message


def _watch(request: dict[str, Any], trial: dict[str, Any], imported: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Fork one trial, keep the tail of its output, kill its whole group at the deadline; return what it wrote where."""
    path = os.path.join(request["results"], trial["id"] + ".json")  # noqa: PTH118
    stage_file = path + ".stage"
    own_path = f"{path}.{os.urandom(8).hex()}"  # a name that no case can know: only the probe says how a trial ended
    reader, writer = os.pipe()
    started = time.monotonic()
    zygote = os.getpid()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        _child(request, trial, imported, writer, own_path, stage_file, zygote)
    os.close(writer)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.setpgid(pid, pid)  # the child does the same: whoever comes first
    status, output, verdict = _wait(pid, reader, started + trial["timeout_seconds"], trial.get("memory_bytes"))
    os.close(reader)
    _end_group(pid)
    result = _load(own_path)
    if result is None or verdict is not None:
        result = {"ending": _ending(status, verdict, _stage(stage_file))}
    result["output"] = output
    result.setdefault("versions", imported["versions"])
    result.setdefault("durations", {})["total"] = time.monotonic() - started
    results.write(path, result)
    return path, result


def _wait(pid: int, reader: int, deadline: float, memory_bytes: int | None) -> tuple[int, str, dict[str, Any] | None]:
    """Wait for the child; return (status, tail of its output, why we ended it if we did)."""
    head, tail = b"", b""
    verdict: dict[str, Any] | None = None
    open_pipe = True
    next_look = 0.0
    while True:
        if select.select([reader] if open_pipe else [], [], [], 0.02)[0]:
            chunk = os.read(reader, 65_536)
            open_pipe = bool(chunk)
            head = head or chunk[: OUTPUT_LIMIT // 4]
            tail = (tail + chunk)[-OUTPUT_LIMIT:]
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            tail = (tail + _drain(reader))[-OUTPUT_LIMIT:]
            return status, _text(head, tail), verdict
        if verdict is None and time.monotonic() > deadline:
            verdict = {"kind": "timed-out"}
            _end_group(pid)
        if verdict is None and memory_bytes and time.monotonic() > next_look:
            next_look = time.monotonic() + MEMORY_LOOKS_SECONDS
            if sum(map(_held, _descendants())) <= memory_bytes:
                continue
            verdict = {"kind": "refused", "message": f"needs more memory than the limit of {memory_bytes} bytes"}
            _end_group(pid)


def _drain(reader: int) -> bytes:
    """Read what is left in the pipe; a grandchild may still hold its other end, so never block."""
    os.set_blocking(reader, False)
    collected = b""
    with contextlib.suppress(BlockingIOError):
        while chunk := os.read(reader, 65_536):
            collected = (collected + chunk)[-OUTPUT_LIMIT:]
    return collected


def _text(head: bytes, tail: bytes) -> str:
    if tail.startswith(head):
        return tail.decode("utf-8", "replace")
    return (head + b"\n[...]\n" + tail[-(OUTPUT_LIMIT - len(head)) :]).decode("utf-8", "replace")


def _child(
    request: dict[str, Any],
    trial: dict[str, Any],
    imported: dict[str, Any],
    writer: int,
    path: str,
    stage_file: str,
    zygote: int,
) -> None:
    """Run the trial in the forked process; never returns."""
    code, own = 70, os.getpid()
    try:
        os.setpgid(0, 0)
        _die_with(zygote, signal.SIGKILL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(writer, 1)
        os.dup2(writer, 2)
        enter = _stage_marker(stage_file)
        if trial["kind"] == "script":
            _run_script(request, trial, enter)
        facts = _facts(request, trial, imported, enter, stage_file)
        if os.getpid() == own:  # a case may fork; its children came here too and have no say
            _write(path, facts)
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
    runner = importlib.import_module(f".{trial['kind']}", __package__)
    facts: dict[str, Any] = {"versions": imported["versions"], "durations": {}}
    try:
        runner.run(request, trial, facts, enter)
        facts["ending"] = {"kind": "finished", "stage": _stage(stage_file)}
    except Refused as refusal:
        facts["ending"] = {"kind": "refused", "stage": _stage(stage_file), "message": str(refusal)}
    except BaseException as error:
        name, message, frames = describe(error)
        traceback.print_exc()
        facts["ending"] = {
            "kind": "raised",
            "stage": _stage(stage_file),
            "exception": name,
            "message": message,
            "traceback": frames,
        }
    facts["peak_memory_bytes"] = _peak_memory()
    return facts


def _run_script(request: dict[str, Any], trial: dict[str, Any], enter: Callable[[str], None]) -> None:
    enter("script")
    script = request["case"]
    os.environ["PYTHONUNBUFFERED"] = "1"
    os.execv(sys.executable, [sys.executable, script, *trial.get("arguments", [])])  # noqa: S606


def _stage_marker(stage_file: str) -> Callable[[str], None]:
    """Return a function that notes the stage where a killed process can still be asked about it."""

    def enter(stage: str) -> None:
        pathlib.Path(stage_file).write_text(stage, encoding="utf-8")

    return enter


def _stage(stage_file: str) -> str:
    try:
        return pathlib.Path(stage_file).read_text(encoding="utf-8") or "load"
    except OSError:
        return "load"


def _load(path: str) -> dict[str, Any] | None:
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123
            loaded = json.load(file)
    except (OSError, ValueError, RecursionError):
        return None
    return loaded if isinstance(loaded, dict) else None


def _ending(status: int, verdict: dict[str, Any] | None, stage: str) -> dict[str, Any]:
    if verdict is not None:
        return {"stage": stage, **verdict}
    if os.WIFSIGNALED(status):
        return {"kind": "signalled", "stage": stage, "signal": os.WTERMSIG(status)}
    return {"kind": "exited", "stage": stage, "exit_code": os.WEXITSTATUS(status)}


def _peak_memory() -> int:
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _held(pid: int) -> int:
    """Bytes that a process holds, its part of shared pages included; 0 where the system does not say."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:  # noqa: PTH123
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:"))
    except (OSError, ValueError, IndexError, StopIteration):
        return 0


def _die_with(parent: int, number: int) -> None:
    """Ask Linux to send us a signal when the parent dies; elsewhere the deadline has to do."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)
        if os.getppid() != parent:  # it died before we asked
            os._exit(71)


def _adopt_orphans() -> None:
    """Become the parent of every process that a trial leaves behind, so that it can be ended."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _end_group(pid: int) -> None:
    """Kill the trial's process group and whatever left the group but is still ours."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    for orphan in _descendants():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(orphan, signal.SIGKILL)
        if orphan != pid:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(orphan, os.WNOHANG)


def _descendants() -> list[int]:
    """Process ids below this one, from /proc; empty where there is no /proc."""
    parents: dict[int, int] = {}
    for entry in os.listdir("/proc") if os.path.isdir("/proc") else []:  # noqa: PTH112, PTH208
        if entry.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{entry}/stat", "rb") as file:  # noqa: PTH123
                parents[int(entry)] = int(file.read().rsplit(b")", 1)[1].split()[1])
    found: list[int] = []
    level = [os.getpid()]
    while level:
        level = [pid for pid, parent in parents.items() if parent in level]
        found += level
    return found


def _end_everything(*_: object) -> None:
    for pid in _descendants():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    os._exit(143)
