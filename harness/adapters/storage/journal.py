"""The journal of a run: a header that says what the question was, then one line per finished trial."""

from __future__ import annotations

import contextlib
import gc
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from harness import codec
from harness.adapters.storage import formats, json_lines
from harness.adapters.storage.checksums import marked, unmarked
from harness.adapters.storage.files import disk_errors, write_whole
from harness.domain.errors import InfrastructureError, UsageError
from harness.domain.findings.question import Question
from harness.domain.findings.run import RunHeader
from harness.domain.trials.entry import Entry
from harness.domain.trials.trial import Environment

NAME = "journal.jsonl"
LARGEST_JOURNAL = 1 << 30  # bytes; a thousand trials of a large model take 50 MB
_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


class FileJournal:
    """Append-only; a torn last line (power cut, kill) is dropped when it is read, and cut off by the next one.

    One harness at a time has it open, from `begin` or `resume` to the end of its ``with`` block.
    """

    def __init__(self, folder: Path, header: RunHeader, entries: Sequence[Entry], lock: FileLock) -> None:
        self.folder = folder
        self._path = folder / NAME
        self.header = header
        self._entries = list(entries)
        self._lock = lock
        self._guard = threading.Lock()
        self._written = _identity(self._path)
        self._problem = ""

    @classmethod
    def begin(cls, folder: Path, header: RunHeader) -> FileJournal:
        """Start a journal; raises `UsageError` where the folder has one already."""
        with _locked(folder) as lock:
            journal = cls(folder, header, (), lock)
            if journal._path.exists() and next(_lines(journal._path), None) is not None:
                raise UsageError(
                    "the output folder already has a run in it",
                    where=str(folder),
                    hint=f"continue it with --resume {folder}",
                )
            with disk_errors(folder, "choose another --output"):
                journal._path.unlink(missing_ok=True)  # a header that a kill tore
            journal._append(formats.dumps(RunHeader, header))
        return journal

    @classmethod
    def resume(cls, folder: Path, question: Question | None) -> FileJournal:
        """Open a journal again.

        Args:
            folder: The run's folder.
            question: The question of now; None takes the journal's own.

        Raises:
            UsageError: there is no run, another harness is writing it, or the question changed; names each change.
        """
        read(folder)  # a folder without a run gets no lock either
        with _locked(folder) as lock:
            header, entries = read(folder)
            changes = header.question.differences(question) if question is not None else []
            if changes:
                raise UsageError(
                    "the run cannot be resumed: the question changed",
                    where="; ".join(changes)[:2000],
                    hint="start a new run without --resume, or restore what changed",
                )
        return cls(folder, header, entries, lock)

    def __enter__(self) -> FileJournal:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            with contextlib.suppress(InfrastructureError):
                self.restored()
        finally:
            self._lock.release()

    def record(self, entry: Entry) -> None:
        """Append one entry; when this returns, it is on the disk."""
        with self._guard:
            self._restore()
            self._append(codec.dumps(Entry, entry))
            self._entries.append(entry)

    def entries(self) -> Sequence[Entry]:
        """All entries so far."""
        with self._guard:
            return tuple(self._entries)

    def restored(self) -> str:
        """Write the journal again where somebody has removed or changed it, now or earlier in this run.

        Returns:
            What was found, in one sentence; "" for a journal that nobody touched.
        """
        with self._guard:
            self._restore()
            return self._problem

    def _append(self, line: str) -> None:
        before = self._written
        try:
            json_lines.append(self._path, line, hint="choose another --output")
        finally:
            after = _identity(self._path)
            if before is None or (after is not None and after[:2] == before[:2]):  # else the next look finds it
                self._written = after

    def _restore(self) -> None:
        found = _identity(self._path)
        if found == self._written:
            return
        if self._path.exists() and not self._path.is_file():
            raise InfrastructureError(
                "cannot write: something that is no file has taken the place of the journal",
                where=str(self._path),
                hint="remove it; the finished trials are in the cache too and are not run again",
            )
        how = "removed" if found is None else "replaced" if found[:2] != (self._written or ())[:2] else "changed"
        lines = [formats.dumps(RunHeader, self.header), *(codec.dumps(Entry, entry) for entry in self._entries)]
        write_whole(self._path, "".join(f"{marked(line)}\n" for line in lines))
        self._written = _identity(self._path)
        self._problem = f"{self._path} was {how} during the run; it was written again, and nothing is lost"


