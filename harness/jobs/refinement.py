"""Go on from the transitions of one search to a finer one inside them: stable, nightly, commit, then hunks."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from pathlib import Path

from harness.domain.cases.case import Case
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import HarnessError, InfrastructureError, Interrupted, UsageError
from harness.domain.findings import assemble
from harness.domain.findings.changes.changed_lines import ChangedLines
from harness.domain.findings.evidence import Evidence, gather
from harness.domain.findings.finding import Finding
from harness.domain.findings.transition import Transition
from harness.domain.releases.commits import whole_days, window
from harness.domain.releases.nightlies import is_nightly, nights_between, spans_behind
from harness.domain.releases.release import Channel, Release
from harness.jobs import timeline_search
from harness.jobs.changes.hunk_search import search_hunks
from harness.jobs.events import Event, EventKind, Listener
from harness.jobs.preparation import page_of, same_companions, under_test, warn
from harness.jobs.protocols import Clone, Runs, Services
from harness.jobs.requests import BisectRequest, ReportRequest

FOLDER = "stages"
"""Folder of a run for its finer searches; the first version called it so."""
WIDER = timedelta(days=2)
"""Where the change is not between two builds: one of them may have been made of older sources than its day says."""


@dataclass(frozen=True)
class Descent:
    """What going on to finer channels needs of the world."""

    services: Services
    listener: Listener


def descend(descent: Descent, case: Case, finding: Finding, folder: Path, request: BisectRequest) -> Finding:
    """Search the next finer channel behind every transition of a finding, and so on; add the findings to it.

    A transition behind which nothing can be searched is named in a warning; the coarser answer stands.

    Raises:
        InfrastructureError: machine, index or disk failed; what is finished is kept.
        Interrupted: the user stopped it, with the command that goes on with the whole search.
    """
    try:
        _descend(descent, case, finding, folder, request)
    except Interrupted as stop:  # what goes on is the whole search, not the finer one inside that was stopped
        resume = f"{finding.reproduce} --resume {shlex.quote(str(folder))}"
        raise Interrupted(finished=stop.finished, resume=resume) from None
    whole = with_refinements(descent.services.runs, finding, folder)
    descent.services.reports.finding(whole, folder)
    return whole


def with_refinements(runs: Runs, finding: Finding, folder: Path) -> Finding:
    """A run's finding with those of its finer searches, and of theirs, read from their journals."""
    places = runs.below(folder / FOLDER)
    return replace(
        finding,
        changed_lines=runs.lines(folder),
        stages=tuple(with_refinements(runs, assemble.compose(*runs.read(place)), place) for place in places),
    )


def evidence_of(runs: Runs, finding: Finding, folder: Path) -> Evidence:
    """What stands behind a run's finding and those of its finer searches, from their journals."""
    below = zip(finding.stages, runs.below(folder / FOLDER), strict=False)  # a stage of which nothing is read yet
    stages = tuple(evidence_of(runs, stage, place) for stage, place in below)
    return replace(gather(*runs.read(folder), finding), stages=stages)


def report_again(services: Services, request: ReportRequest) -> tuple[Finding, Path]:
    """Write the reports of a run again from its journal; the same journal gives the same bytes.

    Raises:
        UsageError: there is no such run, or its journal is damaged.
    """
    folder = services.runs.locate(request.run)
    finding = with_refinements(services.runs, assemble.compose(*services.runs.read(folder)), folder)
    services.reports.finding(finding, folder)
    return finding, folder


def _descend(descent: Descent, case: Case, finding: Finding, folder: Path, request: BisectRequest) -> None:
    if request.channels[1] is Channel.HUNK:
        _hunks(descent, case, finding, folder, request)
        return
    finer = replace(request, channels=request.channels[1:])
    own = replace(under_test(descent.services, case, finer.channels[0]), reference="")  # its package may have another
    for transition in finding.transitions:
        try:
            place, found, searched = _behind(descent, finding, transition, own, folder, finer)
            if len(finer.channels) > 1:
                _descend(descent, own, found, place, searched)
        except (InfrastructureError, Interrupted):
            raise
        except HarnessError as reason:
            warn(descent.listener, f"{transition.last_before} -> {transition.first_after}: {reason}")


