"""What a case needs to become one script for an upstream issue: the case, the release, the pins, the trial."""

from __future__ import annotations

from collections.abc import Sequence

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from harness.domain.cases import parameters
from harness.domain.releases.distributions import FRAMEWORK, import_name
from harness.domain.releases.release import Release, Timeline
from harness.domain.trials.exported_case import ExportedCase
from harness.jobs import preparation
from harness.jobs.events import Listener
from harness.jobs.preparation import find_release, variant_of, with_changes
from harness.jobs.protocols import Services
from harness.jobs.requests import TrialRequest


def read_case(services: Services, request: TrialRequest) -> ExportedCase:
    """The case without release and pins, to find out early whether it can be exported; raises `UsageError`."""
    case = with_changes(
        preparation.read_case(services, request.case, request, package=request.package), replicas=request.replicas
    )
    variant = variant_of(case, parameters.parse(case, request.settings))
    return ExportedCase(case=case, release=request.release, pins=(), variant=variant)


def pin_case(services: Services, request: TrialRequest, listener: Listener) -> ExportedCase:
    """The case pinned to one release, with the companions that this machine would resolve.

    Raises:
        UsageError: unknown case, release or parameter, or companions that do not resolve.
        InfrastructureError: machine, index or disk failed.
    """
    plain = read_case(services, request)
    case = plain.case
    release = find_release(services, case.package, request.release, listener, where="--release")
    timeline = Timeline(releases=(release,))
    companions = services.companions([case], timeline, request.pins, request.mode, request.python)
    wanted = (*companions.wanted.requirements, *companions.wanted.data_packages)
    pins = pins_of(release, wanted, companions.pinned or companions.wanted.requirements)
    return ExportedCase(case=case, release=release.version, pins=pins, variant=plain.variant)


def pins_of(release: Release, wanted: Sequence[str], resolved: Sequence[str]) -> tuple[str, ...]:
    """Pin what is wanted as it was resolved; TensorFlow by the name that everybody can install."""
    names = {canonicalize_name(Requirement(text).name) for text in wanted}
    found = [Requirement(text) for text in resolved]
    kept = [one for one in found if canonicalize_name(one.name) in names]
    return (release.requirement, *(f"{_common(one.name)}{one.specifier}" for one in kept))


def _common(name: str) -> str:
    """``tensorflow-cpu`` is the same release for machines without a GPU, and is not there for every platform."""
    return FRAMEWORK if import_name(name) == FRAMEWORK and not name.startswith("tf") else name
