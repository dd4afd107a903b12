"""Commits of a local git clone as releases."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from harness.adapters.processes.child_env import for_installer
from harness.adapters.processes.process import Processes
from harness.adapters.processes.redaction import redacted
from harness.adapters.storage.files import disk_errors
from harness.adapters.storage.home import Home
from harness.domain.errors import UsageError
from harness.domain.releases.commits import LOG_FORMAT, parse_log
from harness.domain.releases.release import Order, Release, Timeline

MOST_COMMITS = 5000  # of one timeline; a year of Keras has 1,500
_GIT_SECONDS = 60.0
_REF = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/~^-]*")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_RECORD = ["--no-color", f"--format={LOG_FORMAT}"]


@dataclass(frozen=True)
class Clone:
    """A clone on this machine; nothing in it is changed.

    Attributes:
        path: Its folder.
        package: Distribution that it builds.
        processes: Runs git.
        home: Holds scratch folders.
    """

    path: Path
    package: str
    processes: Processes
    home: Home

    def commit(self, reference: str) -> Release:
        """Return one commit as a release that is installed from the clone.

        Args:
            reference: A hash, ``commit:REF``, or ``pr:NUMBER`` (the clone must have fetched ``pull/NUMBER/head``).

        Raises:
            UsageError: the clone does not have it.
        """
        kind, _, name = reference.rpartition(":")
        refs = [f"refs/pull/{name}/head", f"refs/remotes/origin/pr/{name}", f"pr/{name}"] if kind == "pr" else [name]
        for ref in refs:
            if _REF.fullmatch(ref) and (found := self._log(["-1", *_RECORD, f"{ref}^{{commit}}"])):
                return found[0]
        raise UsageError(
            f"the clone has no {reference}",
            where=str(self.path),
            hint=f"git fetch origin pull/{name}/head:pr/{name}" if kind == "pr" else "git fetch, or give another REF",
        )

    def commit_at(self, moment: datetime) -> Release:
        """The newest commit of the main line (the clone's HEAD) that is not younger than a moment.

        Raises:
            UsageError: its history begins later.
        """
        until = f"--until={moment.astimezone(timezone.utc).isoformat()}"
        found = self._log(["-1", "--first-parent", until, *_RECORD, "HEAD"])
        if not found:
            raise UsageError(
                f"the clone has no commit before {moment:%Y-%m-%d %H:%M}",
                where=str(self.path),
                hint="give the folder of a clone with its whole history (git fetch --unshallow)",
            )
        return found[0]

    def timeline(self, first: str, last: str) -> Timeline:
        """The commits from `first` to `last`, both included, along first parents: one for each merge.

        Where `first` is on a release branch, the timeline begins where that branch left the line of `last`.

        Args:
            first: A commit as `commit` takes it, or a day: the last commit before it.
            last: The same; a day means its last commit.

        Raises:
            UsageError: unknown commits, an empty or reversed range, or one that is too long.
        """
        begins, ends = self._bound(first, latest=False), self._bound(last, latest=True)
        fork = self._lines(["merge-base", begins.version, ends.version])
        if not fork or fork[-1] == ends.version:
            raise UsageError(
                f"{ends.version[:12]} is not a descendant of {begins.version[:12]}",
                where="--from, --to",
                hint="swap the two, or choose two different commits of one line",
            )
        words = ["--first-parent", "-m", "--numstat", f"--max-count={MOST_COMMITS + 1}", *_RECORD]
        found = (*reversed(self._log([*words, f"{fork[-1]}..{ends.version}"])),)
        if len(found) > MOST_COMMITS:
            raise UsageError(
                f"more than {MOST_COMMITS} commits lie between {begins.version[:12]} and {ends.version[:12]}",
                where="--from, --to",
                hint="search the nightlies first: --channel nightly,commit",
            )
        return Timeline(releases=(self.commit(fork[-1]), *found), order=Order.DATE)

    def save_patch(self, commit: str, folder: Path) -> Path:
        """Write what one commit changed, line by line, into a folder; returns the file."""
        with disk_errors(folder, "free some space"):
            folder.mkdir(parents=True, exist_ok=True)
            patch = folder / f"{commit[:12]}.patch"
            patch.unlink(missing_ok=True)
            self._git(["show", "--no-color", "--first-parent", "-m", "--stat", "--patch", commit], patch, folder)
        return patch

    def _bound(self, text: str, *, latest: bool) -> Release:
        if not _DAY.fullmatch(text):
            return self.commit(text)
        moment = "23:59:59" if latest else "00:00:00"
        try:
            return self.commit_at(datetime.fromisoformat(f"{text}T{moment}+00:00"))
        except ValueError:
            where = "--to" if latest else "--from"
            raise UsageError(f"{text!r} is not a day", where=where, hint="write it as 2024-11-18") from None

    def _log(self, words: Sequence[str]) -> tuple[Release, ...]:
        """Commits that ``git log`` names, the newest first; none when it fails."""
        text = self._output(["log", *words, "--"])
        return parse_log(text, self.package, f"git+{self.path.absolute().as_uri()}")

    def _lines(self, words: Sequence[str]) -> list[str]:
        return self._output(words).split()

    def _output(self, words: Sequence[str]) -> str:
        with self.home.scratch() as scratch:
            log = scratch / "log"
            done = self._git(words, log, scratch)
            return redacted(log.read_text(encoding="utf-8", errors="replace")) if done else ""

    def _git(self, words: Sequence[str], log: Path, folder: Path) -> bool:
        ended = self.processes.run(
            ["git", "-C", str(self.path.absolute()), *words],
            log=log,
            env=for_installer(),
            cwd=folder,
            deadline_seconds=_GIT_SECONDS,
            whole=True,
        )
        return ended.exit_code == 0
