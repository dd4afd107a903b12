"""Small values that many tests start from; each is valid as it stands and takes changes by keyword."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

from harness.domain.cases.case import Case, Level
from harness.domain.releases.release import Order, Release, Timeline
from harness.domain.trials.observation import Ending, EndingKind, Observation, Stage, WeightFacts

FIRST_DAY = datetime(2024, 1, 1, tzinfo=timezone.utc)

HOSTILE = (
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x00\x08\x7f\x9b31m \u202eevil\u202c "
    "**bold** `code` [link](https://example.org) | cell | <script>alert(1)</script> <img src=x onerror=alert(1)> "
    "@maintainer @org/team #1 &commat;ghost &#64;ghost ]]> --> ${{ 7*7 }} {{ 7*7 }} {% raw %} \ud83d \ufffe\n"
    "# heading\r\n- list\n\n| a | b |\n|---|---|\n```\nfence"
)
"""Text of an exception whose author wants to break terminal, Markdown, HTML, XML and JSON."""


def case(**changes: Any) -> Case:
    """A model case about keras; its tolerance is 1e-3."""
    given: dict[str, Any] = {
        "name": "identity",
        "path": "repro_cases/identity.py",
        "text": "# a case\n",
        "level": Level.MODEL,
        "title": "Dense(1) learns the identity",
        "companions": ("tensorflow",),
    }
    return Case(**{**given, **changes})


def release(version: str, *, day: int | None = None, **changes: Any) -> Release:
    """A release of keras, published `day` days after `FIRST_DAY`."""
    released = None if day is None else FIRST_DAY + timedelta(days=day)
    return Release(**{"package": "keras", "version": version, "released": released, **changes})


def timeline(versions: Sequence[str], **changes: Any) -> Timeline:
    """A timeline of one release a day."""
    made = tuple(release(version, day=day) for day, version in enumerate(versions))
    return Timeline(**{"releases": made, "order": Order.VERSION, **changes})


def ending(kind: EndingKind = EndingKind.FINISHED, stage: Stage = Stage.EVALUATE, **changes: Any) -> Ending:
    """How a trial ended; by default it finished."""
    return Ending(kind=kind, stage=stage, **changes)


def weights(**changes: Any) -> WeightFacts:
    """A kernel and a bias, both finite."""
    given: dict[str, Any] = {
        "count": 2,
        "finite": True,
        "initial_digest": "same",
        "values": {"kernel": (0.5,), "bias": (0.25,)},
        "norms": {"kernel": 0.5, "bias": 0.25},
    }
    return WeightFacts(**{**given, **changes})


def observation(final: Mapping[str, float] | None = None, **changes: Any) -> Observation:
    """A trial that finished with a finite loss and finite weights."""
    given: dict[str, Any] = {
        "ending": ending(),
        "final": {"loss": 0.0873} if final is None else final,
        "weights": weights(),
        "iterations": 256,
    }
    return Observation(**{**given, **changes})


def script(code: int | None = 0, **changes: Any) -> Observation:
    """A script that left with an exit code."""
    ended = ending(EndingKind.EXITED, Stage.SCRIPT, exit_code=code)
    return Observation(**{"ending": ended, **changes})
