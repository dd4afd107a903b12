"""Find and read cases: by name in ``repro_cases/``, or any file on disk."""

from __future__ import annotations

import ast
import difflib
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import harness
from harness.domain.cases.case import Case
from harness.domain.cases.inline_metadata import EXAMPLE_BLOCK, metadata_text
from harness.domain.cases.metadata import build_case, harness_table
from harness.domain.errors import UsageError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CLAIMS = ".claims.toml"  # beside a case: its workarounds and claims
LARGEST_CASE = 1_000_000  # bytes; a case is a page or two


def case_folders() -> list[Path]:
    """Where cases are looked for by name: the working folder, the checkout, the installed package."""
    package = Path(harness.__file__).parent
    folders = [Path.cwd() / "repro_cases", package.parent / "repro_cases", package / "bundled_cases"]
    return [folder for folder in dict.fromkeys(folders) if folder.is_dir()]


def known_cases() -> dict[str, Path]:
    """Every case that can be called by name."""
    found: dict[str, Path] = {}
    for folder in case_folders():
        for path in sorted(folder.glob("*.py")):
            found.setdefault(path.stem, path)
    return found


def read(name_or_path: str, *, package: str | None = None) -> Case:
    """Read one case.

    Args:
        name_or_path: A name in ``repro_cases/``, or a path.
        package: Stands in for missing metadata: the script is then taken as it is, with this package under test.

    Raises:
        UsageError: unknown case, no metadata, or bad metadata, in the case or in the file of claims beside it.
    """
    path = _locate(name_or_path)
    text = text_of(path)
    block = metadata_text(text, where=str(path))
    if block is None and package is None:
        raise UsageError(
            "the case has no inline metadata",
            where=str(path),
            hint="say what is under test with --package (and --with tensorflow), or put this at its top:\n"
            + EXAMPLE_BLOCK,
        )
    metadata = _toml(block, path, "correct the '# /// script' block at the top") if block is not None else {}
    table = harness_table(metadata, path=str(path))
    if block is not None and package is None and table is None:
        raise UsageError(
            "the metadata has no [tool.harness] table", where=str(path), hint=f"add one, for example:\n{EXAMPLE_BLOCK}"
        )
    if package is not None:
        metadata = {**metadata, "tool": {"harness": {**(table or {}), "package": package}}}
    claims_path = path.with_suffix(CLAIMS)
    return build_case(
        name=path.stem.encode("utf-8", "backslashreplace").decode(),  # a file's name need not be text
        path=str(path),
        text=text,
        metadata=metadata,
        defines_model=_defines_model(text, path),
        claims_path=str(claims_path),
        claims=_toml(text_of(claims_path), claims_path, "correct it") if claims_path.is_file() else None,
    )


def read_all(names: Iterable[str] = ()) -> list[Case]:
    """Read the named cases, or all that are known."""
    return [read(name) for name in (names or known_cases())]


def callable_as(case: Case) -> str:
    """The shortest word that finds the case again: its name, or its path."""
    known = known_cases().get(case.name)
    return case.name if known is not None and str(known) == case.path else case.path


def _locate(name_or_path: str) -> Path:
    path = Path(name_or_path)
    if path.suffix == ".py" or "/" in name_or_path:
        if path.is_file():
            return path.absolute()
        raise UsageError("there is no such case file", where=name_or_path, hint="give the path of a Python file")
    known = known_cases()
    if name_or_path in known:
        return known[name_or_path]
    near = difflib.get_close_matches(name_or_path, known, n=3, cutoff=0.4)
    raise UsageError(
        f"unknown case {name_or_path!r}",
        where="./repro_cases and the bundled cases",
        hint=f"did you mean {' or '.join(near)}?" if near else f"known cases: {', '.join(sorted(known)) or 'none'}",
    )


def text_of(path: Path) -> str:
    """Read a case; raises `UsageError` when it cannot be one."""
    try:
        if path.stat().st_size > LARGEST_CASE:
            raise UsageError(
                "the case file is too large", where=str(path), hint=f"a case has at most {LARGEST_CASE} bytes"
            )
        return path.read_text(encoding="utf-8-sig")  # some editors begin a file with a byte order mark
    except OSError as error:
        raise UsageError(f"the case cannot be read: {error.strerror}", where=str(path)) from error
    except UnicodeDecodeError as error:
        raise UsageError("the case is not UTF-8 text", where=str(path), hint="save it as UTF-8") from error


def _toml(block: str, path: Path, hint: str) -> dict[str, Any]:
    try:
        table: dict[str, Any] = tomllib.loads(block)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"the metadata is not TOML: {error}", where=str(path), hint=hint) from error
    return table


def _defines_model(text: str, path: Path) -> bool:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:  # the last two: nested too deeply
        raise UsageError(f"the case is not Python: {error}", where=str(path), hint="run it alone first") from error
    names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    return {"model", "data"} <= names
