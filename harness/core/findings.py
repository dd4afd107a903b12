"""The answer to one question: every transition, what could not be tried, and how sure this is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from harness.core.belief import believe
from harness.core.board import Board, seen_symptoms
from harness.core.cases import Case, Symptom
from harness.core.causes import KnownCause
from harness.core.doubts import doubts, flaky_share, percent
from harness.core.errors import ExitCode
from harness.core.observations import NonFinite, Variant
from harness.core.releases import Timeline
from harness.core.search import Policy
from harness.core.transitions import (
    SignatureChange,
    Transition,
    Untested,
    describe,
    signature_changes,
)
from harness.core.verdicts import Outcome, Verdict

SCHEMA_VERSION = 1


@dataclass(frozen=True, kw_only=True)
class Question:
    """What was asked. Two equal questions have the same answer; a resumed run must ask the same.

    Attributes:
        case: Name of the case.
        case_digest: Hash of its text.
        package: Distribution under test.
        first: First version of the range.
        last: Last version of the range, resolved (never "latest").
        releases: Versions of the timeline in order.
        companions: What is pinned beside the package, as asked for.
        mode: ``fixed`` or ``as-of``.
        replicas: Replicas of the trial that is compared with the reference.
        strategy: Its strategy.
        symptoms: Those asked for; empty: every symptom that is seen.
        order: Version or date.
        fixes: Name and hash of each fix, when the question is about fixes.
        options: Settings of the case's switches; empty: its defaults.
        contract: Version of the probe's contract.
    """

    case: str
    case_digest: str
    package: str
    first: str
    last: str
    releases: tuple[str, ...]
    companions: tuple[str, ...] = ()
    mode: str = "fixed"
    replicas: int = 2
    strategy: str = "mirrored"
    symptoms: tuple[Symptom, ...] = ()
    order: str = "version"
    fixes: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    contract: int = 1

    @property
    def variant(self) -> Variant:
        """The trial that is judged on every release."""
        return Variant(replicas=self.replicas, strategy=self.strategy, options=self.options)

    @property
    def setup(self) -> str:
        """How the case is run, in words; no options, no word about them."""
        told = f"{self.replicas} replicas ({self.strategy}) against one"
        return f"{told}, with {', '.join(f'{name}={value}' for name, value in self.options)}" if self.options else told

    def differences(self, other: Question) -> list[str]:
        """Name every field in which another question differs, with both values."""
        names = self.__dataclass_fields__
        return [
            f"{name}: {getattr(self, name)!r} -> {getattr(other, name)!r}"
            for name in names
            if getattr(self, name) != getattr(other, name)
        ]


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


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What all environments of a run share.

    Attributes:
        harness: Version of the harness.
        python: Version of the interpreter under test.
        platform: Operating system and machine.
        mode: How companions were chosen: ``fixed`` or ``as-of``.
        companions: Every companion as pinned; in as-of mode each release has its own.
        lock: The companions with their hashes: the part of the lock that all environments share.
    """

    harness: str
    python: str
    platform: str
    mode: str
    companions: tuple[str, ...] = ()
    lock: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class RunHeader:
    """First line of a journal: all that a fresh process needs to resume, replay or report the run.

    Attributes:
        question: What was asked.
        case: The case as it was.
        timeline: The releases in order, and those left out.
        policy: How hard the search was.
        setting: What the environments share.
        reproduce: The command that asks the same again.
        index_seconds: What reading the index cost.
        causes: Changes upstream that are known to have begun or ended a symptom of the case.
    """

    question: Question
    case: Case
    timeline: Timeline
    policy: Policy
    setting: Setting
    reproduce: str
    index_seconds: float = 0.0
    causes: tuple[KnownCause, ...] = ()


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
        doubts: Flakiness, untestable stretches, islands that may have been missed, failures that turn into
            another one; one sentence each.
    """

    answer: Answer
    sentence: str
    history: str
    coverage: str
    not_run: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


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
    """

    schema_version: int = SCHEMA_VERSION
    title: str = ""
    origin: tuple[str, ...] = ()
    question: Question
    environment: Setting
    releases: tuple[ReleaseResult, ...]
    excluded: tuple[Untested, ...] = ()
    transitions: tuple[Transition, ...] = ()
    signature_changes: tuple[SignatureChange, ...] = ()
    conclusion: Conclusion
    timing: Mapping[str, float] = field(default_factory=dict)
    locks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    reproduce: str = ""
    stages: tuple[Finding, ...] = ()


