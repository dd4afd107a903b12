"""Supervise one forked trial: keep its output, hold its deadline and its memory limit, say how it ended."""

from __future__ import annotations

import contextlib
import json
import os
import select
import time
from typing import Any

from . import results
from .child import run_and_exit
from .processes import descendants, end_group, more_memory_than
from .stages import reached
from .warned import WarningLines

OUTPUT_LIMIT = 16_384  # bytes of a trial's output that are kept: enough for a traceback and its warnings
PIPE_BYTES = 1_048_576  # the most that a pipe holds
MEMORY_CHECK_SECONDS = 0.2  # reading how much memory a tree of processes uses costs milliseconds


def supervise(request: dict[str, Any], trial: dict[str, Any], imported: dict[str, Any]) -> tuple[str, dict[str, Any]]:
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
        run_and_exit(
            request, trial, imported, output=writer, result_file=own_path, stage_file=stage_file, zygote=zygote
        )
    os.close(writer)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.setpgid(pid, pid)  # the child does the same: whoever comes first
    warned = WarningLines()
    deadline = started + trial["timeout_seconds"]
    status, output, forced = _wait(pid, reader, deadline, trial.get("memory_bytes"), warned)
    os.close(reader)
    end_group(pid)
    result = _load(own_path)
    if result is None or forced is not None:
        result = {"ending": _ending(status, forced, reached(stage_file))}
    result["output"] = output
    result["warnings"] = warned.end()
    result.setdefault("versions", imported["versions"])
    result.setdefault("durations", {})["total"] = time.monotonic() - started
    results.write(path, result)
    return path, result


def _wait(
    pid: int, reader: int, deadline: float, memory_bytes: int | None, warned: WarningLines
) -> tuple[int, str, dict[str, Any] | None]:
    """Wait for the child; return (status, tail of its output, the ending that was forced on it if one was)."""
    head, tail = b"", b""
    forced: dict[str, Any] | None = None
    open_pipe = True
    next_check = 0.0
    while True:
        if select.select([reader] if open_pipe else [], [], [], 0.02)[0]:
            chunk = os.read(reader, 65_536)
            open_pipe = bool(chunk)
            head = head or chunk[: OUTPUT_LIMIT // 4]
            tail = (tail + chunk)[-OUTPUT_LIMIT:]
            warned.take(chunk)
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            left = _drain(reader)
            warned.take(left)
            tail = (tail + left)[-OUTPUT_LIMIT:]
            return status, _text(head, tail), forced
        if forced is None and time.monotonic() > deadline:
            forced = {"kind": "timed-out"}
            end_group(pid)
        if forced is None and memory_bytes and time.monotonic() > next_check:
            next_check = time.monotonic() + MEMORY_CHECK_SECONDS
            if not more_memory_than(memory_bytes, descendants()):
                continue
            forced = {"kind": "out-of-memory", "message": f"needs more memory than the limit of {memory_bytes} bytes"}
            end_group(pid)


def _drain(reader: int) -> bytes:
    """Read what is left in the pipe; a grandchild may hold its other end, and print without end: never block."""
    os.set_blocking(reader, False)
    collected, left = b"", PIPE_BYTES
    with contextlib.suppress(BlockingIOError):
        while left > 0 and (chunk := os.read(reader, 65_536)):
            collected = (collected + chunk)[-OUTPUT_LIMIT:]
            left -= len(chunk)
    return collected


def _text(head: bytes, tail: bytes) -> str:
    if tail.startswith(head):
        return tail.decode("utf-8", "replace")
    return (head + b"\n[...]\n" + tail[-(OUTPUT_LIMIT - len(head)) :]).decode("utf-8", "replace")


def _load(path: str) -> dict[str, Any] | None:
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123
            loaded = json.load(file)
    except (OSError, ValueError, RecursionError):
        return None
    return loaded if isinstance(loaded, dict) else None


def _ending(status: int, forced: dict[str, Any] | None, stage: str) -> dict[str, Any]:
    if forced is not None:
        return {"stage": stage, **forced}
    if os.WIFSIGNALED(status):
        return {"kind": "signalled", "stage": stage, "signal": os.WTERMSIG(status)}
    return {"kind": "exited", "stage": stage, "exit_code": os.WEXITSTATUS(status)}
