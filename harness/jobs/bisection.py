"""The main job: search one channel, then go on to the finer ones."""

from __future__ import annotations

from pathlib import Path

from harness.domain.cases import parameters
from harness.domain.cases.sought import looking_for
from harness.domain.findings.finding import Finding
from harness.jobs import additions, refinement, timeline_search
from harness.jobs.events import Listener
from harness.jobs.preparation import check_place, read_case, say_assumed, under_test, with_arguments, with_changes
from harness.jobs.protocols import Services
from harness.jobs.requests import BisectRequest


def bisect(services: Services, request: BisectRequest, listener: Listener) -> tuple[Finding, Path]:
    """Find in which release each symptom begins and ends, on one channel after the other.

    Returns:
        The finding with those of its finer searches, and the folder of the run.

    Raises:
        UsageError: the question cannot be asked in this way.
        InfrastructureError: machine, index or disk failed; what is finished is kept.
        Interrupted: the user stopped it; what is finished is kept.
    """
    case = read_case(services, request.case, request, package=request.package)
    case = with_changes(case, replicas=request.replicas, strategy=request.strategy, repeats=request.repeats)
    given = {**request.sought, **({"reference": request.reference} if request.reference else {})}
    case = with_arguments(case, request.arguments)
    case = under_test(services, looking_for(case, given, request.symptoms), request.channels[0])
    say_assumed(listener, case)
    parameters.parse(case, request.settings)
    check_place(services, request)
    finding, folder = timeline_search.search(services, case, request, listener)
    finding, folder = additions.with_what_lacks(services, case, (finding, folder), request, listener)
    if len(request.channels) > 1:
        finding = refinement.descend(refinement.Descent(services, listener), case, finding, folder, request)
    return finding, folder
