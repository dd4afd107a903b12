"""Why uv or nox failed: because of the index, the disk, the memory, or the release itself.

Only the last is a fact about the release. What may be gone the next time is tried again, a few times.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from typing import TypeVar

import tenacity

from harness.adapters.environments.git_faults import git_failure
from harness.adapters.processes.process import Ended, Processes
from harness.domain.errors import InfrastructureError

ATTEMPTS = 3  # uv has tried each request several times before it says anything
TEXT_LIMIT = 700

T = TypeVar("T")


class Transient(InfrastructureError):
    """A failure of the machine or the network that may be gone the next time."""


_DISK = re.compile(r"No space left on device|Disk quota exceeded|os error (28|122)\b")
_READ_ONLY = re.compile(r"Read-only file system|Input/output error|Permission denied|Failed to initialize cache")
_MEMORY = re.compile(r"Cannot allocate memory|\bMemoryError\b|os error 12\b|failed with exit code (-9|137)\b")
_TOO_LARGE = re.compile(r"File too large|os error 27\b|failed with exit code (-25|153)\b|File size limit exceeded")
_LIES = re.compile(r"Hash mismatch for [^\n]*")
_GONE = re.compile(r"HTTP status client error \((404|410) ")  # a file that its own index no longer has
_INDEX = re.compile(
    r"Failed to fetch|error sending request|error decoding response body|dns error|operation timed out"
    r"|tcp connect error|onnection (refused|reset|closed)|HTTP status (server|client) error"
    r"|[Uu]nexpected JSON|Unsupported `Content-Type`|returned a (401|403) "
)
_NOX_COMMAND = re.compile(r"(?s)^.*nox > Command [^\n]* failed with exit code -?\d+:?\s*(nox > )?")
_DRAWING = re.compile(r"[\u2570\u2500\u25b6\u2502\u251c\u00d7]|\[std(?:err|out)\]")
_BUILD_OUTPUT = re.compile(r"\[std(err|out)\]")  # what follows was printed by a release's own build, not by uv


def infrastructure_failure(ended: Ended, doing: str) -> InfrastructureError | None:
    """Return the failure of index, network or machine that ended a run of uv or nox; None: the release did.

    Args:
        ended: A run that failed.
        doing: What the run was for: ``resolving`` or ``installing``.
    """
    if machine := machine_failure(ended, doing):
        return machine
    if failed := git_failure(ended, explanation(ended.tail)):
        return failed
    explained = explanation(ended.tail)[:TEXT_LIMIT]
    of_uv = _BUILD_OUTPUT.split(ended.tail)[0]
    if _READ_ONLY.search(of_uv):
        return InfrastructureError(
            f"a folder cannot be written while {doing}", where=explained, hint="check HARNESS_HOME and UV_CACHE_DIR"
        )
    if found := _LIES.search(of_uv):
        return Transient(
            f"the package index sent another file than it promised: {found[0]}",
            where=explained,
            hint="do not use this file; if it stays so, ask those who run the index",
        )
    if ended.timed_out or (_INDEX.search(of_uv) and not _GONE.search(of_uv)):
        return Transient(
            f"the package index did not answer while {doing}" + (" (deadline)" if ended.timed_out else ""),
            where=explained,
            hint="check the network and the index address, then run the same command again",
        )
    return None


def machine_failure(ended: Ended, doing: str) -> InfrastructureError | None:
    """Return the failure where a process ended for lack of disk space or memory, else None."""
    explained = explanation(ended.tail)[-TEXT_LIMIT:]
    if _DISK.search(ended.tail):
        return InfrastructureError(
            f"the disk is full ({doing})", where=explained, hint="free some space and run it again"
        )
    if _TOO_LARGE.search(ended.tail) or ended.exit_code in (-signal.SIGXFSZ, 128 + signal.SIGXFSZ):
        return InfrastructureError(
            f"a file would be larger than this session allows ({doing})",
            where=explained,
            hint="raise the limit (ulimit -f unlimited) and run it again",
        )
    if _MEMORY.search(ended.tail) or ended.exit_code in (-signal.SIGKILL, 128 + signal.SIGKILL):
        return Transient(f"memory ran out ({doing})", where=explained, hint="use fewer --jobs and run it again")
    return None


def explanation(output: str) -> str:
    """The error text of uv as one paragraph, without its line drawing, its hints and what nox prints."""
    of_uv = _NOX_COMMAND.sub("", output)
    lines = [line for line in of_uv.splitlines() if not line.lstrip().startswith(("warning:", "hint:", "nox >"))]
    text = " ".join(_DRAWING.sub(" ", " ".join(lines)).split())
    text = re.sub(r"^.*?No solution found when resolving dependencies:?", "", text)
    return re.sub(r" cause: ", ": ", text.removeprefix("error: ")).removeprefix(" cause: ").removeprefix(": ").strip()


def retried(work: Callable[[], T], processes: Processes, notify: Callable[[str], None] = lambda _: None) -> T:
    """Call `work` again while it raises `Transient`; after the last attempt that error is raised.

    Args:
        work: What to do.
        processes: When it is being ended, there is no wait before the next attempt.
        notify: Called with each failure that is followed by another attempt.
    """
    return tenacity.Retrying(
        retry=tenacity.retry_if_exception_type(Transient),
        stop=tenacity.stop_after_attempt(ATTEMPTS),
        wait=tenacity.wait_exponential_jitter(initial=1, max=10),
        sleep=tenacity.sleep_using_event(processes.ended),
        before_sleep=lambda state: notify(_reason(state)),
        reraise=True,
    )(work)


def _reason(state: tenacity.RetryCallState) -> str:
    error = state.outcome.exception() if state.outcome else None
    return f"attempt {state.attempt_number} of {ATTEMPTS} failed: {getattr(error, 'what', error)}"
