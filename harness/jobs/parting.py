"""Part a release from the companions that moved with it: each side of a transition beside the other side's companions.

The companions of the other side are the reference set of these environments, so a release takes as many of them as
resolve with it, and the layer with them is the one that the other side has already.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from harness.domain.cases.case import Case
from harness.domain.errors import InfrastructureError, Untestable
from harness.domain.findings import assemble
from harness.domain.findings.run import RunHeader
from harness.domain.releases.companions import Companions, Mode, Wanted, name_of, pin_of
from harness.domain.releases.moves import changed, companions_in, package_names
from harness.domain.releases.release import Release
from harness.domain.trials.crossing import Crossing
from harness.domain.trials.entry import Entry
from harness.domain.trials.trial import Environment
from harness.jobs.events import Event, EventKind
from harness.jobs.executor import Attempt, Runner
from harness.jobs.preparation import with_reference
from harness.jobs.protocols import Environments, Journal, Services


@dataclass(frozen=True, kw_only=True)
class Parting:
    """What parting works with.

    Attributes:
        services: The world.
        runner: Runs the trials of the search.
        case: The repro.
        companions: Those of the search.
        header: The run that the search belongs to.
    """

    services: Services
    runner: Runner
    case: Case
    companions: Companions
    header: RunHeader


@dataclass(frozen=True, kw_only=True)
class CrossedEnvironments:
    """Environments of one release beside the companions of another.

    Attributes:
        inner: Builds them, with the companions of the other release as reference.
        companions: These companions.
        own: The locked companions of the release itself.
    """

    inner: Environments
    companions: Companions
    own: tuple[str, ...]

    def prepare(self, release: Release) -> Environment:
        """Return the environment with its whole lock.

        Raises:
            Untestable: it cannot be built, or is the release's own, because it takes none of these companions.
            InfrastructureError: index, disk or nox failed.
        """
        made = self.inner.prepare(release)
        found = companions_in(made.lock, self.companions.shared, release.package)
        if not changed(found, self.own):
            raise Untestable(f"nothing resolves with {release.version} and any of the companions that moved")
        top = tuple(line for line in made.lock if name_of(line) in package_names(release.package))
        return replace(made, lock=(*top, *found))


def part(parting: Parting, journal: Journal) -> None:
    """Try what tells releases from companions until nothing more can be learned; the journal holds it.

    Raises:
        InfrastructureError: something failed that says nothing about a release; what is finished is recorded.
    """
    while True:
        wanted, count = assemble.crossings_wanted(parting.header, journal.entries())
        if not wanted:
            return
        for crossing in wanted:
            for entry in _cross(parting, journal, crossing, count):
                journal.record(entry)


def _cross(parting: Parting, journal: Journal, crossing: Crossing, count: int) -> list[Entry]:
    """Run one crossing; what it shows is no verdict on its release."""
    header = parting.header
    release = next(one for one in header.timeline.releases if one.version == crossing.release)
    own, others = (
        assemble.locked_companions(header, journal.entries(), version)
        for version in (crossing.release, crossing.companions_of)
    )
    companions = crossed(parting.companions, own, others, crossing.package)
    inner = parting.services.environments(companions, parting.runner.listener)
    runner = replace(parting.runner, environments=CrossedEnvironments(inner=inner, companions=companions, own=own))
    parting.runner.listener.notify(Event(kind=EventKind.MESSAGE, detail=f"release or companion? {crossing.label}"))
    attempt = Attempt(
        case=parting.case,
        release=release,
        variants=with_reference(parting.case, header.question.variant),
        repeats=tuple(range(count)),
        why=f"with {crossing.package or 'the companions'} of {crossing.companions_of}",
    )
    entries = [replace(entry, release=crossing.label, crossing=crossing) for entry in runner.run(attempt)]
    try:
        assemble.row(parting.case, entries, header.question.variant)
    except InfrastructureError as abort:  # the script aborts: the answer of the search stands all the same
        return [Entry(release=crossing.label, crossing=crossing, untestable=abort.what)]
    return entries


def crossed(companions: Companions, own: tuple[str, ...], others: tuple[str, ...], package: str) -> Companions:
    """The companions with those of the other release as reference, or with one of them, which is then held hard."""
    lock, wanted = others, companions.wanted
    if package:
        theirs = {name_of(line): line for line in others}[package]
        lock = tuple(theirs if name_of(line) == package else line for line in own)
        wanted = _holding(wanted, pin_of(theirs))
    data = {pin_of(line) for line in companions.data_lock}
    shared = tuple(line for line in lock if pin_of(line) not in data)
    return replace(companions, mode=Mode.FIXED, wanted=wanted, lock=shared)


def _holding(wanted: Wanted, pin: str) -> Wanted:
    return replace(wanted, requirements=(*wanted.requirements, pin))
