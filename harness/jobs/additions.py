"""Search again with a module that every environment of a search lacked, where it is known what brings it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from packaging.requirements import Requirement

from harness.domain.cases.case import Case
from harness.domain.errors import UsageError
from harness.domain.findings.finding import Finding
from harness.domain.releases.distributions import bringing
from harness.jobs import timeline_search
from harness.jobs.events import Listener
from harness.jobs.preparation import warn
from harness.jobs.protocols import Services
from harness.jobs.requests import BisectRequest

MOST_ADDITIONS = 3


def with_what_lacks(
    services: Services, case: Case, found: tuple[Finding, Path], request: BisectRequest, listener: Listener
) -> tuple[Finding, Path]:
    """The search with what the environments lacked, below the folder of the first; the first where that cures nothing.

    Only well-known distributions are added: what a module is called does not tell whose it is.
    """
    finding, folder = found
    searched = request
    added: tuple[str, ...] = ()
    while (addition := bringing(finding.lacks)) and addition not in added and len(added) < MOST_ADDITIONS:
        added = (*added, addition)
        place = folder / f"with-{Requirement(addition).name}"
        warn(
            listener,
            f"every environment lacks the module {finding.lacks}, which nothing declares: "
            f"searching again with --with '{addition}' in {place}",
        )
        known = place if place in services.runs.below(folder) else None
        searched = replace(searched, pins=(*searched.pins, addition), output=place, resume=known)
        try:
            finding, folder = timeline_search.search(services, case, searched, listener)
        except UsageError as failure:
            warn(listener, f"with {addition} nothing can be tried: {failure.what}")
            return found
    if not added or finding.lacks:
        return found
    return _noted(services, finding, folder, added), folder


def _noted(services: Services, finding: Finding, folder: Path, added: tuple[str, ...]) -> Finding:
    """The finding, and its reports, with a word on what was added."""
    pins = " ".join(f"--with '{one}'" for one in added)
    note = f"{', '.join(added)} was added, since nothing declares it and every release failed without (as by {pins})."
    conclusion = replace(finding.conclusion, caveats=(*finding.conclusion.caveats, note))
    noted = replace(finding, conclusion=conclusion)
    services.reports.finding(noted, folder)
    return noted
