"""Go on from the edges of one search to a finer one inside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import click

from harness.adapters.git import Clone
from harness.adapters.storage import journal
from harness.adapters.storage.files import write_reports
from harness.cli import options
from harness.domain.cases.case import Case
from harness.domain.errors import HarnessError, InfrastructureError, UsageError
from harness.domain.findings import assemble
from harness.domain.findings.finding import Finding
from harness.domain.findings.transitions import Transition
from harness.domain.releases.commits import whole_days, window
from harness.domain.releases.nightlies import is_nightly, nights_between, spans_behind
from harness.domain.releases.release import Channel, Release
from harness.jobs import channels
from harness.reporting.bisection import documents
from harness.services import Services

FOLDER = "stages"
WIDER = timedelta(days=2)
"""Where the change is not between two builds: one of them may have been made of older sources than its day says."""

Answer = Callable[[Services, Case, dict[str, Any]], tuple[Finding, Path]]


def descend(
    services: Services, case: Case, finding: Finding, folder: Path, given: dict[str, Any], answer: Answer
) -> Finding:
    """Search the next finer channel behind every transition of a finding, and so on; lay the results beside it.

    A transition behind which nothing can be searched is named on stderr; the coarser answer stands.
    """
    _descend(services, case, finding, folder, given, answer)
    whole = with_stages(finding, folder)
    write_reports(folder, documents.texts(whole))
    return whole


def with_stages(finding: Finding, folder: Path) -> Finding:
    """A run's finding with those of its stages, and of theirs, read from their journals."""
    places = [path.parent for path in sorted((folder / FOLDER).glob(f"*/{journal.NAME}"))]
    return replace(finding, stages=tuple(with_stages(assemble.compose(*journal.read(p)), p) for p in places))


def _descend(
    services: Services, case: Case, finding: Finding, folder: Path, given: dict[str, Any], answer: Answer
) -> None:
    channel, *_ = finer = given["channels"][1:]
    own = channels.under_test(case, channel)
    for transition in finding.transitions:
        try:
            place, found, asked = _behind(
                services, finding, transition, own, folder, {**given, "channels": finer}, answer
            )
            if len(finer) > 1:
                _descend(services, own, found, place, asked, answer)
        except InfrastructureError:
            raise
        except HarnessError as reason:
            click.echo(f"harness: warning: {transition.last_before} -> {transition.first_after}: {reason}", err=True)


def _behind(
    services: Services,
    finding: Finding,
    transition: Transition,
    case: Case,
    folder: Path,
    given: dict[str, Any],
    answer: Answer,
) -> tuple[Path, Finding, dict[str, Any]]:
    """Search the likely span first, then the wider one where the change is older than its own releases."""
    for number, (first, last) in enumerate(_spans(services, finding, transition, case, given)):
        place = folder / FOLDER / _name(transition, number)
        asked = {
            **given,
            "first": first,
            "last": last,
            "pins": options.held((*case.companions, *given["pins"]), finding.environment.companions),
            "symptoms": (transition.symptom.value,),
            "output": place,
            "resumed": place if (place / journal.NAME).exists() else None,
        }
        click.echo(f"{transition.symptom.value}: {case.package} {first} to {last}", err=True)
        found, _ = answer(services, case, asked)
        if any(t.kind is transition.kind for t in found.transitions):
            break
    return place, found, asked


def _spans(
    services: Services, finding: Finding, transition: Transition, case: Case, given: dict[str, Any]
) -> Iterator[tuple[str, str]]:
    """First and last version of each finer search that is worth trying behind a transition, at least one."""
    published = services.index.releases(finding.question.package)
    sides = transition.last_before, transition.first_after
    nights = given["channels"][0] is Channel.NIGHTLY
    last = None
    if nights or not is_nightly(finding.question.package):
        days = spans_behind(published, *sides)
        spans = _nights(services, case, days) if nights else _commits(services, case, given, map(whole_days, days))
    else:
        spans = _commits(services, case, given, _windows(published, *sides))
    for span in spans:
        if span != last:
            yield span
        last = span
    if last is None:
        raise UsageError("its releases have no dates to search between", hint="search the finer channel by days alone")


def _nights(services: Services, case: Case, days: Iterable[tuple[date, date]]) -> Iterator[tuple[str, str]]:
    page = services.index.page(case.package)
    options.echo_stale(page)
    for span in days:
        versions = nights_between(page.releases, *span).versions
        yield versions[0], versions[-1]


def _commits(
    services: Services, case: Case, given: dict[str, Any], moments: Iterable[tuple[datetime, datetime]]
) -> Iterator[tuple[str, str]]:
    clone = services.clone(given["clone"], case.package)
    empty: UsageError | None = None
    for since, until in moments:
        first, last = clone.commit_at(since), clone.commit_at(until)
        if first != last:
            empty = None
            yield first.version, last.version
        else:  # a wider stretch may have some
            empty = empty or _no_commit(clone, since, until)
    if empty is not None:
        raise empty


def _no_commit(clone: Clone, since: datetime, until: datetime) -> UsageError:
    newest = clone.commit("HEAD")
    told = f"{newest.version[:12]} of {newest.released:%Y-%m-%d}"
    return UsageError(
        f"the clone has no commit between {since:%Y-%m-%d %H:%M} and {until:%Y-%m-%d %H:%M}",
        where=str(clone.path),
        hint=f"git fetch and check out the newest commit: it ends with {told}",
    )


def _windows(published: Sequence[Release], before: str, after: str) -> list[tuple[datetime, datetime]]:
    """Moments between which the change came to the main line, the likely window first."""
    by_version = {r.version: r for r in published}
    found = [window(by_version[before], by_version[after], slack) for slack in (timedelta(), WIDER)]
    return [moments for moments in found if moments is not None]


def _name(transition: Transition, number: int) -> str:
    wider = "-wider" if number else ""
    return f"{transition.symptom.value}-{transition.last_before}-{transition.first_after}{wider}"
