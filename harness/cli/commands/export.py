"""``harness export CASE --release VERSION``: one script for an upstream issue, with no harness in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from harness.adapters.storage import case_files
from harness.adapters.storage.files import write_whole
from harness.cli import options
from harness.domain.cases import parameters
from harness.domain.cases.case import Case
from harness.domain.releases.companions import Mode
from harness.domain.releases.distributions import FRAMEWORK, import_name
from harness.domain.releases.release import Release, Timeline
from harness.jobs import single
from harness.reporting.export import Export, script
from harness.services import Services, open_services, setting


@click.command("export")
@click.argument("case_name", metavar="CASE")
@click.option("--release", "version", required=True, help="Release that the script is pinned to, or 'latest'.")
@click.option("--replicas", type=click.IntRange(1, 64), default=None, help="Replicas (default: the case's).")
@click.option("--package", default=None, help="Distribution under test (default: the case's).")
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), default=None, help="File to write.")
@options.environment_options
@options.set_option
def command(case_name: str, version: str, **given: Any) -> int:
    r"""Write CASE as one self-contained script that can be pasted into an upstream issue.

    \b
    It needs what its header pins and nothing else, trains on one replica and on several,
    compares as the harness does, and leaves with 1 where the symptom shows, else with 0.
    """
    case = case_files.read(case_name, package=given["package"])
    case = replace(case, replicas=given["replicas"]) if given["replicas"] else case
    variant = single.variant_of(case, parameters.parse(case, given["settings"]))
    script(Export(case=case, release=version, pins=(), variant=variant))  # refuses what cannot be exported at all
    with open_services() as services:
        release = single.find_release(services, case.package, version, where="--release")
        pins = _pins(services, case, release, given)
    text = script(Export(case=case, release=release.version, pins=pins, variant=variant))
    if given["output"] is None:
        click.echo(text, nl=False)
    else:
        write_whole(given["output"], text)
        click.echo(f"Written: {given['output']}")
    return 0


def _pins(services: Services, case: Case, release: Release, given: dict[str, Any]) -> tuple[str, ...]:
    """The release and the companions that the case asks for, as this machine would resolve them."""
    asked = options.check_pins(given["pins"])
    companions = services.companions([case], Timeline(releases=(release,)), asked, Mode(given["mode"]), given["python"])
    resolved = setting(companions).companions or companions.wanted.requirements
    return pins_of(release, (*companions.wanted.requirements, *companions.wanted.data_packages), resolved)


def pins_of(release: Release, wanted: Sequence[str], resolved: Sequence[str]) -> tuple[str, ...]:
    """Pin what is wanted as it was resolved; TensorFlow by the name that everybody can install."""
    names = {canonicalize_name(Requirement(text).name) for text in wanted}
    found = [Requirement(text) for text in resolved]
    kept = [one for one in found if canonicalize_name(one.name) in names]
    return (release.requirement, *(f"{_common(one.name)}{one.specifier}" for one in kept))


def _common(name: str) -> str:
    """``tensorflow-cpu`` is the same release for machines without a GPU, and is not there for every platform."""
    return FRAMEWORK if import_name(name) == FRAMEWORK and not name.startswith("tf") else name
