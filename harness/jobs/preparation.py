"""What every job does before it runs a trial: the case, the releases, the companions, the question."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

from packaging.requirements import Requirement

from harness.domain.cases.case import Case, Level
from harness.domain.cases.shapes.runners import Runner
from harness.domain.cases.sought import SOUGHT
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import InfrastructureError, UsageError
from harness.domain.findings.question import Question
from harness.domain.findings.run import RunHeader, SharedEnvironment
from harness.domain.releases.companions import Companions
from harness.domain.releases.distributions import import_name
from harness.domain.releases.index_page import IndexPage
from harness.domain.releases.nightlies import is_nightly, nightly_package, nightly_timeline, stable_package
from harness.domain.releases.release import Channel, Release, Timeline, find, stable_timeline
from harness.domain.search.policy import Policy
from harness.domain.trials.observation import CONTRACT
from harness.domain.trials.variant import Variant
from harness.jobs.events import Event, EventKind, Listener
from harness.jobs.protocols import RunJournal, Services
from harness.jobs.requests import EnvironmentRequest, RangeRequest, RunRequest

ANY_DAY = "0001-01-01"
REPORTS = Path("reports")
LONGEST_NAME = 120
"""Bytes of a case's name in the name of a folder: no file system takes more than 255 in all."""


def warn(listener: Listener, sentence: str) -> None:
    """Tell the user what may bend the answer; nothing when there is nothing to tell."""
    if sentence:
        listener.notify(Event(kind=EventKind.WARNING, detail=sentence))


@contextmanager
def only_warned(listener: Listener, sentence: str) -> Iterator[None]:
    """Turn a failure of what comes after a finished answer into a warning."""
    try:
        yield
    except InfrastructureError as failure:
        warn(listener, f"{sentence}: {failure.what}" + (f" ({failure.where})" if failure.where else ""))


def say_assumed(listener: Listener, case: Case) -> None:
    """Tell the user what was taken for granted about the case."""
    for sentence in case.assumed:
        listener.notify(Event(kind=EventKind.MESSAGE, detail=f"harness: {sentence}"))


def with_arguments(case: Case, arguments: Sequence[str]) -> Case:
    """The case with arguments for its script.

    Raises:
        UsageError: it is no script that takes any.
    """
    if arguments and (case.level is not Level.SCRIPT or case.runner is Runner.COMMAND):
        raise UsageError(
            f"the case {case.name} takes no arguments",
            where=f"-- {' '.join(arguments)}",
            hint="a model takes --set NAME=VALUE; a command holds its own arguments",
        )
    return replace(case, arguments=tuple(arguments)) if arguments else case


def with_changes(
    case: Case,
    *,
    replicas: int | None = None,
    strategy: str | None = None,
    repeats: int | None = None,
    overrides: Sequence[str] = (),
) -> Case:
    """The case with what the request asks for instead; None leaves the case's own, and overrides are added to them."""
    changed = case
    changed = replace(changed, overrides=tuple(dict.fromkeys((*case.overrides, *overrides)))) if overrides else changed
    changed = changed if replicas is None else replace(changed, replicas=replicas)
    changed = changed if strategy is None else replace(changed, strategy=strategy)
    return changed if repeats is None else replace(changed, repeats=repeats)


def read_case(services: Services, name: str, request: EnvironmentRequest, *, package: str | None = None) -> Case:
    """A case with the backend, variables and overrides that a request asks for; raises `UsageError`."""
    return as_asked(services.cases.read(name, package=package), request)


def as_asked(case: Case, request: EnvironmentRequest) -> Case:
    """The case with the backend, variables and overrides of a request; raises `UsageError`."""
    return with_changes(case.on(request.backend, request.variables), overrides=request.overrides)


def as_package(services: Services, case: Case, package: str) -> Case:
    """The same case for another distribution of the same module; what was changed in it stays as it is.

    It is read again, because what is a companion follows from what is under test.
    """
    own = services.cases.read(case.word, package=package).on(case.backend, case.env)
    again = with_arguments(replace(own, **{name: getattr(case, name) for name in SOUGHT}), case.arguments)
    return with_changes(
        again, replicas=case.replicas, strategy=case.strategy, repeats=case.repeats, overrides=case.overrides
    )


def under_test(services: Services, case: Case, channel: Channel) -> Case:
    """The case with the distribution of a channel under test."""
    own = is_nightly(case.package)
    if channel is Channel.NIGHTLY and not own:
        return as_package(services, case, nightly_package(case.package))
    if channel is Channel.COMMIT and own:
        return as_package(services, case, stable_package(case.package))
    return case


def variant_of(case: Case, settings: Sequence[tuple[str, str]] = ()) -> Variant:
    """The trial that is judged: the case's own replicas and strategy."""
    strategy = case.strategy if case.replicas > 1 else "none"
    return Variant(replicas=case.replicas, strategy=strategy, options=tuple(settings))


def with_reference(case: Case, variant: Variant) -> tuple[Variant, ...]:
    """What is run for one verdict: a script speaks for itself, a model needs its reference."""
    if case.level is Level.SCRIPT or variant == variant.reference:
        return (variant,)
    return (variant.reference, variant)


def page_of(services: Services, package: str, listener: Listener) -> IndexPage:
    """The index page of a package; warns when it could not be renewed."""
    page = services.index.page(package)
    warn(listener, page.stale_reason)
    return page


