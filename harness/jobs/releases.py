"""The timeline of a package as the harness sees it: dates, what is left out, what can be used here."""

from __future__ import annotations

from harness.domain.releases.listing import Listing, describe
from harness.jobs.preparation import page_of, timeline_of
from harness.jobs.protocols import Listener, Services
from harness.jobs.requests import ReleasesRequest


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
