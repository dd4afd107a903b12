"""Commits of a local git clone as releases."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

from harness.adapters.environments.failures import machine_failure
from harness.adapters.processes.git_program import PLAIN, for_git, for_trusted_folders, git_command
from harness.adapters.processes.process import Ended, Processes
from harness.adapters.processes.redaction import redacted
from harness.adapters.storage.files import disk_errors
from harness.adapters.storage.home import Home
from harness.domain.errors import HarnessError, InfrastructureError, UsageError
from harness.domain.releases.commits import LOG_FORMAT, parse_log
from harness.domain.releases.release import Order, Release, Timeline

MOST_COMMITS = 5000  # of one timeline; a year of Keras has 1,500
GIT_SECONDS = 300.0  # a year of Keras takes 3; a slow disk may need much more
_NO = 1  # exit code by which git says "there is none"; a failure has another one
_REF = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/~^-]*")
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_RECORD = [*PLAIN, "-z", f"--format={LOG_FORMAT}"]
_TEXT_LIMIT = 500  # characters of what git says
_NO_CLONE = re.compile(r"fatal: (not a git repository|cannot change to|invalid gitfile format)")
_PARTIAL = re.compile(r"promisor remote|lazy fetching disabled|transport '[^']*' not allowed")
_OTHERS = re.compile(r"dubious ownership")
_AMBIGUOUS = re.compile(r"short object ID \S+ is ambiguous")


@dataclass(frozen=True)
class Clone:
    """A clone on this machine; nothing in it is changed, nothing is fetched, and no program of its settings is run.

    Attributes:
        path: Its folder.
        package: Distribution that it builds.
        processes: Runs git.
        home: Holds scratch folders.
        deadline_seconds: Of each call of git.
    """

    path: Path
    package: str
    processes: Processes
    home: Home
    deadline_seconds: float = GIT_SECONDS

    def commit(self, reference: str) -> Release:
        """Return one commit as a release that is installed from the clone.

        Args:
            reference: A hash, ``commit:REF``, or ``pr:NUMBER`` (the clone must have fetched ``pull/NUMBER/head``).

        Raises:
            UsageError: the clone does not have it, or is none.
            InfrastructureError: git failed.
        """
        kind, _, name = reference.rpartition(":")
        refs = [f"refs/pull/{name}/head", f"refs/remotes/origin/pr/{name}", f"pr/{name}"] if kind == "pr" else [name]
        for ref in refs:
            if _REF.fullmatch(ref) and (found := self._resolve(ref)):
                return self._log(["-1", found])[0]
        deeper = f"; it is shallow: git -C {self.path} fetch --unshallow" if self._shallow() else ""
        fetch = f"git fetch origin pull/{name}/head:pr/{name}" if kind == "pr" else "git fetch, or give another REF"
        raise UsageError(f"the clone has no {reference}", where=str(self.path), hint=fetch + deeper)

    def commit_at(self, moment: datetime) -> Release:
        """The newest commit of the main line (the clone's HEAD) that is not younger than a moment.

        Raises:
            UsageError: its history begins later.
            InfrastructureError: git failed.
        """
        until = f"--until={moment.astimezone(timezone.utc).isoformat()}"
        found = self._log(["-1", "--first-parent", until, self.commit("HEAD").version])
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
            UsageError: unknown commits, an empty or reversed range, one that is too long, or a clone that lacks
                a part of it.
            InfrastructureError: git failed.
        """
        begins, ends = self._bound(first, latest=False), self._bound(last, latest=True)
        fork = self._fork(begins.version, ends.version)
        line = f"{fork}..{ends.version}"
        if self._shallow():
            self._check_depth(line)
        words = ["--first-parent", "-m", "--numstat", f"--max-count={MOST_COMMITS + 1}", line]
        found = (*reversed(self._log(words)),)
        if len(found) > MOST_COMMITS:
            raise UsageError(
                f"more than {MOST_COMMITS} commits lie between {begins.version[:12]} and {ends.version[:12]}",
                where="--from, --to",
                hint="search the nightlies first: --channel nightly,commit",
            )
        return Timeline(releases=(self.commit(fork), *found), order=Order.DATE)

    def save_patch(self, commit: str, folder: Path) -> Path:
        """Write what one commit changed, line by line, into a folder; returns the file, which is whole.

        Raises:
            InfrastructureError: git or the disk failed.
        """
        with disk_errors(folder, "free some space"), self.home.scratch() as scratch:
            folder.mkdir(parents=True, exist_ok=True)
            patch = folder / f"{commit[:12]}.patch"
            partial = folder / f".{patch.name}"
            words = ["--first-parent", "-m", "--stat", "--patch", f"--output={partial.absolute()}"]
            try:
                self._git(["show", *PLAIN, *words, commit, "--"], scratch)
                partial.replace(patch)
            finally:
                partial.unlink(missing_ok=True)
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

    def _fork(self, begins: str, ends: str) -> str:
        """The newest commit that both have; raises `UsageError` when `ends` is not later than it."""
        found = self._hashes(["merge-base", begins, ends])
        if found and found[-1] != ends:
            return found[-1]
        with self.home.scratch() as scratch:  # a commit that is missing between them looks like no way at all
            self._git(["rev-list", "--count", begins, ends, "--"], scratch)
        hint = "swap the two, or choose two different commits of one line"
        if not found and self._shallow():
            hint = f"the clone is shallow: git -C {self.path} fetch --unshallow"
        raise UsageError(f"{ends[:12]} is not a descendant of {begins[:12]}", where="--from, --to", hint=hint)

    def _check_depth(self, line: str) -> None:
        """Refuse a line of first parents that a shallow clone cuts off: it would seem to begin there."""
        with self.home.scratch() as scratch:
            ended = self._git(["rev-list", "--first-parent", "--parents", line, "--"], scratch)
            lines = ended.log.read_text(encoding="utf-8", errors="replace").splitlines()
        if any(_HASH.fullmatch(one.strip()) for one in lines):
            raise UsageError(
                "the clone is shallow: its history ends inside the range",
                where=str(self.path),
                hint=f"git -C {self.path} fetch --unshallow, then run the same command again",
            )

    def _resolve(self, ref: str) -> str | None:
        """The hash of the commit that a reference names; None where there is none."""
        found = self._hashes(["rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}"])
        if found:
            return found[-1]
        named = self._hashes(["rev-parse", "--verify", "--quiet", "--end-of-options", ref])
        if named and not _HASH.fullmatch(ref) and not self._has(named[-1]):
            raise self._unreadable(f"{ref} names {named[-1][:12]}, which is missing")
        return None

    def _has(self, name: str) -> bool:
        with self.home.scratch() as scratch:
            return self._git(["cat-file", "-e", name], scratch).exit_code == 0

    def _shallow(self) -> bool:
        with self.home.scratch() as scratch:
            ended = self._git(["rev-parse", "--is-shallow-repository"], scratch)
            return ended.log.read_text(encoding="utf-8", errors="replace").split()[-1:] == ["true"]

    def _hashes(self, words: Sequence[str]) -> list[str]:
        """The hashes that git prints, a line each; what else it says is left out."""
        with self.home.scratch() as scratch:
            ended = self._git(words, scratch)
            lines = ended.log.read_text(encoding="utf-8", errors="replace").splitlines() if ended.exit_code == 0 else []
        return [line for line in lines if _HASH.fullmatch(line)]

    def _log(self, words: Sequence[str]) -> tuple[Release, ...]:
        """Commits that ``git log`` names, the newest first.

        It writes into a file of its own: a warning between two records would else be taken for a part of one.
        """
        with self.home.scratch() as scratch:
            records = scratch / "records"
            self._git(["log", *_RECORD, f"--output={records}", *words, "--"], scratch)
            text = records.read_bytes().decode("utf-8", "replace") if records.exists() else ""
        found = parse_log(text, self.package, f"git+{self.path.absolute().as_uri()}")
        return tuple(replace(one, title=redacted(one.title)) for one in found)

    def _git(self, words: Sequence[str], scratch: Path) -> Ended:
        """Run git to its end; its answer may be that there is none (exit code 1).

        Raises:
            UsageError: the folder is no clone that can be used.
            InfrastructureError: git failed in another way, or was not done at its deadline.
        """
        ended = self._run(git_command(*words, clone=self.path), scratch, for_git(scratch))
        if ended.exit_code not in (0, _NO) and _OTHERS.search(ended.tail):
            trusted = self._trusted(scratch)
            ended = self._run(git_command(*words, clone=self.path, trusted=trusted), scratch, for_git(scratch))
        if ended.timed_out or ended.exit_code not in (0, _NO):
            raise self._failure(words[0], ended)
        return ended

    def _run(self, command: Sequence[str], scratch: Path, env: dict[str, str]) -> Ended:
        log = scratch / f"log-{len(list(scratch.iterdir()))}"
        return self.processes.run(
            command, log=log, env=env, cwd=scratch, deadline_seconds=self.deadline_seconds, whole=True
        )

    def _trusted(self, scratch: Path) -> list[str]:
        """Folders of other users that the user has said to trust."""
        command = ["git", "config", "--get-all", "safe.directory"]
        ended = self._run(command, scratch, for_trusted_folders(scratch))
        return ended.log.read_text(encoding="utf-8", errors="replace").splitlines() if ended.exit_code == 0 else []

    def _failure(self, doing: str, ended: Ended) -> HarnessError:
        """What a failing git means: the folder is none that can be asked, or the machine failed."""
        said = ended.tail
        if ended.timed_out:
            return InfrastructureError(
                f"git {doing} was not done after {self.deadline_seconds:.0f} s",
                where=str(self.path),
                hint="copy the clone to a faster disk, or ask about fewer commits",
            )
        if _NO_CLONE.search(said):
            return UsageError("this is no git clone", where=str(self.path), hint="give the folder of a clone")
        if _OTHERS.search(said):
            hint = f"if you trust it: git config --global --add safe.directory {self.path.absolute()}"
            return UsageError("the clone belongs to another user", where=str(self.path), hint=hint)
        if _AMBIGUOUS.search(said):
            return UsageError("the hash is that of several objects", where=str(self.path), hint="give more of it")
        if _PARTIAL.search(said):
            return UsageError(
                "the clone is partial: it lacks files of the commits asked about, and nothing is fetched here",
                where=str(self.path),
                hint=f"git -C {self.path} fetch --refetch --no-filter, then run the same command again",
            )
        return machine_failure(ended, f"git {doing}") or self._unreadable(_reason(said) or f"exit {ended.exit_code}")

    def _unreadable(self, reason: str) -> InfrastructureError:
        return InfrastructureError(
            f"git cannot read the clone: {reason}",
            where=str(self.path),
            hint=f"git -C {self.path} fsck says what is damaged; clone it again",
        )


def _reason(said: str) -> str:
    """The line by which git says why it gave up."""
    lines = [line for line in said.splitlines() if line.strip()]
    fatal = [line for line in lines if line.startswith(("fatal:", "error:", "BUG:"))]
    return (fatal or lines)[-1].removeprefix("fatal: ")[:_TEXT_LIMIT] if lines else ""
