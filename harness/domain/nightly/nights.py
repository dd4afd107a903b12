"""What a night's facts mean: one status per symptom of a case, a pure function of tonight and of the nights before.

The first row that fits decides. A *change* is one of `new`, `regressed` and `fixed`.

    tonight's runs    expected  the night before  else                          status
    ----------------  --------  ----------------  ----------------------------  -----------------
    any               any       any               a fault of the surroundings   infrastructure
    none decided      any       any                                             insufficient data
    they disagree     any       any                                             flaky
    a change          any       any               control not healthy           suspicious
    a change          any       any               too few runs                  suspicious
    a change          any       other outcome     of the very same build        suspicious
    bad               bad       any                                             as expected
    bad               good      bad, unexpected                                 still bad
    bad               good      good or none      was bad in an earlier period  regressed
    bad               good      bad, expected     what excused it is over       regressed
    bad               good      good or none                                    new
    good              bad       any                                             fixed
    good              good      bad                                             fixed
    good              good      good or none                                    as expected

"The night before" is the last night that was believed; before the first one the control stands in for it, so that
what the newest stable release shows as well is no news. `suspicious`, `flaky`, `insufficient data` and
`infrastructure` leave everything as it was: they never open and never close an alert.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, IntEnum

from harness.domain.cases.symptoms import Symptom
from harness.domain.verdicts.verdict import Outcome, Verdict


class Status(str, Enum):
    """The result of one symptom of one case in one night."""

    AS_EXPECTED = "as expected"
    NEW = "new"
    REGRESSED = "regressed"
    FIXED = "fixed"
    STILL_BAD = "still bad"
    FLAKY = "flaky"
    SUSPICIOUS = "suspicious"
    INSUFFICIENT = "insufficient data"
    INFRASTRUCTURE = "infrastructure"


ALERTING = frozenset({Status.NEW, Status.REGRESSED})
CHANGES = ALERTING | {Status.FIXED}
BELIEVED = CHANGES | {Status.AS_EXPECTED, Status.STILL_BAD}
UNDECIDED = frozenset({Status.FLAKY, Status.SUSPICIOUS, Status.INFRASTRUCTURE})


class NightExit(IntEnum):
    """Exit codes of ``harness nightly``. An alert that is open already does not fail every night again."""

    AS_EXPECTED = 0
    NEW_REGRESSION = 3
    RECOVERY = 4
    INCONCLUSIVE = 5


@dataclass(frozen=True, kw_only=True)
class CaseResult:
    """One trial of a case on one release, judged.

    Attributes:
        verdicts: One verdict per symptom; empty when there was nothing to judge.
        blocked: Why the release cannot be tested.
        fault: What failed in the surroundings; says nothing about the release.
        inferred: Not run; taken over from two equal neighbours.
    """

    verdicts: Mapping[Symptom, Verdict] = field(default_factory=dict)
    blocked: str = ""
    fault: str = ""
    inferred: bool = False


@dataclass(frozen=True, kw_only=True)
class CaseNight:
    """One case in one night: what was seen on the nightly and on the control.

    Attributes:
        case: Name of the case.
        nightly: Looks at the nightly, the first one first.
        control: Looks at the control.
        expected: Symptoms that the nightly was expected to show, with the recorded reason.
        control_expected: The same for the control.
    """

    case: str
    nightly: tuple[CaseResult, ...] = ()
    control: tuple[CaseResult, ...] = ()
    expected: Mapping[Symptom, str] = field(default_factory=dict)
    control_expected: Mapping[Symptom, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Narrowed:
    """A change brought down to two neighbouring nightlies."""

    case: str
    symptom: Symptom
    turns_bad: bool
    last_before: str = ""
    first_after: str = ""
    confirmed: bool = False
    sentence: str = ""
    folder: str = ""


@dataclass(frozen=True, kw_only=True)
class FixStatus:
    """The answer to "is the fix in yet?": ``yes``, ``not yet`` or ``cannot be told``."""

    case: str
    symptom: Symptom
    broken: str
    answer: str
    reason: str = ""
    link: str = ""


@dataclass(frozen=True, kw_only=True)
class NightRecord:
    """All facts of one night; what they mean is never stored.

    Attributes:
        night: The day, ISO 8601.
        moment: When it began.
        package: Distribution of the nightlies.
        nightly: The newest build that existed.
        control: The newest stable release that existed.
        fault: What failed before any case could be looked at.
        stale_days: Age of the newest build in days.
        stale_after: Age from which that is an alert.
        confirmations: Runs that a change needs to be believed.
        cases: What was seen.
        narrowed: Changes brought down to a pair of nightlies.
        watched: Fixes waited for.
        notes: What a reader should know: expired expectations, cases that were left out.
        simulated: Whether the night was replayed later.
        seconds: What it took.
    """

    night: str
    moment: datetime
    package: str
    nightly: str = ""
    control: str = ""
    fault: str = ""
    stale_days: int = 0
    stale_after: int = 3
    confirmations: int = 3
    cases: tuple[CaseNight, ...] = ()
    narrowed: tuple[Narrowed, ...] = ()
    watched: tuple[FixStatus, ...] = ()
    notes: tuple[str, ...] = ()
    simulated: bool = False
    seconds: float = 0.0

    @property
    def stale(self) -> bool:
        """Whether the index has no recent nightly; never said when the index did not answer."""
        return not self.fault and self.stale_days > self.stale_after


@dataclass(frozen=True, kw_only=True)
class StatusEvidence:
    """Everything that the status depends on; see the table of this module."""

    fault: bool = False
    runs: tuple[Outcome, ...] = ()
    expected_bad: bool = False
    before: Outcome | None = None
    before_expected: bool = False
    ever_bad: bool = False
    control_healthy: bool = True
    same_build: bool = False
    confirmations: int = 3


def decide(evidence: StatusEvidence) -> Status:
    """Return the status; the table of this module is the contract."""
    decided = [outcome for outcome in evidence.runs if outcome is not Outcome.SKIP]
    if evidence.fault:
        return Status.INFRASTRUCTURE
    if not decided:
        return Status.INSUFFICIENT
    if len(set(decided)) > 1:
        return Status.FLAKY
    candidate = _bad(evidence) if decided[0] is Outcome.BAD else _good(evidence)
    contradicts = evidence.same_build and evidence.before is not decided[0]
    believed = evidence.control_healthy and len(decided) >= evidence.confirmations and not contradicts
    return Status.SUSPICIOUS if candidate in CHANGES and not believed else candidate


def _bad(evidence: StatusEvidence) -> Status:
    if evidence.expected_bad:
        return Status.AS_EXPECTED
    if evidence.before is Outcome.BAD and not evidence.before_expected:
        return Status.STILL_BAD
    return Status.REGRESSED if evidence.ever_bad else Status.NEW


def _good(evidence: StatusEvidence) -> Status:
    return Status.FIXED if evidence.expected_bad or evidence.before is Outcome.BAD else Status.AS_EXPECTED


def healthy(control: Sequence[Outcome], known: Outcome | None, *, expected_bad: bool) -> bool:
    """Whether the control vouches for the night: it ran, agrees with itself and says what it said before.

    A control seen for the first time vouches unless it is bad without being expected to be. Its `skip` counts as an
    answer: a symptom that another one hides was hidden on the night before as well.
    """
    if not control or len(set(control)) > 1:
        return False
    if known is not None:
        return control[0] is known
    return control[0] is not Outcome.BAD or expected_bad
