"""What one trial says about one symptom: good, bad or skip."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from harness.domain.cases.symptoms import Symptom


class Outcome(str, Enum):
    """git's own terms."""

    GOOD = "good"
    BAD = "bad"
    SKIP = "skip"


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What one trial says about one symptom; `reason` is never empty for bad and skip.

    `signature` identifies the failure of a bad verdict: equal for two runs that fail in the same way.
    """

    outcome: Outcome
    reason: str = ""
    signature: str = ""


Verdicts = Mapping[Symptom, Verdict]
"""One verdict per symptom that the case can show."""

GOOD = Verdict(outcome=Outcome.GOOD)
HIDDEN = "hidden by "
"""How the reason of a verdict begins when another symptom hides this one."""


def bad(reason: str, told: str) -> Verdict:
    """The symptom shows; `told` is the signature of the failure."""
    return Verdict(outcome=Outcome.BAD, reason=reason, signature=told)


def skip(reason: str) -> Verdict:
    """Whether the symptom shows cannot be told."""
    return Verdict(outcome=Outcome.SKIP, reason=reason)


def hidden(by: Symptom, reason: str) -> Verdict:
    """Another symptom shows, and nothing can be seen behind it."""
    return skip(f"{HIDDEN}{by.value}: {reason}")
