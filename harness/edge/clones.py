"""Commits of a local git clone as releases."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from pathlib import Path

from harness.core.errors import UsageError
from harness.core.releases import Channel, Release
from harness.edge.home import Home
from harness.edge.process import Processes
from harness.edge.surroundings import for_installer

_GIT_SECONDS = 60.0
_REF = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/~^-]*")


def commit_of(clone: Path, wanted: str, package: str, processes: Processes, home: Home) -> Release:
    """Return one commit as a release that is installed from the clone.

    Args:
        clone: Folder of the clone.
        wanted: A hash, ``commit:REF``, or ``pr:NUMBER`` (the clone must have fetched ``pull/NUMBER/head``).
        package: Distribution that the clone builds.
        processes: Runs git.
        home: Holds scratch folders.

    Raises:
        UsageError: the clone does not have it.
    """
    kind, _, name = wanted.rpartition(":")
    refs = [f"refs/pull/{name}/head", f"refs/remotes/origin/pr/{name}", f"pr/{name}"] if kind == "pr" else [name]
    for ref in refs:
        line = _show(clone, ref, processes, home) if _REF.fullmatch(ref) else None
        if line:
            commit, seconds = line.split()
            moment = datetime.fromtimestamp(int(seconds), tz=timezone.utc)
            source = f"git+{clone.absolute().as_uri()}@{commit}"
            return Release(package=package, version=commit, channel=Channel.COMMIT, released=moment, source=source)
    raise UsageError(
        f"the clone has no {wanted}",
        where=str(clone),
        hint=f"git fetch origin pull/{name}/head:pr/{name}" if kind == "pr" else "git fetch, or give another REF",
    )


def _show(clone: Path, ref: str, processes: Processes, home: Home) -> str | None:
    with home.scratch() as scratch:
        ended = processes.run(
            ["git", "-C", str(clone.absolute()), "show", "-s", "--format=%H %ct", f"{ref}^{{commit}}"],
            log=scratch / "log",
            env=for_installer(),
            cwd=scratch,
            deadline_seconds=_GIT_SECONDS,
        )
        return ended.tail.strip().splitlines()[-1] if ended.exit_code == 0 and ended.tail.strip() else None
