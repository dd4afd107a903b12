"""A log file of bounded size: the beginning and the end of what a process prints.

A process never waits for us: a thread reads all it prints, and goes on reading when the disk takes no more.
"""

from __future__ import annotations

import errno
import os
import selectors
import threading
from collections import deque
from pathlib import Path

HEAD_BYTES = 2_000_000
TAIL_BYTES = 2_000_000
CHUNK = 65_536
PIPE_BYTES = 1_048_576  # the most that a pipe holds when the process has ended
LAST_BYTES = 16_384  # kept in memory: what was printed last is known even where the disk takes nothing
POLL_SECONDS = 0.2  # how often to check whether the process has ended while another one has its output open


class BoundedLog:
    """While it is open, appends to a log what is written to `writer`.

    Args:
        log: The file.
        whole: Write all of it, because it is a result; else the middle is left out where it is too long.
    """

    def __init__(self, log: Path, *, whole: bool) -> None:
        self._log = log
        self._whole = whole
        self._room = HEAD_BYTES
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self._dropped = 0
        self._last = b""
        self.failure: OSError | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._read, name="log", daemon=True)
        self.writer = -1

    def __enter__(self) -> BoundedLog:
        self._file = self._log.open("ab", buffering=0)
        try:
            self._reader, self.writer = os.pipe()
        except OSError:
            self._file.close()
            raise
        try:
            self._thread.start()
        except RuntimeError as error:  # "can't start new thread"
            self._file.close()
            os.close(self._reader)
            self.handed_over()
            raise OSError(errno.EAGAIN, str(error)) from error
        return self

    @property
    def last(self) -> bytes:
        """The end of what was printed."""
        return self._last

    def handed_over(self) -> None:
        """The process has its own copy of the writing end."""
        if self.writer >= 0:
            os.close(self.writer)
        self.writer = -1

    def __exit__(self, *_: object) -> None:
        """Write what the process left in the pipe, and finish the file."""
        self.handed_over()
        self._ended.set()
        self._thread.join()
        os.close(self._reader)
        if self._dropped:
            self._write(f"\n[... {self._dropped} bytes left out ...]\n".encode())
        for chunk in self._tail:
            self._write(chunk)
        self._file.close()
        if self.failure is not None and self._whole:
            raise self.failure

    def _read(self) -> None:
        left = PIPE_BYTES  # a process beyond our reach may print on after the end: no more than this is read
        with selectors.DefaultSelector() as selector:
            selector.register(self._reader, selectors.EVENT_READ)
            while left > 0:
                if selector.select(POLL_SECONDS):
                    if not (chunk := os.read(self._reader, CHUNK)):
                        return
                    self._store(chunk)
                    left -= len(chunk) if self._ended.is_set() else 0
                elif self._ended.is_set():
                    return

    def _store(self, chunk: bytes) -> None:
        self._last = (self._last + chunk)[-LAST_BYTES:]
        if self._whole:
            self._write(chunk)
            return
        head, rest = chunk[: self._room], chunk[self._room :]
        if head:
            self._room -= len(head)
            self._write(head)
        if rest:
            self._tail.append(rest)
            self._tail_bytes += len(rest)
        while self._tail_bytes - len(self._tail[0] if self._tail else b"") >= TAIL_BYTES:
            gone = len(self._tail.popleft())
            self._tail_bytes -= gone
            self._dropped += gone

    def _write(self, chunk: bytes) -> None:
        """Write as far as the disk takes it: a full one stops the log, never the process."""
        left = memoryview(chunk)
        try:
            while left:
                left = left[self._file.write(left) or 0 :]
        except OSError as error:
            self.failure = error
