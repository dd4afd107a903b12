"""What a command shows on stderr while it works: sentences, and for a search a line per release and a bar."""

from __future__ import annotations

import threading
import time
from types import TracebackType

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from harness.jobs.events import Event, EventKind
from harness.reporting.text import clean

_STYLES = {EventKind.GOOD: "green", EventKind.BAD: "red", EventKind.SKIP: "yellow"}
_VERBS = {EventKind.BUILD: "environment of", EventKind.RUN: "running"}
_OUTCOMES = (EventKind.GOOD, EventKind.BAD, EventKind.SKIP, EventKind.DONE)


class Terminal:
    """Shows the events of a job.

    Args:
        jobs: Releases tried at once, for the estimate.
        quiet: Leave out the line that announces each case of a night.
    """

    def __init__(self, *, jobs: int = 1, quiet: bool = False) -> None:
        self._jobs = jobs
        self._quiet = quiet
        self._search: _SearchProgress | None = None
        self._guard = threading.Lock()

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._end()

    def notify(self, event: Event) -> None:
        """Show one event; those of a search go to its bar."""
        with self._guard:
            if event.kind is EventKind.BEGIN:
                self._end()
                self._search = _SearchProgress(event.left or 0, self._jobs)
            elif event.kind is EventKind.END:
                self._end()
            elif self._search is not None and event.kind in (*_VERBS, *_OUTCOMES, EventKind.NOTE):
                self._search.notify(event)
            elif (line := self._line(event)) is not None:
                click.echo(line, err=True)

    def _line(self, event: Event) -> str | None:
        match event.kind:
            case EventKind.WARNING:
                return f"harness: warning: {event.detail}"
            case EventKind.MESSAGE:
                return event.detail
            case EventKind.NOTE:
                return f"harness: {event.release}: {event.detail}"
            case EventKind.CASE if not self._quiet:
                return f"  {clean(event.release, 60)} ({event.left} left)"
            case EventKind.NARROW:
                return f"  {clean(event.release, 60)}: {event.detail} changed; looking for the night"
            case _:
                return None

    def _end(self) -> None:
        if self._search is not None:
            self._search.stop()
            self._search = None


class _SearchProgress:
    """Writes one line per verdict; on a terminal a bar with what is going on below it."""

    def __init__(self, releases: int, jobs: int) -> None:
        console = Console(stderr=True)
        columns = (
            SpinnerColumn(),
            MofNCompleteColumn(),
            BarColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}", markup=False),
        )
        self._progress = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._task = self._progress.add_task("starting", total=releases)
        self._releases = releases
        self._jobs = jobs
        self._running: dict[str, str] = {}
        self._began: dict[str, float] = {}
        self._took: list[float] = []
        self._progress.start()

    def stop(self) -> None:
        """Take the bar away."""
        self._progress.stop()

    def notify(self, event: Event) -> None:
        """Show one event."""
        if event.kind is EventKind.NOTE:
            self._print(escape(f"  {event.release:<10} {clean(event.detail, 200)}"))
        elif event.kind in _VERBS:
            self._running[event.release] = _VERBS[event.kind]
            self._began.setdefault(event.release, time.monotonic())
        else:
            self._finish(event)
        now = ", ".join(f"{verb} {release}" for release, verb in sorted(self._running.items()))
        self._progress.update(self._task, description=now or "looking at what is known")

    def _finish(self, event: Event) -> None:
        self._running.pop(event.release, None)
        seconds = time.monotonic() - self._began.pop(event.release, time.monotonic())
        self._took.append(seconds)
        style = _STYLES.get(event.kind, "default")
        left = event.left or 0
        estimate = sum(self._took) / len(self._took) * left / self._jobs
        rest = f"{left} releases left, about {estimate:.0f} s" if left else "confirming transitions"
        self._print(
            f"  {event.release:<10} [{style}]{event.kind.value:<4}[/]",
            escape(clean(event.detail, 100)),
            f"({seconds:.1f} s; {rest})" if event.left is not None else f"({seconds:.1f} s)",
        )
        self._progress.update(self._task, completed=self._releases - left if event.left is not None else None)

    def _print(self, *objects: str) -> None:
        self._progress.console.print(*objects, highlight=False, markup=True, soft_wrap=True)
