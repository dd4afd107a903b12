"""What a run stands on: all that a fresh process needs to resume, replay or report it."""

from __future__ import annotations

from dataclasses import dataclass

from harness.domain.cases.case import Case
from harness.domain.findings.causes import KnownCause
from harness.domain.findings.question import Question
from harness.domain.releases.release import Timeline
from harness.domain.search.policy import Policy


@dataclass(frozen=True, kw_only=True)
class SharedEnvironment:
    """What all environments of a run share.

    Attributes:
        harness: Version of the harness.
        python: Version of the interpreter under test.
        platform: Operating system and machine.
        mode: How companions were chosen: ``fixed`` or ``as-of``.
        companions: Every companion of the reference set as pinned; in as-of mode each release has its own.
        lock: The companions with their hashes: the part of the lock that environments share where none moved.
        indexes: The user's settings of where packages come from, without secrets.
        containment: How the processes of a trial are kept together, so that none outlives it: ``pid-namespace``,
            ``cgroup``, ``subreaper`` or ``group``; "" where that was not recorded.
        named: Canonical names of the companions that were asked for by name.
    """

    harness: str
    python: str
    platform: str
    mode: str
    companions: tuple[str, ...] = ()
    lock: tuple[str, ...] = ()
    containment: str = ""
    named: tuple[str, ...] = ()
    indexes: tuple[str, ...] = ()


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
    setting: SharedEnvironment
    reproduce: str
    index_seconds: float = 0.0
    causes: tuple[KnownCause, ...] = ()
