"""The files of the package under test in an environment, and copies of them in which some are replaced."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from harness.adapters.environments.contents.installed import module_of
from harness.domain.cases.case import Case
from harness.domain.errors import HarnessError, UsageError
from harness.domain.fixes.fix import Fix
from harness.domain.trials.trial import Environment

COMPILED = (".so", ".pyd", ".dylib", ".dll")
_COPY = "patched"


def package_folder(environment: Environment, case: Case) -> Path:
    """Where the package under test lies in an environment."""
    place = case.import_name.replace(".", "/")
    found = sorted(Path(environment.executable).parents[1].glob(f"lib*/python*/site-packages/{place}"))
    if not found:
        raise HarnessError(f"{case.import_name} is not a folder in the environment", where=environment.executable)
    return found[0]


def read_tree(environment: Environment, case: Case) -> dict[str, str]:
    """Every file of the package under test, by its path from the folder that the package lies in.

    Raises:
        UsageError: the package is compiled, or is no folder: there are no lines to change.
    """
    module = module_of(case.package, case.import_name, environment.executable)
    try:
        folder = package_folder(environment, replace(case, module=module))
    except HarnessError:
        raise UsageError(
            f"{case.package} installs no folder {module}",
            where="--channel hunk",
            hint="hunks need a package of folders",
        ) from None
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
    if compiled := [path for path in files if path.suffix in COMPILED]:
        raise UsageError(
            f"{case.package} is compiled ({compiled[0].name} and {len(compiled) - 1} more): its lines cannot be "
            "changed without building it",
            where="--channel hunk",
            hint="stop at the nightly: --channel stable,nightly",
        )
    return {path.relative_to(folder.parent).as_posix(): _text(path) for path in files}


def overlay(files: Mapping[str, str | None], *, measured: bool) -> Fix:
    """Files that stand in the place of those of the package, as a fix; its name and hash are those of their content."""
    described = repr(sorted(files.items()))
    digest = hashlib.sha256(f"{measured}\n{described}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return Fix(name=f"lines-{digest}", path="", digest=digest, patches_files=True, files=dict(files), measured=measured)


def laid_over(fix: Fix, folder: Path, scratch: Path) -> Path:
    """Copy a package below ``scratch/patched`` and replace the files of a fix in the copy; returns that folder.

    The files of the environment stay as they are: hard links would carry an edit into every other one.
    """
    tree = scratch / _COPY
    shutil.copytree(folder, tree / folder.name, symlinks=True)
    for name, text in (fix.files or {}).items():
        path = tree / name
        path.unlink(missing_ok=True)
        if text is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return tree


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "surrogateescape")
