"""The answer to one question: every transition, what could not be tried, and how sure this is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import ExitCode
from harness.domain.findings.changes.changed_lines import ChangedLines
from harness.domain.findings.question import Question
from harness.domain.findings.run import SharedEnvironment
from harness.domain.findings.transition import SignatureChange, Transition, Untested
from harness.domain.releases.moves import Move
from harness.domain.trials.observation import NonFinite
from harness.domain.verdicts.verdict import Outcome, Verdict

SCHEMA_VERSION = 1


class Answer(str, Enum):
    """The four ways in which a search ends."""

    ANSWERED = "answered"
    NO_RELEASE = "no-release"
    EVERY_RELEASE = "every-release"
    INCONCLUSIVE = "inconclusive"


EXIT_CODES = {
    Answer.ANSWERED: ExitCode.ANSWERED,
    Answer.NO_RELEASE: ExitCode.NO_RELEASE,
    Answer.EVERY_RELEASE: ExitCode.EVERY_RELEASE,
    Answer.INCONCLUSIVE: ExitCode.INCONCLUSIVE,
}


@dataclass(frozen=True, kw_only=True)
class Conclusion:
    """The verdict sentence and what it rests on.

    Attributes:
        answer: Which of the four ways.
        sentence: The answer in words.
        history: Whether the history is monotonic.
        coverage: How much of the timeline was run.
        not_run: Versions that nobody tried.
        caveats: Why the search stopped before its end, flakiness, untestable stretches, islands that may have been
            missed, failures that turn into another one; one sentence each.
        complete: The search came to its end; false: its budget was spent or it was interrupted.
    """

    answer: Answer
    sentence: str
    history: str
    coverage: str
    not_run: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    complete: bool = True


@dataclass(frozen=True, kw_only=True)
class TrialRecord:
    """One finished trial, as the report lists it."""

    variant: str
    repeat: int
    ended: str
    seconds: float
    cached: bool = False


@dataclass(frozen=True, kw_only=True)
class ReleaseResult:
    """Everything known of one release.

    Attributes:
        version: The release.
        released: Its date, ISO 8601.
        verdict: Bad if any symptom is, good if it was tested and none is, else skip; None: not run.
        symptoms: Those it shows.
        by_symptom: Verdict and reason for each symptom.
        reason: Why it is bad or skipped, in one line.
        reference: Final numbers on one replica.
        replicas: Final numbers on several.
        first_nonfinite: Where a metric first stopped being finite.
        environment: Key of its environment.
        versions: What it really imported.
        trials: What was run.
        value: What it printed where the case says that a value stands.
        moved: Companions that are not as in the reference set, in fixed mode.
    """

    version: str
    released: str | None = None
    verdict: Outcome | None = None
    symptoms: tuple[Symptom, ...] = ()
    by_symptom: Mapping[Symptom, Verdict] = field(default_factory=dict)
    reason: str = ""
    reference: Mapping[str, float] = field(default_factory=dict)
    replicas: Mapping[str, float] = field(default_factory=dict)
    first_nonfinite: NonFinite | None = None
    environment: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    trials: tuple[TrialRecord, ...] = ()
    value: str = ""
    moved: tuple[Move, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Finding:
    """The whole answer; every report is a pure function of it.

    Attributes:
        schema_version: Version of this shape.
        title: Title of the case.
        origin: Reports that the case stands for.
        question: What was asked.
        environment: What all environments share.
        releases: Every release of the timeline.
        excluded: Releases inside the range that the timeline leaves out.
        transitions: Every change of every symptom.
        signature_changes: Where a bad stretch goes on with another failure.
        conclusion: The answer in sentences.
        timing: Seconds by phase, summed over parallel jobs.
        locks: By key of the environment, what its lock has beside the shared one of `environment.lock`.
        reproduce: The command that asks the same again.
        stages: Finer searches inside the transitions of this one, for example over the nightlies between two releases.
        changed_lines: The lines behind each transition, where hunks were searched.
        lacks: Module for want of which every trial failed: then none says anything of its release.
    """

    schema_version: int = SCHEMA_VERSION
    title: str = ""
    origin: tuple[str, ...] = ()
    question: Question
    environment: SharedEnvironment
    releases: tuple[ReleaseResult, ...]
    excluded: tuple[Untested, ...] = ()
    transitions: tuple[Transition, ...] = ()
    signature_changes: tuple[SignatureChange, ...] = ()
    conclusion: Conclusion
    timing: Mapping[str, float] = field(default_factory=dict)
    locks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    reproduce: str = ""
    stages: tuple[Finding, ...] = ()
    lacks: str = ""
    changed_lines: tuple[ChangedLines, ...] = ()

    @property
    def has_numbers(self) -> bool:
        """Whether any release has numbers of replicas to show; a script has none."""
        return any(release.reference or release.replicas for release in self.releases)
