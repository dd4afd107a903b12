"""What is pinned beside the package under test, so that a timeline differs in that package alone."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from harness.adapters.index.find_links import local_versions
from harness.adapters.processes.accelerators import has_gpu
from harness.domain.cases.backends import Backend
from harness.domain.cases.case import Case
from harness.domain.errors import UsageError
from harness.domain.releases.companions import Wanted
from harness.domain.releases.distributions import FRAMEWORK, import_name

CPU = "cpu"
"""Local version of the builds of torch without CUDA."""


def framework_package() -> str:
    """The distribution that installs TensorFlow on this machine."""
    if sys.platform == "linux" and platform.machine() == "x86_64" and not has_gpu():
        return "tensorflow-cpu"
    return "tensorflow[and-cuda]" if sys.platform == "linux" and has_gpu() else FRAMEWORK


def wanted(package: str, companions: Iterable[str], pins: Iterable[str], data_packages: Iterable[str]) -> Wanted:
    """Replace companions of the case by the user's pins (``--with``), and name the framework's distribution.

    A pin of ``tensorflow`` applies to the distribution that installs TensorFlow on this machine. A package that
    installs the same module as the package under test (keras beside keras-nightly) is not a companion.

    Args:
        package: Distribution under test.
        companions: Requirements of the case.
        pins: Requirements of the user.
        data_packages: Installed without their dependencies, for their data alone.

    Raises:
        UsageError: a pin names the package under test.
    """
    under_test = import_name(package)
    chosen: dict[str, list[str]] = {}
    for text in companions:
        requirement = Requirement(text)
        if import_name(requirement.name) != under_test:
            chosen.setdefault(canonicalize_name(requirement.name), []).append(_localized(requirement))
    for text in pins:
        requirement = Requirement(text)
        if import_name(requirement.name) == under_test:
            raise UsageError(
                f"{requirement.name} is the package under test: {package} installs the same module",
                where="--with",
                hint="choose its versions with --from and --to",
            )
        chosen[canonicalize_name(requirement.name)] = [_localized(requirement)]
    named = {name for name in chosen if name.startswith(f"{FRAMEWORK}-")}
    if named:
        chosen.pop(FRAMEWORK, None)
    return Wanted(
        package=package,
        requirements=tuple(dict.fromkeys(text for texts in chosen.values() for text in texts)),
        data_packages=tuple(dict.fromkeys(data_packages)),
    )


def asked_by(cases: Sequence[Case], needed: Wanted) -> Wanted:
    """Add what the cases say beside their companions: extras, overrides and interpreters.

    Raises:
        UsageError: an override names no version, or a version of the package under test.
    """
    own = canonicalize_name(needed.package)
    laid_aside = tuple(dict.fromkeys(text for case in cases for text in case.overrides))
    for text in laid_aside:
        requirement = Requirement(text)
        if (canonicalize_name(requirement.name) == own) == bool(requirement.specifier or requirement.url):
            raise UsageError(
                f"{text!r} is no override here",
                where="--override",
                hint=f"write NAME==VERSION, or {needed.package} alone for each of its releases",
            )
    return replace(
        needed,
        extras=tuple(sorted({extra for case in cases for extra in case.extras})),
        laid_aside=laid_aside,
        requires_python=",".join(dict.fromkeys(case.requires_python for case in cases if case.requires_python)),
    )


def _localized(requirement: Requirement) -> str:
    name = canonicalize_name(requirement.name)
    if name == Backend.JAX.value and not requirement.extras and requirement.url is None and not has_gpu():
        return str(requirement).replace(requirement.name, "jax[cpu]", 1)  # releases before 0.4.36 need the extra
    if name == Backend.TORCH.value and requirement.url is None and not has_gpu():
        return _torch(requirement)
    if name != FRAMEWORK:
        return str(requirement)
    marker = f" ; {requirement.marker}" if requirement.marker else ""
    return f"{framework_package()}{requirement.specifier}{marker}"


def _torch(requirement: Requirement) -> str:
    """The newest build for the CPU that the user keeps beside the index, where there is one that fits."""
    fitting = [v for v in local_versions(requirement.name) if v.local == CPU and requirement.specifier.contains(v)]
    if not fitting:
        return str(requirement)
    marker = f" ; {requirement.marker}" if requirement.marker else ""
    return f"{requirement.name}=={fitting[-1]}{marker}"
