"""Run a case on a copy of the package in which some files are replaced, and say what that does to one verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from harness.domain.cases.case import Case, Level
from harness.domain.cases.symptoms import FAILURES, Symptom
from harness.domain.errors import EnvironmentChanged, HarnessError, InfrastructureError, Interrupted, UsageError
from harness.domain.findings.transition import Kind, Transition
from harness.domain.search.delta import Effect
from harness.domain.search.hunks import Overlay
from harness.domain.trials.observation import EndingKind, Observation, Stage
from harness.domain.trials.trial import Environment, FinishedTrial, Trial
from harness.domain.trials.variant import Variant
from harness.domain.verdicts.judgement import judge
from harness.domain.verdicts.verdict import Outcome
from harness.jobs.events import Event, EventKind, Listener
from harness.jobs.executor import unchanged
from harness.jobs.preparation import with_reference
from harness.jobs.protocols import RestorableEnvironments, Services


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What a set of changes shows.

    Attributes:
        outcome: Good, bad or skip, about the symptom that is asked for.
        reason: Why it is bad or skip, in one line.
        signature: What identifies a failure.
        imported: Files of the copy that were imported, where that was measured.
    """

    outcome: Outcome
    reason: str = ""
    signature: str = ""
    imported: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What all experiments on one transition share.

    Attributes:
        services: The world.
        listener: Hears what is run.
        case: The repro.
        variant: The trial that is judged.
        transition: What is explained.
        environments: Builds the environment of the side before again, should a trial change it.
        environment: As recorded.
        fresh: Leave the cache aside.
        memory_bytes: Memory limit of a trial.
    """

    services: Services
    listener: Listener
    case: Case
    variant: Variant
    transition: Transition
    environments: RestorableEnvironments
    environment: Environment
    fresh: bool = False
    memory_bytes: int | None = None


@dataclass(kw_only=True)
class Experiments:
    """Runs each set of changes once, as long as the budget lasts.

    Attributes:
        setting: What they share.
        budget: Most sets of changes that are run.
        known_by: The failure that counts as the symptom where a trial ends with it; "" as long as none was seen.
        trials: How many sets were run.
        unresolved: How many of them said nothing.
    """

    setting: Setting
    budget: int
    known_by: str = ""
    trials: int = 0
    unresolved: int = 0
    _seen: dict[str, Shown] = field(default_factory=dict)

    def shown(self, overlay: Overlay, *, measured: bool = False) -> Shown | None:
        """What a copy with these files shows; None: the budget is spent.

        Raises:
            InfrastructureError: machine or disk failed, which says nothing about the changes.
        """
        key = repr(sorted(overlay.items()))
        if key not in self._seen:
            if self.trials >= self.budget:
                return None
            self.trials += 1
            self._seen[key] = self._run(overlay, measured=measured)
            self._tell(overlay, self._seen[key])
        return self._seen[key]

    def effect(self, overlay: Overlay) -> Effect | None:
        """What these files do to the verdict of the side before; None: the budget is spent."""
        new = self.trials
        shown = self.shown(overlay)
        if shown is None:
            return None
        effect = self.effect_of(shown)
        self.unresolved += effect is Effect.UNRESOLVED and self.trials > new
        return effect

    def effect_of(self, shown: Shown) -> Effect:
        """Whether that is what the side after shows; another failure than the known one is no verdict."""
        if shown.outcome is Outcome.SKIP or (shown.outcome is Outcome.BAD and self._other(shown)):
            return Effect.UNRESOLVED
        wanted = Outcome.BAD if self.setting.transition.kind is Kind.REGRESSION else Outcome.GOOD
        return Effect.FLIPS if shown.outcome is wanted else Effect.KEEPS

    def _other(self, shown: Shown) -> bool:
        ends = self.setting.transition.symptom in FAILURES or self.setting.case.level is Level.SCRIPT
        return ends and bool(self.known_by) and shown.signature != self.known_by

    def _run(self, overlay: Overlay, *, measured: bool) -> Shown:
        setting = self.setting
        fix = setting.services.overlay(overlay, measured=measured)
        trials = setting.services.trials(fresh=setting.fresh, memory_bytes=setting.memory_bytes, fixes=[fix])
        variants = [replace(v, fix=fix.name) for v in with_reference(setting.case, setting.variant)]
        wanted = [
            Trial(release=setting.transition.last_before, variant=variant, repeat=repeat)
            for repeat in range(setting.case.repeats)
            for variant in variants
        ]

        def attempt() -> Sequence[FinishedTrial]:
            environment = setting.environments.restore(setting.environment)
            return trials.run(environment, setting.case, wanted)

        def note(change: EnvironmentChanged) -> None:
            setting.listener.notify(Event(kind=EventKind.NOTE, detail=f"{change.what}: once more, built anew"))

        try:
            finished = unchanged(attempt, note)
        except (UsageError, InfrastructureError, Interrupted):
            raise
        except HarnessError as reason:
            return Shown(outcome=Outcome.SKIP, reason=reason.what)
        return agreed([self._judged(finished[n : n + len(variants)]) for n in range(0, len(finished), len(variants))])

    def _judged(self, finished: Sequence[FinishedTrial]) -> Shown:
        seen = finished[-1].observation
        reference = finished[0].observation if len(finished) > 1 else None
        return judged(self.setting.case, self.setting.transition.symptom, seen, reference)

    def _tell(self, overlay: Overlay, shown: Shown) -> None:
        """Say what was run; a trial of the harness in which a symptom is told by its end."""
        told = f"{shown.outcome.value}: {shown.reason}" if shown.reason else shown.outcome.value
        detail = f"{self.trials}. {len(overlay)} changed files in {self.setting.transition.last_before}: {told[:200]}"
        self.setting.listener.notify(Event(kind=EventKind.MESSAGE, detail=detail))


def judged(case: Case, symptom: Symptom, seen: Observation, reference: Observation | None) -> Shown:
    """Judge one trial on a copy; a copy that cannot be imported, or a script that aborts, says nothing."""
    if seen.ending.stage is Stage.FIX and seen.ending.kind is not EndingKind.FINISHED:
        return Shown(outcome=Outcome.SKIP, reason=seen.ending.message or "the copy was not made")
    try:
        verdict = judge(case, seen, reference).get(symptom)
    except InfrastructureError as abort:
        return Shown(outcome=Outcome.SKIP, reason=abort.what)
    if verdict is None:
        return Shown(outcome=Outcome.SKIP, reason=f"{symptom.value} cannot be judged", imported=seen.imported)
    reason = "" if verdict.outcome is Outcome.GOOD else str(verdict.reason)
    return Shown(outcome=verdict.outcome, reason=reason, signature=verdict.signature, imported=seen.imported)


def agreed(runs: Sequence[Shown]) -> Shown:
    """What repeats show together: those that do not agree say nothing."""
    first = runs[0]
    if any((run.outcome, run.signature) != (first.outcome, first.signature) for run in runs[1:]):
        outcomes = ", ".join(run.outcome.value for run in runs)
        return Shown(outcome=Outcome.SKIP, reason=f"its repeats do not agree: {outcomes}", imported=first.imported)
    return first
