"""What a built environment holds of the package under test: its version and its files, by metadata and RECORD."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.metadata import PathDistribution
from pathlib import Path

from packaging.utils import canonicalize_name

from harness.adapters.environments.sealing import LONGEST_RECORD
from harness.domain.releases.modules import main_module


@dataclass(frozen=True, kw_only=True)
class Installed:
    """One distribution in an environment.

    Attributes:
        version: As its metadata says.
        site: The folder that its files lie in.
        files: Its files, from there.
    """

    version: str
    site: Path
    files: frozenset[str]

    def has(self, file: str) -> bool:
        """Whether a file, by its whole path, is one of its own."""
        path = Path(file)
        return path.is_relative_to(self.site) and path.relative_to(self.site).as_posix() in self.files


def find(package: str, executable: str) -> tuple[Installed, ...]:
    """The distributions of this name in the environment of an interpreter; more than one is a fault.

    The folders are read each time: the listings of `importlib.metadata` are kept by their folder's time, and an
    environment may be built anew within it.
    """
    root = Path(executable).parents[1]
    sites = sorted({site.resolve() for site in root.glob("lib*/python*/site-packages")})
    name = canonicalize_name(package)
    found = [PathDistribution(folder) for site in sites for folder in sorted(site.glob("*.dist-info"))]
    own = [one for one in found if canonicalize_name(one.metadata["Name"] or "") == name]
    return tuple(Installed(version=one.version, site=Path(str(one.locate_file(""))), files=_files(one)) for one in own)


def module_of(package: str, guess: str, executable: str) -> str:
    """The module that a package installed, by its files; what its name suggests where they do not tell."""
    found = find(package, executable)
    return main_module(package, guess, found[0].files) if len(found) == 1 else guess


def _files(distribution: PathDistribution) -> frozenset[str]:
    """The files that RECORD lists; none where there is no RECORD that can be read."""
    text = distribution.read_text("RECORD") or ""
    if len(text) > LONGEST_RECORD:
        return frozenset()
    try:
        return frozenset(row[0] for row in csv.reader(text.splitlines()) if row)
    except csv.Error:
        return frozenset()
