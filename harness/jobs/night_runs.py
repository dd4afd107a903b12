"""The real things behind the protocols of the monitor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import click

from harness.cli import options
from harness.cli.commands import bisection
from harness.domain.cases.case import Case
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import InfrastructureError, Untestable, UsageError
from harness.domain.findings import assemble
from harness.domain.findings.transitions import Kind, describe
from harness.domain.fixes.grades import Grade
from harness.domain.nightly.expectations import AwaitedFix
from harness.domain.nightly.nights import CaseResult, FixStatus, Narrowed
from harness.domain.releases.companions import Companions, Mode
from harness.domain.releases.index_page import IndexPage
from harness.domain.releases.release import Release, Timeline
from harness.domain.trials.entry import Entry
from harness.jobs import channels, executor, single, verification
from harness.jobs.bisection import variants
from harness.jobs.protocols import Environments, Event
from harness.reporting.text import clean
from harness.services import Services, setting

ANSWERS = {
    Grade.PROVEN: "yes",
    Grade.NO_EFFECT: "not yet",
    Grade.MASKS: "the symptom is gone, but the values are not right",
    Grade.BREAKS: "not yet: it fails, though in another way",
}


class LineListener:
    """Listener that writes a line per case on stderr; what is built or run in between stays quiet."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet

    def notify(self, event: Event) -> None:
        """Show one event."""
        if event.kind == "case" and not self._quiet:
            click.echo(f"  {clean(event.release, 60)} ({event.left} left)", err=True)
        elif event.kind == "narrow":
            click.echo(f"  {clean(event.release, 60)}: {event.detail} changed; looking for the night", err=True)


class Attempts(Protocol):
    """What a watch needs of a bench."""

    def attempt(self, own: Case, release: Release, repeat: int) -> list[Entry]:
        """The entries of one trial and its reference."""
        ...

    def attempt_alone(self, own: Case, release: Release) -> list[Entry]:
        """The same beside companions of its own."""
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
        shop: The real objects.
        cases: All cases; they share one set of companions.
        given: The environment options of the command line.
        lead: Package whose companions the others take over; a control beside other companions is none.
        fresh: Whether trials run anew each night; a replay takes those that are cached.
        timelines: By package, the releases that the companions must fit; none: the first release asked for.
    """

    def __init__(
        self,
        services: Services,
        cases: Sequence[Case],
        given: Mapping[str, Any],
        *,
        lead: str,
        fresh: bool,
        timelines: Mapping[str, Timeline] | None = None,
    ) -> None:
        self._shop = services
        self._cases = cases
        self._given = given
        self._lead = lead
        self._fresh = fresh
        self._timelines = dict(timelines or {})
        self._plans: dict[str, Companions] = {}

    def look(self, case: Case, release: Release, repeat: int) -> CaseResult:
        """Run one trial with its reference and judge it."""
        own = channels.as_package(case, release.package)
        variant = single.variant_of(own)
        row = assemble.row(own, self.attempt(own, release, repeat), variant)
        return (
            CaseResult(verdicts=row.runs[0])
            if row.runs
            else CaseResult(blocked=str(row.blocked or "") or "it gave no result")
        )

    def attempt(self, own: Case, release: Release, repeat: int) -> list[Entry]:
        """The entries of one trial and its reference."""
        return self._attempt(own, release, self._environments_for(release), repeat)

    def attempt_alone(self, own: Case, release: Release) -> list[Entry]:
        """The same beside companions of its own: an old release need not fit those of tonight."""
        mode, python = Mode(self._given["mode"]), self._given["python"]
        timeline, pins = Timeline(releases=(release,)), options.check_pins(self._given["pins"])
        try:
            planned = self._shop.companions([own], timeline, pins, mode, python)
        except UsageError as reason:
            raise Untestable(f"its companions cannot be installed: {reason.what}") from reason
        return self._attempt(own, release, self._shop.environments(planned), 0)

    def _attempt(self, own: Case, release: Release, environments: Environments, repeat: int) -> list[Entry]:
        asked = variants(own, single.variant_of(own))
        trials = self._shop.trials(fresh=self._fresh)
        return executor.attempt(own, release, asked, environments, trials, LineListener(), repeat=repeat)

    def _environments_for(self, release: Release) -> Environments:
        self._timelines.setdefault(release.package, Timeline(releases=(release,)))
        return self._shop.environments(self._plan(release.package))

    def _plan(self, package: str) -> Companions:
        if package not in self._plans:
            own = [channels.as_package(case, package) for case in self._cases]
            pins = options.check_pins(self._given["pins"])
            if package != self._lead and self._lead in self._timelines:
                asked = [*pins, *(text for case in own for text in case.companions)]
                pins = options.held(asked, setting(self._plan(self._lead)).companions) or pins
            mode, python = Mode(self._given["mode"]), self._given["python"]
            try:
                self._plans[package] = self._shop.companions(own, self._timelines[package], pins, mode, python)
            except UsageError as reason:
                raise Untestable(f"its companions cannot be installed: {reason.what}") from reason
        return self._plans[package]


class SearchNarrower:
    """Brings a change down to two neighbours with the main job; its run lies in the night's folder."""

    def __init__(self, services: Services, given: Mapping[str, Any], folder: Path) -> None:
        self._shop = services
        self._given = given
        self._folder = folder

    def narrow(self, case: Case, symptom: Symptom, timeline: Timeline, *, turns_bad: bool) -> Narrowed:
        """Search the timeline and return its last change of this kind."""
        own = channels.as_package(case, timeline.releases[0].package)
        place = options.unused(self._folder / f"bisect-{case.name}-{symptom.value}")
        asked = searching(
            own,
            self._given,
            first=timeline.versions[0],
            last=timeline.versions[-1],
            symptoms=(symptom.value,),
            output=place,
        )
        finding, folder = bisection.answer(self._shop, own, asked)
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
    """Answers "is the fix in yet?": holds the nightly against a release that shows the symptom."""

    def __init__(self, bench: Attempts, control_package: str) -> None:
        self._bench = bench
        self._control_package = control_package

    def check(self, watch: AwaitedFix, case: Case, release: Release) -> FixStatus:
        """Grade the nightly."""
        broken = Release(package=self._control_package, version=watch.broken)
        before, own = channels.as_package(case, broken.package), channels.as_package(case, release.package)
        old, new = self._bench.attempt_alone(before, broken), self._bench.attempt(own, release, 0)
        variant = single.variant_of(own)
        reference = assemble.reference_for(variant)
        without, patched = assemble.observed(old, variant), assemble.observed(new, variant)
        known = FixStatus(
            case=case.name, symptom=watch.symptom, broken=watch.broken, answer="cannot be told", link=watch.link
        )
        if without is None or patched is None:
            blocked = next((e.untestable for e in (*new, *old) if e.untestable), "not run")
            return replace(known, reason=blocked)
        graded = verification.bracket(
            own,
            release.version,
            assemble.observed(old, reference),
            without,
            patched,
            (watch.symptom,),
            patched_reference=assemble.observed(new, reference),
        )
        return replace(known, answer=ANSWERS.get(graded.grade, "cannot be told"), reason=graded.reason)


def searching(case: Case, given: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    """The options of ``harness bisect`` for a search that another command starts; unsaid ones have their defaults."""
    with bisection.command.make_context("bisect", [case.path]) as context:
        defaults = {name: value for name, value in context.params.items() if name != "case_name"}
    taken_over = {name: given[name] for name in ("jobs", "pins", "mode", "python")}
    asked = {**defaults, "channels": channels.parse(None, case.package)}
    return bisection.completed(case, {**asked, **taken_over, **changes})
