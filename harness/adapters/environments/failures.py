"""Why uv or nox failed: because of the index, the disk, the memory, or the release itself.

Only the last is a fact about the release. What may be gone the next time is tried again, a few times.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

import tenacity

from harness.adapters.environments.git_faults import git_failure
from harness.adapters.environments.index_faults import Claim, Kind, claims, examine
from harness.adapters.index.listings import Listings
from harness.adapters.processes.process import Ended, Processes
from harness.adapters.processes.redaction import redacted
from harness.adapters.storage.files import disk_errors
from harness.domain.errors import InfrastructureError
from harness.domain.trials.shortage import Shortage, shortage_in

ATTEMPTS = 3  # uv has tried each request several times before it says anything
TEXT_LIMIT = 700

T = TypeVar("T")


class Transient(InfrastructureError):
    """A failure of the machine or the network that may be gone the next time."""


class Stale(Transient):
    """The index is right now, and uv read another page of it before: with new pages it may succeed at once.

    Args:
        failure: What the index says.
        packages: Those whose pages uv must read anew.
        explained: What uv said.
        at_once: Whether all of these pages are valid now.
    """

    def __init__(self, failure: InfrastructureError, packages: Sequence[str], *, explained: str, at_once: bool) -> None:
        where = f"{failure.where}; the installer said: {explained[:TEXT_LIMIT]}"
        super().__init__(failure.what, where=where, hint=failure.hint)
        self.packages = tuple(packages)
        self.at_once = at_once


_READ_ONLY = re.compile(r"Read-only file system|Input/output error|Permission denied|Failed to initialize cache")
_TOO_LARGE = re.compile(r"File too large|os error 27\b|failed with exit code (-25|153)\b|File size limit exceeded")
_LIES = re.compile(r"Hash mismatch for [^\n]*")
_INDEX = re.compile(
    r"Failed to fetch|error sending request|error decoding response body|dns error|operation timed out"
    r"|tcp connect error|onnection (refused|reset|closed)|HTTP status (server|client) error"
    r"|[Uu]nexpected JSON|Unsupported `Content-Type`|Missing `Content-Type`|returned a (401|403) "
    r"|due to a lack of valid authentication|Server returned redirect"
)
_OFFLINE = re.compile(r"network (was|is|connectivity is) disabled|was not found in the cache")
_CONFLICT = "No solution found"
_OF_RELEASE = re.compile(r"No solution found|Failed to (download and )?build|build backend|Git operation failed| @ ")
"""uv says so of a release, or of a set of packages, and of nothing else."""
_NOX_COMMAND = re.compile(r"(?s)^.*nox > Command [^\n]* failed with exit code -?\d+:?\s*(nox > )?")
_DRAWING = re.compile(r"[\u2570\u2500\u25b6\u2502\u251c\u00d7]|\[std(?:err|out)\]")
_BUILD_OUTPUT = re.compile(r"\[std(err|out)\]")  # what follows was printed by a release's own build, not by uv
_HEAD_BYTES = 65_536  # uv's own words come before the output of a build, which may be long


def release_failure(
    ended: Ended, doing: str, listings: Listings, *, before: datetime | None = None
) -> tuple[str, Mapping[Claim, str]]:
    """Explain a run of uv or nox that failed because of the release, with what the index itself says of it.

    Args:
        ended: A run that failed.
        doing: What the run was for: ``resolving`` or ``installing``.
        listings: New pages of the index.
        before: What was uploaded later does not exist for uv.

    Raises:
        InfrastructureError: the index, the network or the machine failed.
    """
    if failure := infrastructure_failure(ended, doing):
        raise failure
    of_uv = _of_uv(ended)
    explained = explanation(_said(ended))
    found = examine(of_uv, listings, before=before)
    if found.failure is not None:
        raise Stale(found.failure, found.read_anew, explained=explained, at_once=bool(found.stale))
    if not explained or not (found.confirmed or _OF_RELEASE.search(of_uv)):
        raise InfrastructureError(
            f"uv failed while {doing}, in a way that says nothing about the release (exit code {ended.exit_code})",
            where=explained[:TEXT_LIMIT] or f"it printed nothing; its log was {ended.log.name}",
            hint="run the same command again; if it stays so, report it with this text",
        )
    reasons = dict.fromkeys(why for claim, why in found.confirmed.items() if claim.kind is not Kind.ABSENT)
    return "; ".join([explained, *reasons]), found.confirmed


def known_conflict(ended: Ended) -> str:
    """Explain a run without the network that failed for a conflict; "" where it only lacked something in the cache."""
    of_uv = _of_uv(ended)
    return explanation(_said(ended)) if _CONFLICT in of_uv and not _OFFLINE.search(of_uv) else ""


def infrastructure_failure(ended: Ended, doing: str) -> InfrastructureError | None:
    """Return the failure of index, network or machine that uv itself names; None where it names none.

    Args:
        ended: A run that failed.
        doing: What the run was for: ``resolving`` or ``installing``.
    """
    if machine := machine_failure(ended, doing):
        return machine
    if failed := git_failure(ended, explanation(ended.tail)):
        return failed
    explained = explanation(_said(ended))[:TEXT_LIMIT]
    of_uv = _of_uv(ended)
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
    if _OFFLINE.search(of_uv):
        return InfrastructureError(
            f"the network is disabled while {doing}, and what is needed is not in the installer's cache",
            where=explained,
            hint="unset UV_OFFLINE, then run the same command again",
        )
    unsent = any(claim.kind is Kind.GONE for claim in claims(of_uv))  # the index is asked whether it still lists that
    if ended.timed_out or (_INDEX.search(of_uv) and not unsent):
        return Transient(
            f"the package index did not answer while {doing}" + (" (deadline)" if ended.timed_out else ""),
            where=explained,
            hint="check the network and the index address, then run the same command again",
        )
    return None


def machine_failure(ended: Ended, doing: str) -> InfrastructureError | None:
    """Return the failure where a process ended for lack of disk, files, processes or memory, else None."""
    explained = explanation(ended.tail)[-TEXT_LIMIT:]
    if _TOO_LARGE.search(ended.tail) or ended.exit_code in (-signal.SIGXFSZ, 128 + signal.SIGXFSZ):
        return InfrastructureError(
            f"a file would be larger than this session allows ({doing})",
            where=explained,
            hint="raise the limit (ulimit -f unlimited) and run it again",
        )
    killed = ended.exit_code in (-signal.SIGKILL, 128 + signal.SIGKILL)
    lacked = shortage_in(ended.tail) or (Shortage.MEMORY if killed else None)
    if ended.unwritten is not None:
        try:
            with disk_errors(ended.log, "set HARNESS_HOME to a folder that can be written"):
                raise ended.unwritten
        except InfrastructureError as failure:
            failure.what, failure.where = f"{failure.what} ({doing})", f"{ended.log}: {ended.unwritten}"
            return failure
    match lacked:
        case Shortage.DISK:
            return InfrastructureError(
                f"the disk is full ({doing})", where=explained, hint="free some space and run it again"
            )
        case Shortage.MEMORY:
            return Transient(f"memory ran out ({doing})", where=explained, hint="use fewer --jobs and run it again")
        case Shortage.FILES:
            hint = "raise the limit on open files (ulimit -n), or use fewer --jobs, and run it again"
            return Transient(f"too many files were open ({doing})", where=explained, hint=hint)
        case Shortage.PROCESSES:
            hint = "raise the limit on processes (ulimit -u), or use fewer --jobs, and run it again"
            return Transient(f"no further process or thread could be started ({doing})", where=explained, hint=hint)
        case None:
            return None


def _said(ended: Ended) -> str:
    """What it printed, from the beginning: of a long output the first part, else all that is kept."""
    try:
        with ended.log.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return ended.tail
    return redacted(head.decode("utf-8", "replace")) if head else ended.tail


def _of_uv(ended: Ended) -> str:
    """What uv printed itself."""
    return _NOX_COMMAND.sub("", _BUILD_OUTPUT.split(_said(ended))[0])


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
