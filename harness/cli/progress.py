"""Live progress on stderr: what is built or run, how many releases are left, and an estimate."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from harness.jobs.protocols import Event, Listener
from harness.reporting.text import clean

_STYLES = {"good": "green", "bad": "red", "skip": "yellow"}
_VERBS = {"build": "environment of", "run": "running"}


class _Shown:
    """Writes one line per verdict; on a terminal a bar with what is going on below it."""

    def __init__(self, progress: Progress, task: TaskID, jobs: int) -> None:
        self._progress = progress
        self._task = task
        self._jobs = jobs
        self._going: dict[str, str] = {}
        self._began: dict[str, float] = {}
        self._took: list[float] = []
        self._guard = threading.Lock()

    def notify(self, event: Event) -> None:
        """Show one event."""
        with self._guard:
            if event.kind == "note":
                text = f"  {event.release:<10} {clean(event.detail, 200)}"
                self._progress.console.print(escape(text), highlight=False, soft_wrap=True)
            elif event.kind in _VERBS:
                self._going[event.release] = _VERBS[event.kind]
                self._began.setdefault(event.release, time.monotonic())
            else:
                self._finish(event)
            now = ", ".join(f"{verb} {release}" for release, verb in sorted(self._going.items()))
            self._progress.update(self._task, description=now or "looking at what is known")

    def _finish(self, event: Event) -> None:
        self._going.pop(event.release, None)
        seconds = time.monotonic() - self._began.pop(event.release, time.monotonic())
        self._took.append(seconds)
        style = _STYLES.get(event.kind, "default")
        left = event.left or 0
        estimate = sum(self._took) / len(self._took) * left / self._jobs
        rest = f"{left} releases left, about {estimate:.0f} s" if left else "confirming edges"
        self._progress.console.print(
            f"  {event.release:<10} [{style}]{event.kind:<4}[/]",
            escape(clean(event.detail, 100)),
            f"({seconds:.1f} s; {rest})",
            highlight=False, markup=True, soft_wrap=True,
        )  # fmt: skip
        self._progress.update(self._task, completed=(self._progress.tasks[self._task].total or 0) - left)


@contextmanager
def listener(releases: int, jobs: int) -> Iterator[Listener]:
    """Show progress while the block runs."""
    console = Console(stderr=True)
    columns = (
        SpinnerColumn(),
        MofNCompleteColumn(),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        yield _Shown(progress, progress.add_task("starting", total=releases), jobs)
