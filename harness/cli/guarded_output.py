"""Standard output and error that neither a reader who leaves nor a full disk behind them can break."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from typing import Any

import click

from harness.domain.errors import ExitCode


class OutputLost(Exception):
    """What should be printed could not be: the disk behind it is full, or the limit on the size of files is reached."""


class _Output(io.RawIOBase):
    """A stream that a reader may leave (``| head``) and that never ends the work behind it.

    Args:
        number: File descriptor.
        must: Whether a failing disk is told of; else what cannot be printed is dropped.
    """

    def __init__(self, number: int, *, must: bool) -> None:
        self._number = number
        self._must = must

    def writable(self) -> bool:
        """It is."""
        return True

    def fileno(self) -> int:
        """Its file descriptor."""
        return self._number

    def isatty(self) -> bool:
        """Whether a terminal is behind it."""
        return os.isatty(self._number)

    def write(self, data: Any) -> int:
        """Write, or drop what nobody reads."""
        try:
            return os.write(self._number, data)
        except BlockingIOError:
            raise
        except OSError as error:
            with contextlib.suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), self._number)
            if self._must and error.errno != errno.EPIPE:
                raise OutputLost(error.strerror) from error
            return len(data)


def guard_output() -> None:
    """Let neither a reader that leaves nor a full disk behind the progress end a search."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
                raw = _Output(stream.fileno(), must=name == "stdout")
                guarded = io.TextIOWrapper(
                    io.BufferedWriter(raw),
                    encoding=stream.encoding,
                    errors="backslashreplace",
                    line_buffering=name == "stderr" or raw.isatty(),
                )
                setattr(sys, name, guarded)


def flushed(code: int) -> int:
    """Print what is left; returns the exit code of the whole."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OutputLost as lost:
        return say_lost(lost)
    except (OSError, ValueError, AttributeError):
        pass
    return code


def say_lost(lost: OutputLost) -> int:
    """Say that the answer could not be printed; returns the exit code."""
    click.echo(f"harness: the answer cannot be printed: {lost}\n  where: standard output", err=True)
    click.echo(
        "  try:   free some space; `harness report RUN` prints it again, and its reports are in its folder", err=True
    )
    return int(ExitCode.SURROUNDINGS)
