"""A notebook as a script: its code cells in their order, and what its magics ask for.

Of the format (version 4 and later) two keys of each cell are read; nbformat would bring a validator and five packages
for that.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
from dataclasses import dataclass

from packaging.requirements import InvalidRequirement, Requirement

from harness.domain.errors import UsageError

_MAGIC = re.compile(r"^(\s*)([!%].*)$")
_PIP = re.compile(r"^[!%]\s*(?:(?:uv|python3?\s+-m)\s+)?pip3?\s+install\s+(.*)$")
_SHOW = "__import__('sys').displayhook"


@dataclass(frozen=True, kw_only=True)
class Notebook:
    """A notebook as it is run.

    Attributes:
        script: Its code; the value at the end of a cell is printed, as a notebook shows it.
        requirements: What its cells install.
        left_out: Magics and commands that are not run.
    """

    script: str
    requirements: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def read_notebook(text: str, *, path: str) -> Notebook:
    """Turn a notebook into a script; raises `UsageError` where it is none."""
    requirements: list[str] = []
    left_out: list[str] = []
    parts = []
    for number, source in enumerate(_code_cells(text, path), start=1):
        if source.startswith("%%"):
            left_out.append(source.splitlines()[0])
            continue
        lines = [_plain(line, requirements, left_out) for line in source.splitlines()]
        parts.append(f"# cell {number}\n{_showing(chr(10).join(lines))}\n")
    return Notebook(
        script="\n".join(parts),
        requirements=tuple(dict.fromkeys(requirements)),
        left_out=tuple(dict.fromkeys(left_out)),
    )


def _code_cells(text: str, path: str) -> list[str]:
    try:
        cells = json.loads(text)["cells"]
        code = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
        return [source if isinstance(source, str) else "".join(source) for source in code]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UsageError(
            "the file is no notebook of the format 4",
            where=path,
            hint="write it again with: jupyter nbconvert --to notebook --inplace FILE",
        ) from error


def _plain(line: str, requirements: list[str], left_out: list[str]) -> str:
    """A line as Python; a magic becomes a statement that does nothing, so that an indented one stays a block."""
    found = _MAGIC.match(line)
    if found is None:
        return line
    if (installs := _PIP.match(found[2])) is not None:
        requirements += _requirements(installs[1])
    else:
        left_out.append(found[2])
    return f"{found[1]}pass  # {found[2]}"


def _requirements(words: str) -> list[str]:
    try:
        split = shlex.split(words, comments=True)
    except ValueError:
        split = words.split()
    found = []
    for word in split:
        try:
            found.append(str(Requirement(word)))
        except InvalidRequirement:
            continue  # an option, its value or a path
    return found


def _showing(source: str) -> str:
    """The cell, with the value of its last expression printed; as it is where it is no Python or ends with ``;``."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return source
    last = body[-1] if body else None
    if not isinstance(last, ast.Expr) or isinstance(last.value, ast.Await) or source.rstrip().endswith(";"):
        return source
    lines = source.encode().split(b"\n")
    first, end = last.value.lineno - 1, (last.value.end_lineno or 1) - 1
    start, stop = last.value.col_offset, last.value.end_col_offset or 0
    lines[end] = lines[end][:stop] + b"))" + lines[end][stop:]
    lines[first] = lines[first][:start] + f"{_SHOW}((".encode() + lines[first][start:]
    return b"\n".join(lines).decode()
