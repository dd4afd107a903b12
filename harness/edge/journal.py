"""The journal of a run: one fsynced JSON line per finished trial, and a header that says what was asked."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path

from filelock import FileLock, Timeout

from harness.core.errors import UsageError
from harness.core.findings import Question, RunHeader
from harness.edge import codec
from harness.edge.home import disk_errors
from harness.seams import Entry

NAME = "journal.jsonl"


class FileJournal:
    """Append-only; a torn last line (power cut, kill) is dropped when it is read, and then cut off."""

    def __init__(self, folder: Path, header: RunHeader, entries: Sequence[Entry] = ()) -> None:
        self._path = folder / NAME
        self.header = header
        self._entries = list(entries)
        self._guard = threading.Lock()

    @classmethod
    def begin(cls, folder: Path, header: RunHeader) -> FileJournal:
        """Start a journal; the folder must not hold one."""
        journal = cls(folder, header)
        if journal._path.exists():
            raise UsageError(
                "the output folder already holds a run", where=str(folder), hint=f"continue it with --resume {folder}"
            )
        journal._append(codec.dumps(RunHeader, header))
        return journal

    @classmethod
    def resume(cls, folder: Path, question: Question | None) -> FileJournal:
        """Open a journal again; refuses a question that changed and says what changed.

        Args:
            folder: The run's folder.
            question: What is asked now; None takes the journal's own.
        """
        header, entries = read(folder)
        changes = header.question.differences(question) if question is not None else []
        if changes:
            raise UsageError(
                "the run cannot be resumed: the question changed",
                where="; ".join(changes)[:2000],
                hint="start a new run without --resume, or restore what changed",
            )
        _cut_torn_line(folder / NAME)
        return cls(folder, header, entries)

    def record(self, entry: Entry) -> None:
        """Append one entry; when this returns, it is on the disk."""
        with self._guard:
            self._append(codec.dumps(Entry, entry))
            self._entries.append(entry)

    def entries(self) -> Sequence[Entry]:
        """All entries so far."""
        with self._guard:
            return tuple(self._entries)

    def _append(self, line: str) -> None:
        with disk_errors(self._path, "choose another --output"), self._path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
            file.flush()
            os.fsync(file.fileno())


def read(folder: Path) -> tuple[RunHeader, list[Entry]]:
    """Read a run's journal; raises `UsageError` when there is none or it is damaged before its last line."""
    path = folder / NAME
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise UsageError(
            f"there is no run to read: {error.strerror}", where=str(path), hint="give the folder that the run printed"
        ) from error
    if lines[-1] != b"":
        lines[-1] = b""  # torn: the newline is written last
    kept = [line for line in lines if line.strip()]
    try:
        return codec.loads(RunHeader, kept[0]), [codec.loads(Entry, line) for line in kept[1:]]
    except (IndexError, codec.Malformed) as error:
        raise UsageError(
            f"the journal is damaged: {str(error)[:300] or type(error).__name__}",
            where=str(path),
            hint="finished trials are also in the cache: start the same question anew, nothing is run twice",
        ) from error


def exclusive(folder: Path) -> FileLock:
    """Lock a run's folder for one harness; raises `UsageError` when another one is writing it."""
    lock = FileLock(folder / ".running", timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise UsageError(
            "another harness is writing this run", where=str(folder), hint="wait for it, or start a run of your own"
        ) from None
    return lock


def _cut_torn_line(path: Path) -> None:
    with disk_errors(path, "choose another --output"), path.open("r+b") as file:
        content = file.read()
        if content and not content.endswith(b"\n"):
            file.truncate(content.rfind(b"\n") + 1)
