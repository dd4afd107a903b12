"""What the index has of a package: the timeline as the harness sees it, and what the source of each release says."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from harness.domain.errors import HarnessError, InfrastructureError, Interrupted, Untestable
from harness.domain.releases.aggregation import FILES, ReleaseFacts, SourceFacts, disagreement, read_source
from harness.domain.releases.companions import Mode
from harness.domain.releases.index_page import IndexPage
from harness.domain.releases.listing import Listing, describe
from harness.domain.releases.release import Release, parse_version, stable_timeline
from harness.domain.trials.observation import Observation
from harness.jobs.events import Listener
from harness.jobs.preparation import page_of, timeline_of, variant_of, with_changes
from harness.jobs.protocols import Services
from harness.jobs.requests import AggregationRequest, ReleasesRequest
from harness.jobs.trials import prepare_release, run_once

LIVE_CASE = "identity"
READERS = 8
"""Wheels read at once; they are small and mostly wait for the network."""


def list_releases(services: Services, request: ReleasesRequest, listener: Listener) -> Listing:
    """List the releases of a range with what a search would make of each; raises `UsageError`."""
    page = page_of(services, request.package, listener)
    timeline = timeline_of(page, None, request)
    return Listing(
        package=request.package,
        order=timeline.order,
        releases=tuple(describe(timeline, services.pythons.candidates())),
        left_out=len(timeline.excluded),
    )


def read_aggregation(services: Services, request: AggregationRequest, listener: Listener) -> tuple[ReleaseFacts, ...]:
    """Say what _map_aggregation and the variables are in each release; without `live` no TensorFlow is needed.

    Raises:
        UsageError: unknown package or range.
        InfrastructureError: machine, index or disk failed.
    """
    page = page_of(services, request.package, listener)
    releases = _range(page, request)
    with ThreadPoolExecutor(READERS) as pool:
        read = list(pool.map(lambda release: _files(services, page, release), releases))
    return tuple(
        _facts(services, release, _source(release, files), request, listener)
        for release, files in zip(releases, read, strict=True)
    )


def _range(page: IndexPage, request: AggregationRequest) -> tuple[Release, ...]:
    """The stable timeline; of nightlies, which are pre-releases all, those between the two versions."""
    if not page.package.endswith("-nightly"):
        first = request.first or "3.0.0"
        return stable_timeline(page.releases, first=first, last=request.last, order=request.order).releases
    ordered = sorted(page.releases, key=lambda r: r.parsed)
    lower = parse_version(request.first, where="--from") if request.first else ordered[0].parsed
    upper = ordered[-1].parsed if request.last == "latest" else parse_version(request.last, where="--to")
    return tuple(r for r in ordered if lower <= r.parsed <= upper)


def _files(services: Services, page: IndexPage, release: Release) -> Mapping[str, str] | str:
    """Text of the files that are looked into, or why they cannot be had."""
    wheel = page.wheels.get(release.version)
    if wheel is None:
        return "no wheel on the index"
    try:
        return services.index.wheel_files(page.package, release.version, wheel, FILES)
    except (Untestable, InfrastructureError) as reason:
        return reason.what


def _source(release: Release, files: Mapping[str, str] | str) -> SourceFacts:
    """What the files say; parsed one after the other: CPython 3.11 may fail when several threads parse at once."""
    if isinstance(files, str):
        return SourceFacts(version=release.version, problem=files)
    return read_source(release.version, files)


def _facts(
    services: Services, release: Release, source: SourceFacts, request: AggregationRequest, listener: Listener
) -> ReleaseFacts:
    date = release.released.date().isoformat() if release.released else None
    if not request.live:
        return ReleaseFacts(source=source, released=date)
    case = with_changes(services.cases.read(LIVE_CASE), overrides=request.overrides)
    try:
        environment = prepare_release(services, [case], release, replace(request, mode=Mode.FIXED), listener)
        result = run_once(services, environment, case, release, variant_of(case), fresh=False)
    except (InfrastructureError, Interrupted):
        raise
    except HarnessError as reason:
        return ReleaseFacts(source=source, released=date, live={}, disagreement=f"live: {reason.what}")
    live = by_role(result.finished[-1].observation)
    return ReleaseFacts(source=source, released=date, live=live, disagreement=disagreement(source, live))


def by_role(seen: Observation) -> dict[str, list[str]]:
    """Distinct aggregation/synchronization of the live variables, by role."""
    roles: dict[str, list[str]] = {}
    for variable in seen.variables:
        kind = f"{variable.aggregation}/{variable.synchronization}"
        if kind not in roles.setdefault(variable.role, []):
            roles[variable.role].append(kind)
    return roles
