"""What one trial says about one symptom: good, bad or skip."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from harness.domain.cases.symptoms import Symptom
from harness.domain.verdicts.reasons import NO_REASON, Reason, ReasonKind


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
    reason: Reason = NO_REASON
    signature: str = ""

    @property
    def hidden(self) -> bool:
        """Whether another symptom hides this one."""
        return self.reason.kind is ReasonKind.HIDDEN

    @property
    def undecided(self) -> bool:
        """Whether the release's own runs and its neighbours contradict each other."""
        return self.reason.kind is ReasonKind.UNDECIDED


Verdicts = Mapping[Symptom, Verdict]
"""One verdict per symptom that the case can show."""

GOOD = Verdict(outcome=Outcome.GOOD)


def bad(reason: Reason, signature: str) -> Verdict:
    """The symptom shows; `signature` identifies the failure."""
    return Verdict(outcome=Outcome.BAD, reason=reason, signature=signature)


def skip(reason: Reason) -> Verdict:
    """Whether the symptom shows cannot be told."""
    return Verdict(outcome=Outcome.SKIP, reason=reason)


def hidden(by: Symptom, cause: Reason) -> Verdict:
    """Another symptom shows, and nothing can be seen behind it."""
    return skip(Reason(kind=ReasonKind.HIDDEN, hidden_by=by, cause=cause))