def timeline_of(page: IndexPage, case: Case | None, request: RangeRequest) -> Timeline:
    """The timeline of a page; the case says where a stable one begins when the request does not.

    Raises:
        UsageError: nothing says where it begins, or the range is wrong.
    """
    nightly = is_nightly(page.package)
    own = case.since if case is not None and case.package == page.package and not nightly else ""
    first = request.first or own or None
    if first is None and case is not None:
        raise UsageError(
            "where should the search begin?",
            where="--from",
            hint="give a day: --from 2024-11-18" if nightly else _first_hint(page),
        )
    if nightly:
        return nightly_timeline(page.releases, first=first or ANY_DAY, last=request.last)
    return stable_timeline(page.releases, first=first, last=request.last, order=request.order)


def _first_hint(page: IndexPage) -> str:
    """What to write after ``--from``: a version in which it is known to work, or one of some years."""
    final = sorted({one.parsed for one in page.releases if one.yanked is None and not one.parsed.is_prerelease})
    example = f" such as --from {final[max(0, len(final) - 12)]}" if final else ""
    return f"give --from{example}: a version in which it still worked, or a 'since' in the case's metadata"


def find_release(services: Services, package: str, version: str, listener: Listener, *, where: str) -> Release:
    """Find one release on the index; raises `UsageError` naming the option in `where` when it is not there."""
    return find(page_of(services, package, listener).releases, version, where=where)


def companions_for(
    services: Services, cases: Sequence[Case], timeline: Timeline, request: EnvironmentRequest, listener: Listener
) -> Companions:
    """Companions that fit the cases over a timeline; warns where they stop to fit."""
    companions = services.companions(cases, timeline, request.pins, request.mode, request.python)
    warn(listener, companions.boundary)
    return companions


def same_companions(named: Iterable[str], pinned: Iterable[str]) -> tuple[str, ...]:
    """Of what one environment pinned, what was asked for by name: another environment then takes the same."""
    modules = {import_name(Requirement(text).name) for text in named}
    return tuple(pin for pin in pinned if import_name(Requirement(pin).name) in modules)


def shared_environment(services: Services, companions: Companions) -> SharedEnvironment:
    """What all environments of a run share, for the report."""
    return SharedEnvironment(
        harness=services.version,
        python=companions.interpreter.version,
        platform=services.platform,
        mode=companions.mode.value,
        companions=companions.pinned,
        lock=companions.shared,
        containment=services.containment,
        named=tuple(sorted(companions.wanted.names)),
        indexes=companions.indexes,
    )


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a run is about to do.

    Attributes:
        case: The case as it is run.
        timeline: The releases.
        companions: What stands beside them.
        policy: How hard to search.
        settings: Parameters of the case.
        fixes: Name and hash of each fix.
        replicas: Replicas named in the question; 0: the case's own.
        ends: First and last version of the range; None: those of the timeline.
        index_seconds: What reading the index cost.
    """

    case: Case
    timeline: Timeline
    companions: Companions
    policy: Policy
    settings: tuple[tuple[str, str], ...] = ()
    fixes: tuple[str, ...] = ()
    replicas: int = 0
    ends: tuple[str, str] | None = None
    index_seconds: float = 0.0

    @property
    def symptoms(self) -> tuple[Symptom, ...]:
        """Those that are asked for."""
        return self.policy.symptoms

    @property
    def question(self) -> Question:
        """What is asked, complete: two equal questions have the same answer."""
        variant = variant_of(self.case, self.settings)
        first, last = self.ends or self.timeline.ends
        return Question(
            case=self.case.name,
            case_digest=self.case.digest,
            package=self.case.package,
            first=first,
            last=last,
            releases=self.timeline.versions,
            companions=self.companions.pinned or self.companions.wanted.requirements,
            mode=self.companions.mode.value,
            replicas=self.replicas or variant.replicas,
            strategy=variant.strategy,
            symptoms=self.symptoms,
            order=self.timeline.order.value,
            fixes=self.fixes,
            options=variant.options,
            contract=CONTRACT,
        )

    def header(self, services: Services, reproduce: str) -> RunHeader:
        """The first line of the run's journal; `reproduce` is the command that asks the same again."""
        header = RunHeader(
            question=self.question,
            case=self.case,
            timeline=self.timeline,
            policy=self.policy,
            setting=shared_environment(services, self.companions),
            reproduce=reproduce,
            index_seconds=self.index_seconds,
            causes=services.cases.causes_for(self.case),
        )
        return services.redacted(header)


class Stopwatch:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        """Elapsed so far."""
        return time.monotonic() - self._started


def check_place(services: Services, request: RunRequest) -> None:
    """Refuse a folder that cannot be written, before any work; raises `UsageError`."""
    services.runs.check(request.resume or request.output or REPORTS)


def open_run(services: Services, header: RunHeader, request: RunRequest, kind: str = "") -> RunJournal:
    """Begin a run, or go on with one; a new folder is called after `kind`, the case and the moment."""
    if request.resume is not None:
        return services.runs.resume(services.runs.locate(request.resume), header)
    stamp = datetime.now(timezone.utc).strftime("%Y%m%d-%H%M%S")
    case = header.case.name.encode()[:LONGEST_NAME].decode("utf-8", "ignore")
    name = "-".join(part for part in (kind, case, stamp) if part)
    return services.runs.begin(request.output or services.runs.unused(REPORTS / name), header)