def _identity(path: Path) -> tuple[int, int, int] | None:
    """Which file it is and how long; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size


def read(folder: Path) -> tuple[RunHeader, list[Entry]]:
    """Read a run's journal, written by this version or by an earlier one.

    Raises:
        UsageError: there is none, it is damaged before its last line, or a newer harness wrote it.
    """
    path = folder / NAME
    lines = _lines(path)
    first = next(lines, None)
    if first is None:
        raise UsageError(
            "the run ended before it began: its journal is empty",
            where=str(path),
            hint="start it again without --resume",
        )
    try:
        header = formats.loads(RunHeader, unmarked(first), where=str(path))
        with _no_collection():
            entries = _shared(_entry(line) for line in lines)
    except codec.Malformed as error:
        raise UsageError(
            f"the journal is damaged: {str(error)[:300]}",
            where=str(path),
            hint="start the same question anew: finished trials are in the cache too and are not run again",
        ) from error
    return header, entries


def _lines(path: Path) -> Iterator[bytes]:
    """The whole lines of a journal, one at a time: a hundred thousand of them need not be in memory together."""
    try:
        if path.stat().st_size > LARGEST_JOURNAL:
            raise UsageError("the journal is too large to be one", where=str(path), hint="give the folder of a run")
        for _, line in json_lines.read_lines(path):
            yield line
    except OSError as error:
        raise UsageError(
            f"there is no run to read: {error.strerror}", where=str(path), hint="give the folder that the run printed"
        ) from error


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Look for no cyclic garbage meanwhile: a journal makes none, and its objects were gone through again and again.

    What there is at the end is left out of later collections too; it goes when nothing refers to it.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was:
            gc.enable()


def _shared(entries: Iterable[Entry]) -> list[Entry]:
    """The entries, with one object for each value that most of them repeat: they take half of the room.

    They were read a moment ago and nobody else has them, so their fields can be set.
    """
    places: dict[str, Environment] = {}
    values: dict[object, object] = {}
    found = []
    for entry in entries:
        place = entry.environment
        if place is not None:
            if places.setdefault(place.key, place) == place:
                object.__setattr__(entry, "environment", places[place.key])
            _share(place, _OF_ENVIRONMENT, values)
        if entry.finished is not None:
            _share(entry.finished.trial, _OF_TRIAL, values)
            observation = entry.finished.observation
            _share(observation, _OF_OBSERVATION, values)
            for name in _OFTEN_EMPTY:
                if not getattr(observation, name):
                    object.__setattr__(observation, name, _EMPTY)
        _share(entry, ("release",), values)
        found.append(entry)
    return found


_OF_ENVIRONMENT = ("python", "isolation")
_OF_TRIAL = ("release", "variant")
_OF_OBSERVATION = ("ending", "versions", "devices", "fix", "data_digest")
_OFTEN_EMPTY = ("steps", "final", "evaluated")  # numbers are not shared: 0.0 equals -0.0
_EMPTY: Mapping[str, Any] = {}


def _share(owner: object, names: Sequence[str], values: dict[object, object]) -> None:
    """Let fields have the first object of their value."""
    for name in names:
        value = getattr(owner, name)
        key = tuple(value.items()) if isinstance(value, dict) else value
        object.__setattr__(owner, name, values.setdefault((name, key), value))


def _entry(line: bytes) -> Entry:
    """Read one line; a key names a file of the report, and a stranger's must not lead out of the folder."""
    entry = codec.loads(Entry, unmarked(line))
    if entry.environment is not None and not _KEY.fullmatch(entry.environment.key):
        raise codec.Malformed(f"environment.key: {entry.environment.key[:80]!r} is not a key")
    return entry


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[FileLock]:
    """Lock a run's folder for one harness, and keep it locked unless the block fails.

    Raises:
        UsageError: another harness is writing this run.
    """
    lock = FileLock(folder / ".running", timeout=0)
    try:
        with disk_errors(folder, "choose another --output"):
            lock.acquire()
    except Timeout:
        raise UsageError(
            "another harness is writing this run", where=str(folder), hint="wait for it, or start a run of your own"
        ) from None
    try:
        yield lock
    except BaseException:
        lock.release()
        raise
