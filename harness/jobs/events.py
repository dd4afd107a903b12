"""What a job tells while it works."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol


class EventKind(str, Enum):
    """What an event is about.

    ``begin`` and ``end`` frame the trials of one search; ``build`` and ``run`` say what begins; ``good``, ``bad``,
    ``skip`` and ``done`` what has ended; ``note`` says what delays a release; ``case`` and ``narrow`` belong to
    nights; ``warning`` and ``message`` are sentences for the user.
    """

    BEGIN = "begin"
    END = "end"
    BUILD = "build"
    RUN = "run"
    GOOD = "good"
    BAD = "bad"
    SKIP = "skip"
    DONE = "done"
    NOTE = "note"
    CASE = "case"
    NARROW = "narrow"
    WARNING = "warning"
    MESSAGE = "message"


@dataclass(frozen=True, kw_only=True)
class Event:
    """Something a user wants to see while it happens.

    Attributes:
        kind: What it is about.
        release: Version; for nights the name of the case; "" when it concerns no single one.
        detail: One line.
        left: Releases that are not tried yet.
    """

    kind: EventKind
    release: str = ""
    detail: str = ""
    left: int | None = None


class Listener(Protocol):
    """Shows what is going on."""

    def notify(self, event: Event) -> None:
        """Take note of one event; must not raise and must not block."""
        ...
