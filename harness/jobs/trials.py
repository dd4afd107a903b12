"""Trials without a search: one case on one release, all cases on one, and the trials of a run again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from harness.domain.cases import parameters
from harness.domain.cases.case import Case, Level
from harness.domain.cases.sought import looking_for
from harness.domain.errors import EnvironmentChanged, HarnessError, InfrastructureError, Interrupted, UsageError
from harness.domain.findings.run import RunHeader
from harness.domain.releases.companions import Companions, Interpreter, Mode, Wanted
from harness.domain.releases.release import Release, Timeline
from harness.domain.trials.entry import Entry
from harness.domain.trials.reproduction import pairs
from harness.domain.trials.trial import Environment, FinishedTrial, Trial
from harness.domain.trials.variant import Variant
from harness.domain.verdicts.judgement import judge
from harness.domain.verdicts.verdict import Outcome, Verdicts
from harness.jobs.events import Listener
from harness.jobs.executor import unchanged
from harness.jobs.preparation import (
    as_asked,
    find_release,
    read_case,
    say_assumed,
    variant_of,
    warn,
    with_arguments,
    with_changes,
    with_reference,
)
from harness.jobs.protocols import Services
from harness.jobs.requests import EnvironmentRequest, ReproduceRequest, ReproRequest, TrialRequest


@dataclass(frozen=True, kw_only=True)
class TrialResult:
    """One case on one release.

    Attributes:
        case: The case as it was run.
        release: Where.
        finished: The trials; the judged one comes last.
        verdicts: What it says, by symptom.
    """

    case: Case
    release: Release
    finished: tuple[FinishedTrial, ...]
    verdicts: Verdicts


@dataclass(frozen=True, kw_only=True)
class CaseOutcome:
    """One line of ``repro``: a case, its outcome, and why.

    Attributes:
        case: Name of the case.
        outcome: Good, bad or skip.
        sentence: One line.
        seconds: What it cost.
    """

    case: str
    outcome: Outcome
    sentence: str
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """Recorded trials beside the same trials now.

    Attributes:
        recorded: Entries of the journal.
        finished: The same trials now, in the same order.
        same_environment: Whether lock, interpreter and platform are the same.
        same_numbers: Whether every ending and every number is the same, to six digits.
    """

    recorded: tuple[Entry, ...]
    finished: tuple[FinishedTrial, ...]
    same_environment: bool
    same_numbers: bool


def prepare_release(
    services: Services, cases: Sequence[Case], release: Release, request: EnvironmentRequest, listener: Listener
) -> Environment:
    """Build the environment of one release for all these cases; raises `Untestable` or `InfrastructureError`."""
    timeline = Timeline(releases=(release,))
    companions = services.companions(cases, timeline, request.pins, request.mode, request.python)
    return services.environments(companions, listener).prepare(release)


def run_once(
    services: Services, environment: Environment, case: Case, release: Release, variant: Variant, *, fresh: bool
) -> TrialResult:
    """Run the trial and its reference in an environment, and judge it."""
    trials = [Trial(release=release.version, variant=v) for v in with_reference(case, variant)]
    finished = tuple(services.trials(fresh=fresh).run(environment, case, trials))
    reference = finished[0].observation if len(finished) > 1 else None
    verdicts = judge(case, finished[-1].observation, reference)
    return TrialResult(case=case, release=release, finished=finished, verdicts=verdicts)


def run(services: Services, request: TrialRequest, listener: Listener) -> TrialResult:
    """Run a case once in the environment of one release.

    Raises:
        UsageError: unknown case, release or parameter.
        Untestable: the release cannot be tested here.
        InfrastructureError: machine, index or disk failed.
    """
    case = read_case(services, request.case, request, package=request.package)
    case = looking_for(with_changes(case, replicas=request.replicas, strategy=request.strategy), request.sought)
    case = with_arguments(case, request.arguments)
    say_assumed(listener, case)
    variant = variant_of(case, parameters.parse(case, request.settings))
    release = find_release(services, case.package, request.release, listener, where="--release")

    def attempt() -> TrialResult:
        environment = prepare_release(services, [case], release, request, listener)
        return run_once(services, environment, case, release, variant, fresh=request.fresh)

    return unchanged(attempt, lambda change: warn(listener, f"{change.what}: running it once more"))


@dataclass(frozen=True, kw_only=True)
class ReproRun:
    """All cases on one release, one after the other.

    Attributes:
        release: Where.
        environment: The environment that they share.
        outcomes: One per case, each run when it is asked for.
    """

    release: Release
    environment: Environment
    outcomes: Iterator[CaseOutcome]


def repro(services: Services, request: ReproRequest, listener: Listener) -> ReproRun:
    """Run all cases, or those named, in the environment of one release.

    Raises:
        UsageError: no case is about the package, or there is no such release.
        Untestable: the release cannot be tested here.
        InfrastructureError: machine, index or disk failed.
    """
    read = [as_asked(case, request) for case in services.cases.read_all(request.cases)]
    about = [case for case in read if case.package == request.package]
    cases = [case for case in about if not _elsewhere(case, request)] or about
    if not cases:
        raise UsageError(
            f"no case is about {request.package}", where="--package", hint="it is named in the case's metadata"
        )
    release = find_release(services, request.package, request.release, listener, where="VERSION")
    environment = prepare_release(services, cases, release, request, listener)
    shared = [environment]

    def judged(case: Case) -> tuple[Outcome, str]:
        def renew(change: EnvironmentChanged) -> None:
            warn(listener, f"{change.what}: running {case.name} once more")
            shared[0] = prepare_release(services, cases, release, request, listener)

        if elsewhere := _elsewhere(case, request):
            return Outcome.SKIP, elsewhere
        return unchanged(lambda: _judged(services, shared[0], case, release, fresh=request.fresh), renew)

    outcomes = (_outcome(case, judged) for case in read)
    return ReproRun(release=release, environment=environment, outcomes=outcomes)


def _elsewhere(case: Case, request: ReproRequest) -> str:
    """Why a case says nothing of the backend that is asked for; "" where it does."""
    foreign = ", ".join(other.value for other in case.foreign_frameworks) if request.backend else ""
    return f"imports {foreign} itself, and says nothing of another backend" if foreign else ""


def _outcome(case: Case, judged: Callable[[Case], tuple[Outcome, str]]) -> CaseOutcome:
    """Judge one case; what cannot be tested is a skip with its reason, never an end of the whole list."""
    started = time.monotonic()
    try:
        outcome, sentence = judged(case)
    except (InfrastructureError, Interrupted):
        raise
    except HarnessError as reason:
        outcome, sentence = Outcome.SKIP, reason.what
    return CaseOutcome(case=case.name, outcome=outcome, sentence=sentence, seconds=time.monotonic() - started)


def _judged(
    services: Services, environment: Environment, case: Case, release: Release, *, fresh: bool
) -> tuple[Outcome, str]:
    if case.package != release.package:
        return Outcome.SKIP, f"is about {case.package}: harness bisect {case.name}"
    verdicts = run_once(services, environment, case, release, variant_of(case), fresh=fresh).verdicts
    compared = case.level is Level.MODEL
    return summary(verdicts, good="equals its reference on one replica" if compared else "exit code 0")


def summary(verdicts: Verdicts, *, good: str) -> tuple[Outcome, str]:
    """One outcome and one sentence for a case; `good` says what a good one showed."""
    bad = [f"{s.value}: {v.reason}" for s, v in verdicts.items() if v.outcome is Outcome.BAD]
    if bad:
        return Outcome.BAD, "; ".join(bad)
    skipped = [str(v.reason) for v in verdicts.values() if v.outcome is Outcome.SKIP]
    if len(skipped) == len(verdicts):
        return Outcome.SKIP, skipped[0] if skipped else "nothing to judge"
    return Outcome.GOOD, f"not judged: {skipped[0]}" if skipped else good


def reproduce(services: Services, request: ReproduceRequest, listener: Listener) -> Reproduction:
    """Rebuild the environment of one release of a run from the recorded lock and repeat its trials.

    Raises:
        UsageError: there is no such run, or no trial of this release in it.
        Untestable: a package of the lock can no longer be installed.
        InfrastructureError: machine, index or disk failed.
    """
    header, entries = services.runs.read(services.runs.locate(request.run))
    recorded = [e for e in entries if e.release == request.release and e.finished and e.finished.trial.repeat == 0]
    environment = recorded[0].environment if recorded else None
    if environment is None:
        known = ", ".join(dict.fromkeys(e.release for e in entries if e.finished))
        raise UsageError(
            f"the run has no trial of {request.release}",
            where=str(request.run),
            hint=f"releases with trials: {known}",
        )
    companions = recorded_companions(services, header, listener)
    trials = [e.finished.trial for e in recorded if e.finished]

    def attempt() -> tuple[Environment, Sequence[FinishedTrial]]:
        built = services.environments(companions, listener).restore(environment)
        return built, services.trials(fresh=True).run(built, header.case, trials)

    again, finished = unchanged(attempt, lambda change: warn(listener, f"{change.what}: running it once more"))
    was = [e.finished.observation for e in recorded if e.finished]
    return Reproduction(
        recorded=tuple(recorded),
        finished=tuple(finished),
        same_environment=again.key == environment.key,
        same_numbers=all(
            before == after
            for one, now in zip(was, finished, strict=True)
            for _, before, after in pairs(one, now.observation)
        ),
    )


def recorded_companions(services: Services, header: RunHeader, listener: Listener) -> Companions:
    """The companions as recorded; the interpreter must be of the same minor version."""
    return Companions(
        wanted=Wanted(package=header.case.package, requirements=()),
        mode=Mode(header.setting.mode),
        interpreter=_interpreter(services, header.setting.python, listener),
        lock=header.setting.lock,
    )


def _interpreter(services: Services, version: str, listener: Listener) -> Interpreter:
    found = services.pythons.named(".".join(version.split(".")[:2]))
    if found.version != version:
        warn(listener, f"the run had Python {version}, this machine has {found.version}")
    return found
