"""Read what is recorded beside the cases: ``expectations.toml`` and ``causes.toml``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from harness.adapters.storage.case_files import case_folders
from harness.domain.cases.case import Case
from harness.domain.errors import UsageError
from harness.domain.findings import causes
from harness.domain.findings.causes import KnownCause
from harness.domain.nightly import expectations
from harness.domain.nightly.expectations import Expectations
from harness.domain.releases.distributions import import_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

EXPECTATIONS = "expectations.toml"
CAUSES = "causes.toml"


def read_expectations(path: Path | None) -> Expectations:
    """Read the file given, else the one beside the cases; without any, nothing is expected.

    Raises:
        UsageError: it cannot be read, is not TOML or has a wrong entry.
    """
    found = path or next((f / EXPECTATIONS for f in case_folders() if (f / EXPECTATIONS).is_file()), None)
    return expectations.build(_toml(found), where=str(found)) if found is not None else Expectations()


def causes_for(case: Case) -> tuple[KnownCause, ...]:
    """The known causes of a case, in the package under test, from the file in its own folder; without one, none.

    Raises:
        UsageError: it cannot be read, is not TOML or has a wrong entry.
    """
    path = Path(case.path).parent / CAUSES
    known = causes.build(_toml(path), where=str(path)) if path.is_file() else ()
    own = [cause for cause in known if cause.case == case.name]
    return tuple(cause for cause in own if import_name(cause.package) == case.import_name)


def _toml(path: Path) -> dict[str, Any]:
    try:
        table: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path.name} cannot be read: {error.strerror}", where=str(path)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path.name} is not TOML: {error}", where=str(path), hint="correct it") from error
    return table
