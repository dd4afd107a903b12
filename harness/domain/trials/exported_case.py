"""A case with all that a script of its own needs."""

from __future__ import annotations

from dataclasses import dataclass

from harness.domain.cases.case import Case
from harness.domain.trials.variant import Variant


@dataclass(frozen=True, kw_only=True)
class ExportedCase:
    """What is written into a script for an upstream issue.

    Attributes:
        case: The case as it is run.
        release: Version of the package under test.
        pins: Requirements that reproduce the environment, the package under test first.
        variant: Replicas and settings.
    """

    case: Case
    release: str
    pins: tuple[str, ...]
    variant: Variant
