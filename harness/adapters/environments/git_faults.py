"""Why uv could not fetch a commit: because of the clone, or of the server. Neither says anything of a release."""

from __future__ import annotations

import re

from harness.adapters.processes.process import Ended
from harness.domain.errors import InfrastructureError

_OF_GIT = "Git operation failed"
_FETCHING = re.compile(r"failed to (fetch|clone|update|find)")
_FROM = re.compile(r"git\+(file://[^\s`@]+)|'(file://[^']+)'")
_SERVER = re.compile(
    r"Could not resolve host|unable to access|unable to connect|Connection (refused|reset|timed out)|early EOF"
    r"|RPC failed|Could not read from remote repository|Operation too slow|timeout"
)
_TEXT_LIMIT = 700


def git_failure(ended: Ended, explained: str) -> InfrastructureError | None:
    """The failure of git that ended a run of uv; None where git did not fail, or failed over the release itself.

    Args:
        ended: A run that failed.
        explained: What uv says of it.
    """
    said = ended.tail
    if _OF_GIT not in said or not _FETCHING.search(said):
        return None
    if clone := _FROM.search(said):
        return InfrastructureError(
            f"git cannot fetch the commit from the clone {clone[1] or clone[2]}",
            where=explained[:_TEXT_LIMIT],
            hint="is the clone still there and whole? git fsck in it says what is damaged or missing",
        )
    if _SERVER.search(said):
        return InfrastructureError(
            "the git server did not answer",
            where=explained[:_TEXT_LIMIT],
            hint="check the network, then run the same command again",
        )
    return None
