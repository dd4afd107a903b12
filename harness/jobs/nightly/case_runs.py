"""What a night needs of the other jobs: a case run on one release, a change narrowed down, a fix looked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from harness.domain.cases.case import Case
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import InfrastructureError, Untestable, UsageError
from harness.domain.findings import assemble
from harness.domain.findings.transition import Kind, describe
from harness.domain.fixes.grades import Grade
from harness.domain.fixes.pairs import bracket
from harness.domain.nightly.expectations import AwaitedFix
from harness.domain.nightly.nights import CaseResult, FixStatus, Narrowed
from harness.domain.releases.channels import parse_channels
from harness.domain.releases.companions import Companions
from harness.domain.releases.index_page import IndexPage
from harness.domain.releases.release import Release, Timeline
from harness.domain.trials.entry import Entry
from harness.jobs import timeline_search
from harness.jobs.events import Listener
from harness.jobs.executor import Attempt, Runner
from harness.jobs.preparation import as_package, same_companions, variant_of, with_reference
from harness.jobs.protocols import Services
from harness.jobs.requests import BisectRequest, NightlyRequest

NO_RESULT = "it gave no result"
ANSWERS = {
    Grade.PROVEN: "yes",
    Grade.NO_EFFECT: "not yet",
    Grade.MASKS: "the symptom is gone, but the values are not right",
    Grade.BREAKS: "not yet: it fails, though in another way",
}


class CaseAttempts(Protocol):
    """What a fix check needs to run."""

    def attempt(self, case: Case, release: Release, repeat: int) -> list[Entry]:
        """The entries of one trial and its reference."""
        ...

    def attempt_alone(self, case: Case, release: Release) -> list[Entry]:
        """The same beside companions of its own."""
        ...

    def for_package(self, case: Case, package: str) -> Case:
        """The case with another distribution of the same module under test."""
        ...


class Pages(Protocol):
    """What a night needs of the index."""

    def page(self, package: str) -> IndexPage:
        """The page of a package."""
        ...


class CertainIndex:
    """The index as a night needs it: a page that could not be renewed is a fault of that night, not an answer."""

    def __init__(self, index: Pages) -> None:
        self._index = index

    def releases(self, package: str) -> Sequence[Release]:
        """All releases of a package; raises `InfrastructureError`."""
        page = self._index.page(package)
        if page.stale_reason:
            raise InfrastructureError(page.stale_reason, hint="the next night goes on by itself")
        return page.releases


class SlotRunner:
    """Runs a case on a nightly or on the control, with the same companions for all cases and for both.

    Args:
        services: The world.
        cases: All cases; they share one set of companions.
        request: Says companions and interpreter; its package is the one whose companions the control takes over.
        pool: Where trials run.
        listener: Hears what delays them.
        fresh: Whether trials run anew each night; a replay takes those that are cached.
        timelines: By package, the releases that the companions must fit; none: the first release asked for.
    """

    def __init__(
        self,
        services: Services,
        cases: Sequence[Case],
        request: NightlyRequest,
        pool: Executor,
        listener: Listener,
        *,
        fresh: bool,
        timelines: Mapping[str, Timeline] | None = None,
    ) -> None:
        self._services = services
        self._cases = cases
        self._request = request
        self._pool = pool
        self._listener = listener
        self._fresh = fresh
        self._timelines = dict(timelines or {})
        self._companions: dict[str, Companions] = {}

    def look(self, case: Case, release: Release, repeat: int) -> CaseResult:
        """Run one trial with its reference and judge it."""
        own = self.for_package(case, release.package)
        state = assemble.row(own, self.attempt(own, release, repeat), variant_of(own))
        return (
            CaseResult(verdicts=state.runs[0])
            if state.runs
            else CaseResult(blocked=str(state.blocked or "") or NO_RESULT)
        )

    def for_package(self, case: Case, package: str) -> Case:
        """The case with another distribution of the same module under test."""
        return as_package(self._services, case, package)

    def attempt(self, case: Case, release: Release, repeat: int) -> list[Entry]:
        """The entries of one trial and its reference."""
        self._timelines.setdefault(release.package, Timeline(releases=(release,)))
        return self._attempt(case, release, self._companions_of(release.package), repeat)

    def attempt_alone(self, case: Case, release: Release) -> list[Entry]:
        """The same beside companions of its own: an old release need not fit those of tonight."""
        timeline = Timeline(releases=(release,))
        return self._attempt(case, release, self._choose([case], timeline, self._request.pins), 0)

    def _attempt(self, case: Case, release: Release, companions: Companions, repeat: int) -> list[Entry]:
        runner = Runner(
            pool=self._pool,
            environments=self._services.environments(companions, self._listener),
            trials=self._services.trials(fresh=self._fresh),
            listener=self._listener,
        )
        variants = with_reference(case, variant_of(case))
        return runner.run(Attempt(case=case, release=release, variants=variants, repeats=(repeat,)))

    def _companions_of(self, package: str) -> Companions:
        if package not in self._companions:
            lead = self._request.package
            own = [self.for_package(case, package) for case in self._cases]
            pins = self._request.pins
            if package != lead and lead in self._timelines:
                named = [*pins, *(text for case in own for text in case.companions)]
                pins = same_companions(named, self._companions_of(lead).pinned) or pins
            self._companions[package] = self._choose(own, self._timelines[package], pins)
        return self._companions[package]

    def _choose(self, cases: Sequence[Case], timeline: Timeline, pins: Sequence[str]) -> Companions:
        try:
            return self._services.companions(cases, timeline, pins, self._request.mode, self._request.python)
        except UsageError as reason:
            raise Untestable(f"its companions cannot be installed: {reason.what}") from reason


def search_request(
    case: Case,
    request: NightlyRequest,
    timeline: Timeline,
    output: Path,
    *,
    symptoms: tuple[Symptom, ...] = (),
    resume: Path | None = None,
    max_gap: int | None = None,
) -> BisectRequest:
    """The search over nightlies that a night starts."""
    return BisectRequest(
        case=case.path,
        channels=parse_channels(None, case.package),
        first=timeline.versions[0],
        last=timeline.versions[-1],
        symptoms=symptoms,
        max_gap=max_gap,
        output=output,
        resume=resume,
        jobs=request.jobs,
        pins=request.pins,
        mode=request.mode,
        python=request.python,
        overrides=request.overrides,
    )


class SearchNarrower:
    """Brings a change down to two neighbours with the main job; its run lies in the night's folder."""

    def __init__(self, services: Services, request: NightlyRequest, folder: Path, listener: Listener) -> None:
        self._services = services
        self._request = request
        self._folder = folder
        self._listener = listener

    def narrow(self, case: Case, symptom: Symptom, timeline: Timeline, *, turns_bad: bool) -> Narrowed:
        """Search the timeline and return its last change of this kind."""
        own = as_package(self._services, case, timeline.releases[0].package)
        place = self._services.runs.unused(self._folder / f"bisect-{case.name}-{symptom.value}")
        request = search_request(own, self._request, timeline, place, symptoms=(symptom,))
        finding, folder = timeline_search.search(self._services, own, request, self._listener)
        kind = Kind.REGRESSION if turns_bad else Kind.RECOVERY
        found = [t for t in finding.transitions if t.kind is kind and t.symptom is symptom]
        known = Narrowed(case=case.name, symptom=symptom, turns_bad=turns_bad, folder=str(folder))
        if not found:
            return replace(known, sentence=f"{finding.conclusion.sentence} {finding.conclusion.coverage}")
        last = found[-1]
        return replace(
            known,
            last_before=last.last_before,
            first_after=last.first_after,
            confirmed=last.confirmed,
            sentence=f"{describe(last)}. {finding.conclusion.coverage}",
        )


class ReleaseFixChecker:
    """Answers "is the fix in yet?": compares the nightly with a release that shows the symptom."""

    def __init__(self, runner: CaseAttempts, control_package: str) -> None:
        self._runner = runner
        self._control_package = control_package

    def check(self, watch: AwaitedFix, case: Case, release: Release) -> FixStatus:
        """Grade the nightly."""
        broken = Release(package=self._control_package, version=watch.broken)
        before = self._runner.for_package(case, broken.package)
        own = self._runner.for_package(case, release.package)
        old, new = self._runner.attempt_alone(before, broken), self._runner.attempt(own, release, 0)
        variant = variant_of(own)
        reference = variant.reference
        without, patched = assemble.observed(old, variant), assemble.observed(new, variant)
        known = FixStatus(
            case=case.name, symptom=watch.symptom, broken=watch.broken, answer="cannot be told", link=watch.link
        )
        if without is None or patched is None:
            return replace(known, reason=assemble.blocked(new, old))
        graded = bracket(
            own,
            release.version,
            assemble.observed(old, reference),
            without,
            patched,
            (watch.symptom,),
            patched_reference=assemble.observed(new, reference),
        )
        return replace(known, answer=ANSWERS.get(graded.grade, "cannot be told"), reason=graded.reason)
