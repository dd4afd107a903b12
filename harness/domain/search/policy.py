"""How hard to search."""

from __future__ import annotations

from dataclasses import dataclass

from harness.domain.cases.symptoms import Symptom


@dataclass(frozen=True, kw_only=True)
class Policy:
    """How hard to search.

    Attributes:
        symptoms: Those asked for; empty: every symptom that is seen.
        repeats: Least number of runs per release.
        confirmations: Least number of runs on each side of a transition.
        max_trials: Budget of runs over all releases; None: no limit. As many releases again may turn out untestable:
            they cost a build and no run, and must not take the runs from those that can be tested.
        confidence: Probability with which a transition must lie where it is said to lie.
        max_gap: Longest stretch of releases that may stay unrun where both neighbours agree. 0: none, every
            release is run; None: any, gaps between agreeing releases are not filled (long nightly timelines).
    """

    symptoms: tuple[Symptom, ...] = ()
    repeats: int = 1
    confirmations: int = 2
    max_trials: int | None = None
    confidence: float = 0.99
    max_gap: int | None = 0
