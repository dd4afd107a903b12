"""The nightly journal: one line when a night begins, one with its record when it ends; all else is made from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from filelock import FileLock, Timeout

from harness import codec
from harness.adapters.storage import formats, json_lines
from harness.adapters.storage.checksums import unmarked
from harness.adapters.storage.files import disk_errors
from harness.domain.errors import InfrastructureError, UsageError
from harness.domain.nightly.nights import NightRecord

NAME = "nights.jsonl"


class Busy(InfrastructureError):
    """Another night is going on the same state; this one has changed nothing."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line: a night began, or a whole night with its record."""

    night: str
    moment: datetime
    record: NightRecord | None = None


class FileNightlyJournal:
    """Append-only, one per state folder."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        self._lines = read(folder)

    def begin(self, night: str, moment: datetime) -> None:
        """Note that a night has begun; without a record later on it was killed."""
        self._append(Line(night=night, moment=moment))

    def end(self, record: NightRecord) -> None:
        """Write a whole night; when this returns, it is on the disk."""
        self._append(Line(night=record.night, moment=record.moment, record=record))

    def records(self) -> Sequence[NightRecord]:
        """Whole nights by day, the later one of two for one day."""
        return whole(self._lines)

    def killed(self) -> tuple[str, ...]:
        """Days whose night began and never ended."""
        return killed(self._lines)

    def _append(self, line: Line) -> None:
        json_lines.append(self._path, formats.dumps(Line, line), hint="choose another --state")
        self._lines.append(line)


def read(folder: Path) -> list[Line]:
    """Read the journal, written by this version or by an earlier one; an empty folder is an empty journal.

    Raises:
        UsageError: it cannot be read, a whole line is damaged, or a newer harness wrote it.
    """
    path = folder / NAME
    if not path.exists():
        return []
    with disk_errors(path, "choose another --state"):
        content = path.read_bytes()
    return [_line(number, text, path) for number, text in json_lines.whole_lines(content)]


def _line(number: int, text: bytes, path: Path) -> Line:
    try:
        return formats.loads(Line, unmarked(text), where=str(path))
    except codec.Malformed as error:
        raise UsageError(
            f"the journal of nights is damaged in line {number}: {str(error)[:300]}",
            where=str(path),
            hint="restore it from the last artifact, or remove that line: that night then counts as killed",
        ) from error


def whole(lines: Sequence[Line]) -> tuple[NightRecord, ...]:
    """Records by day, the later one of two for one day."""
    by_night = {line.night: line.record for line in lines if line.record is not None}
    return tuple(by_night[night] for night in sorted(by_night))


def killed(lines: Sequence[Line]) -> tuple[str, ...]:
    """Days whose night began and never ended."""
    ended = {line.night for line in lines if line.record is not None}
    return tuple(sorted({line.night for line in lines} - ended))


def only_one(folder: Path) -> FileLock:
    """Lock the state folder for one night at a time; raises `Busy` when another one is going."""
    lock = FileLock(folder / ".running", timeout=0)
    try:
        with disk_errors(folder, "choose another --state"):
            lock.acquire()
    except Timeout:
        raise Busy(
            "another night is being run on this state", where=str(folder), hint="wait for it; this one changed nothing"
        ) from None
    return lock
