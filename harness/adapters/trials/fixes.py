"""Where fixes come from: named modules, a user's file, one changed key of the mapping, or a patch file."""

from __future__ import annotations

import ast
import difflib
import hashlib
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import harness
from harness.adapters.environments.failures import machine_failure
from harness.adapters.processes.git_program import for_git, git_command
from harness.adapters.processes.process import Processes
from harness.domain.errors import InfrastructureError, UsageError
from harness.domain.fixes.fix import Fix

FOLDER = Path(harness.__file__).parent / "probe" / "fixes"
MAPPING = FOLDER / "mapping.py"
KEYS = ("none", "sum", "mean", "only_first_replica")
VALUES = ("NONE", "SUM", "MEAN", "ONLY_FIRST_REPLICA")
_APPLY_SECONDS = 60.0
_TEST = "_test.py"
_SKIPPED = re.compile(r"^Skipped patch '(.*)'\.$", re.MULTILINE)


def known_fixes() -> dict[str, Path]:
    """The fixes that can be called by name."""
    modules = [path for path in sorted(FOLDER.glob("*.py")) if path.stem not in ("__init__", "mapping")]
    return {path.stem.replace("_", "-"): path for path in modules}


def find(name_or_path: str) -> Fix:
    """Find a fix by name or path; raises `UsageError` with near names."""
    known = known_fixes()
    if name_or_path in known:
        return _described(name_or_path, known[name_or_path])
    path = Path(name_or_path)
    if path.suffix == ".py" or "/" in name_or_path:
        if not path.is_file():
            raise UsageError("there is no such fix file", where=name_or_path, hint="give a Python file with apply()")
        _check(path)
        return _described(path.stem, path.absolute())
    near = difflib.get_close_matches(name_or_path, known, n=2)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known fixes: {', '.join(known)}; or the path of a file"
    raise UsageError(f"unknown fix {name_or_path!r}", where="--fix", hint=hint)


def _described(name: str, path: Path, *, options: Mapping[str, str] | None = None, patches_files: bool = False) -> Fix:
    """A fix with the hash of what it does."""
    settings = dict(options or {})
    digest = hashlib.sha256(path.read_bytes() + repr(sorted(settings.items())).encode()).hexdigest()[:16]
    return Fix(name=name, path=str(path), digest=digest, options=settings, patches_files=patches_files)


def _check(path: Path) -> None:
    """Refuse a file that is not a fix before anything is built."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError, RecursionError) as error:
        raise UsageError(f"the fix is not Python: {error}", where=str(path), hint="run it alone first") from error
    if not any("apply" in _names(node) for node in tree.body):
        hint = 'define apply(): it patches the running process and returns "applied", "absent" or "refused"'
        raise UsageError("the fix has no function apply()", where=str(path), hint=hint)


def _names(node: ast.stmt) -> list[str]:
    """Names that a statement binds at the top level of a module, as far as they can be the fix's function."""
    match node:
        case ast.FunctionDef(name=name):
            return [name]
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return [alias.asname or alias.name for alias in names]
        case ast.Assign(targets=targets):
            return [target.id for target in targets if isinstance(target, ast.Name)]
        case _:
            return []


def patch(path: Path) -> Fix:
    """A patch file as a fix."""
    if not path.is_file():
        raise UsageError("there is no such patch file", where=str(path), hint="make one with git diff")
    return _described(path.name, path.absolute(), patches_files=True)


def mapping_sweep() -> list[Fix]:
    """Every change of one key of the mapping: four keys, three other values each."""
    return [
        _described(f"{key}->{value}", MAPPING, options={"key": key, "value": value})
        for key in KEYS
        for value in VALUES
        if key.upper() != value
    ]


@dataclass(frozen=True, kw_only=True)
class Patched:
    """What became of a patch.

    Attributes:
        refusal: Why it was not applied; "" when it was.
        left_out: Files that it changes and that are not in the package; its tests are not counted.
    """

    refusal: str = ""
    left_out: tuple[str, ...] = ()


def patched_tree(fix: Fix, package_folder: Path, scratch: Path, processes: Processes) -> Patched:
    """Copy a package below ``scratch/patched`` and apply a patch to the copy.

    The files of the environment stay as they are: hard links would carry an edit into every other one.

    Raises:
        InfrastructureError: git or the disk failed, which says nothing about the patch.
    """
    tree = scratch / "patched"
    shutil.copytree(package_folder, tree / package_folder.name, symlinks=True)
    chosen = [f"--exclude=*{_TEST}", f"--include={package_folder.name}/*"]  # the first that matches decides
    ended = processes.run(
        git_command("apply", "--verbose", "-p1", *chosen, fix.path),
        log=scratch / "patch.log",
        env={**for_git(scratch), "GIT_CEILING_DIRECTORIES": str(scratch)},
        cwd=tree,
        deadline_seconds=_APPLY_SECONDS,
        whole=True,
    )
    if ended.timed_out or ended.exit_code < 0:
        how = f"was not done after {_APPLY_SECONDS:.0f} s" if ended.timed_out else "was killed"
        hint = "is the machine overloaded? run the same command again"
        raise machine_failure(ended, "git apply") or InfrastructureError(f"git apply {how}", where=fix.path, hint=hint)
    if ended.exit_code != 0:
        if failure := machine_failure(ended, "git apply"):
            raise failure
        return Patched(refusal=" ".join(ended.tail.split())[:400])
    printed = ended.log.read_text(encoding="utf-8", errors="replace")
    if "Applied patch" not in printed:
        return Patched(refusal=f"it changes no file of {package_folder.name}/ other than tests")
    return Patched(left_out=tuple(name for name in _SKIPPED.findall(printed) if not name.endswith(_TEST)))
