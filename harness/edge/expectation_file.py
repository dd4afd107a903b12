"""Read ``expectations.toml``."""

from __future__ import annotations

import sys
from pathlib import Path

from harness.core.errors import UsageError
from harness.core.expectations import Expectations, build
from harness.edge.case_files import case_folders

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

NAME = "expectations.toml"


def read(path: Path | None) -> Expectations:
    """Read the file given, else the one beside the cases; without any, nothing is expected.

    Raises:
        UsageError: it cannot be read, is not TOML or has a wrong entry.
    """
    found = path or next((folder / NAME for folder in case_folders() if (folder / NAME).is_file()), None)
    if found is None:
        return Expectations()
    try:
        table = tomllib.loads(found.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"the expectations cannot be read: {error.strerror}", where=str(found)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"the expectations are not TOML: {error}", where=str(found), hint="correct it") from error
    return build(table, where=str(found))