def conclude(timeline: Timeline, board: Board, asked: Sequence[Symptom], found: Sequence[Transition]) -> Conclusion:
    """Sum the search up in sentences."""
    seen = seen_symptoms(board, asked)
    states = {symptom: believe(board, symptom).states for symptom in seen or list(Symptom)}
    tested = sorted({place for places in states.values() for place in places})
    bad = [symptom for symptom, places in states.items() if any(places.values())]
    if found:
        answer, sentence = Answer.ANSWERED, "; ".join(describe(t) for t in found) + "."
    elif bad:
        answer, sentence = Answer.EVERY_RELEASE, _everywhere(timeline, board, {s: [*states[s]] for s in bad})
    elif tested:
        names = ", ".join(s.value for s in asked) or "any symptom"
        answer, sentence = Answer.NO_RELEASE, f"{names}: in no release from {_range(timeline, tested)}."
    else:
        answer = Answer.INCONCLUSIVE
        sentence = "No release of the range could be tested; see the reason of each."
    not_run = tuple(timeline.releases[i].version for i, row in enumerate(board) if not row.tried)
    turned = [_turned(change) for change in signature_changes(timeline, board, asked)]
    return Conclusion(
        answer=answer,
        sentence=sentence,
        history=_history(found),
        coverage=_coverage(board, not_run),
        not_run=not_run,
        doubts=(*turned, *doubts(timeline.versions, board, seen)),
    )


def _everywhere(timeline: Timeline, board: Board, places: Mapping[Symptom, Sequence[int]]) -> str:
    """A symptom without a transition: it always shows, or it is flaky all along."""
    clauses = []
    for symptom, tested in places.items():
        share = flaky_share(board, symptom)
        where = f"in every release that could be tested, from {_range(timeline, tested)}"
        flaky = f"no transition, flaky at about {percent(round(share, 2))} " if share is not None else ""
        clauses.append(f"{symptom.value}: {flaky}{where}")
    return "; ".join(clauses) + "."


def _turned(change: SignatureChange) -> str:
    return (
        f"The failure changes while {change.symptom.value} lasts, "
        f"{change.last_before} -> {change.first_after}: {change.before!r} becomes {change.after!r}; "
        "the two may have different causes."
    )


def _range(timeline: Timeline, places: Sequence[int]) -> str:
    return f"{timeline.releases[places[0]].version} to {timeline.releases[places[-1]].version}"


def _history(found: Sequence[Transition]) -> str:
    per_symptom: dict[Symptom, int] = {}
    for transition in found:
        per_symptom[transition.symptom] = per_symptom.get(transition.symptom, 0) + 1
    several = [symptom.value for symptom, count in per_symptom.items() if count > 1]
    if several:
        return (
            f"The history is not monotonic: {', '.join(several)} begins and ends within the range, "
            "so a plain bisection between its ends would have missed it."
        )
    return "The history is monotonic." if found else "There is no transition in the range."


def _coverage(board: Board, not_run: Sequence[str]) -> str:
    run = sum(bool(row.runs) for row in board)
    blocked = sum(row.blocked is not None for row in board)
    if run == len(board):
        return f"Every one of the {len(board)} releases of the range was run."
    parts = [f"{run} of {len(board)} releases were run"]
    if blocked:
        parts.append(f"{blocked} could not be tested")
    if not_run:
        named = ", ".join([*not_run[:8], "..."] if len(not_run) > 8 else not_run)
        parts.append(f"{len(not_run)} were not run ({named})")
    return ", ".join(parts) + "."
