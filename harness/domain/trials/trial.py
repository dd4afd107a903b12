"""A trial, the environment that it runs in, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.domain.trials.observation import Observation
from harness.domain.trials.variant import Variant


@dataclass(frozen=True, kw_only=True, slots=True)
class Environment:
    """A sealed environment.

    Attributes:
        key: Hash of the resolved lock, the interpreter and the platform.
        executable: Its interpreter.
        python: Version of the interpreter.
        lock: The resolved requirements with hashes, one per line, that it does not share with the whole run.
        seconds: What preparing it cost, by phase (``resolve``, ``build``).
        reused: Whether it was there already.
        isolation: What kept trials from changing it; "" where that is not known.
        notes: What was decided for it that a reader should know, for example which of two providers was taken.
    """

    key: str
    executable: str
    python: str
    lock: tuple[str, ...]
    seconds: Mapping[str, float] = field(default_factory=dict)
    reused: bool = False
    isolation: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """What identifies one trial within a run."""

    release: str
    variant: Variant
    repeat: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class FinishedTrial:
    """One finished trial with its facts."""

    trial: Trial
    observation: Observation
    seconds: float
    cached: bool = False