def _hunks(descent: Descent, case: Case, finding: Finding, folder: Path, request: BisectRequest) -> None:
    """Find the lines behind every transition, and keep them beside the journal."""
    found: list[ChangedLines] = []
    for transition in finding.transitions:
        try:
            found.append(search_hunks(descent.services, case, transition, folder, request, descent.listener))
        except (InfrastructureError, Interrupted):
            raise
        except KeyboardInterrupt:
            raise Interrupted(finished=len(found), resume="") from None
        except HarnessError as reason:
            warn(descent.listener, f"{transition.last_before} -> {transition.first_after}: {reason}")
    descent.services.runs.keep_lines(folder, found)


def _behind(
    descent: Descent, finding: Finding, transition: Transition, case: Case, folder: Path, request: BisectRequest
) -> tuple[Path, Finding, BisectRequest]:
    """Search the likely span first, then the wider one where the change is older than its own releases."""
    runs = descent.services.runs
    for number, (first, last) in enumerate(_spans(descent, finding, transition, case, request)):
        place = folder / FOLDER / _name(transition, number)
        searched = replace(
            request,
            first=first,
            last=last,
            pins=same_companions((*case.companions, *request.pins), finding.environment.companions),
            symptoms=(transition.symptom,),
            output=place,
            resume=place if place in runs.below(place.parent) else None,
        )
        detail = f"{transition.symptom.value}: {case.package} {first} to {last}"
        descent.listener.notify(Event(kind=EventKind.MESSAGE, detail=detail))
        found, _ = timeline_search.search(descent.services, case, searched, descent.listener)
        if any(_same_change(t, transition) for t in found.transitions):
            break
    return place, found, searched


def _same_change(one: Transition, other: Transition) -> bool:
    """Whether one transition may be the other, found on a finer channel; a changed value begins there where it was."""
    return one.kind is other.kind or one.symptom is other.symptom is Symptom.CHANGED_VALUE


def _spans(
    descent: Descent, finding: Finding, transition: Transition, case: Case, request: BisectRequest
) -> Iterator[tuple[str, str]]:
    """First and last version of each finer search that is worth trying behind a transition, at least one."""
    published = descent.services.index.releases(finding.question.package)
    sides = transition.last_before, transition.first_after
    nights = request.channels[0] is Channel.NIGHTLY
    last = None
    if nights or not is_nightly(finding.question.package):
        days = spans_behind(published, *sides)
        spans = _nights(descent, case, days) if nights else _commits(descent, case, request, map(whole_days, days))
    else:
        spans = _commits(descent, case, request, _windows(published, *sides))
    for span in spans:
        if span != last:
            yield span
        last = span
    if last is None:
        raise UsageError("its releases have no dates to search between", hint="search the finer channel by days alone")


def _nights(descent: Descent, case: Case, days: Iterable[tuple[date, date]]) -> Iterator[tuple[str, str]]:
    page = page_of(descent.services, case.package, descent.listener)
    for span in days:
        versions = nights_between(page.releases, *span).versions
        yield versions[0], versions[-1]


def _commits(
    descent: Descent, case: Case, request: BisectRequest, moments: Iterable[tuple[datetime, datetime]]
) -> Iterator[tuple[str, str]]:
    assert request.clone is not None  # a request for commits has one
    clone = descent.services.clone(request.clone, case.package)
    empty: UsageError | None = None
    for since, until in moments:
        first, last = clone.commit_at(since), clone.commit_at(until)
        if first != last:
            empty = None
            yield first.version, last.version
        else:  # a wider span may have some
            empty = empty or _no_commit(clone, since, until)
    if empty is not None:
        raise empty


def _no_commit(clone: Clone, since: datetime, until: datetime) -> UsageError:
    newest = clone.commit("HEAD")
    described = newest.version[:12] + (f" of {newest.released:%Y-%m-%d}" if newest.released else "")
    return UsageError(
        f"the clone has no commit between {since:%Y-%m-%d %H:%M} and {until:%Y-%m-%d %H:%M}",
        where=str(clone.path),
        hint=f"git fetch and check out the newest commit: it ends with {described}",
    )


def _windows(published: Sequence[Release], before: str, after: str) -> list[tuple[datetime, datetime]]:
    """Moments between which the change came to the main line, the likely window first."""
    by_version = {r.version: r for r in published}
    found = [window(by_version[before], by_version[after], slack) for slack in (timedelta(), WIDER)]
    return [moments for moments in found if moments is not None]


def _name(transition: Transition, number: int) -> str:
    wider = "-wider" if number else ""
    return f"{transition.symptom.value}-{transition.last_before}-{transition.first_after}{wider}"
