"""What a fix does to a release, and the whole answer of ``harness verify-fix``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum

from harness.domain.cases.symptoms import Symptom
from harness.domain.findings.question import Question
from harness.domain.findings.run import SharedEnvironment


class Grade(str, Enum):
    """What a fix does to one release, the best first."""

    PROVEN = "proven"
    MASKS = "masks"
    NO_EFFECT = "no effect"
    BREAKS = "breaks"
    ABSENT = "absent"
    NOT_REPRODUCED = "not reproduced"
    INCONCLUSIVE = "inconclusive"


class FixExit(IntEnum):
    """Exit codes of ``harness verify-fix``."""

    PROVEN = 0
    NO_CURE = 3
    NOT_RIGHT = 4
    INCONCLUSIVE = 5
    BREAKS = 7


@dataclass(frozen=True, kw_only=True)
class Graded:
    """One release's grade with its evidence.

    Attributes:
        version: The release.
        grade: The grade.
        reason: One sentence.
        reference: Numbers on one replica.
        without: Numbers on several replicas, unpatched.
        patched: The same with the fix.
        by_symptom: Outcome per symptom, (without, with).
    """

    version: str
    grade: Grade
    reason: str
    reference: Mapping[str, float] = field(default_factory=dict)
    without: Mapping[str, float] = field(default_factory=dict)
    patched: Mapping[str, float] = field(default_factory=dict)
    by_symptom: Mapping[str, tuple[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class FixResult:
    """One fix over all releases asked for."""

    name: str
    sentence: str
    releases: tuple[Graded, ...]


@dataclass(frozen=True, kw_only=True)
class ReportHead:
    """How every report about fixes begins.

    Attributes:
        schema_version: Version of this shape.
        title: Title of the case.
        question: What was asked.
        environment: What all environments share.
    """

    schema_version: int = 1
    title: str
    question: Question
    environment: SharedEnvironment


@dataclass(frozen=True, kw_only=True)
class FixReport(ReportHead):
    """The whole answer of ``verify-fix``; every report is a pure function of it.

    Attributes:
        targets: Symptoms to be cured.
        fixes: One result per fix.
        workarounds: What pinning a release is worth, one sentence per stretch of equal releases.
        control: The last good release, tried beside those asked for; "" when one of those is healthy.
        exit_code: Exit code of the command.
        timing: Seconds by phase, summed over parallel jobs.
        locks: By key of the environment, what its lock has beside the shared one.
        reproduce: The command that asks the same again.
    """

    targets: tuple[Symptom, ...]
    fixes: tuple[FixResult, ...]
    workarounds: tuple[str, ...] = ()
    control: str = ""
    exit_code: int
    timing: Mapping[str, float] = field(default_factory=dict)
    locks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    reproduce: str = ""


def exit_code(grades: Sequence[Grade]) -> FixExit:
    """The worst counts: breaking a healthy release, then not right, then no cure; proven needs a proof."""
    found = set(grades)
    if Grade.BREAKS in found:
        return FixExit.BREAKS
    if Grade.MASKS in found:
        return FixExit.NOT_RIGHT
    if Grade.NO_EFFECT in found:
        return FixExit.NO_CURE
    return FixExit.PROVEN if Grade.PROVEN in found else FixExit.INCONCLUSIVE
