"""The format of the lines that journals consist of: the current one is written, the first one is translated.

Format 1 has no number in its lines. It calls the parameters of a case ``switches`` and its workarounds ``remedies``;
everything else has the same names and values. Run journals and nightly journals share one number.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

from harness import codec
from harness.domain.cases.case import Case
from harness.domain.errors import UsageError
from harness.domain.findings.run import RunHeader

FORMAT = 2
FIELD = "format"
_FIRST = 1
_RENAMED_IN_CASE = {"switches": "parameters", "remedies": "workarounds"}

T = TypeVar("T")


def dumps(kind: type[T], value: T) -> str:
    """JSON text of a value with the number of the current format in front."""
    return json.dumps({FIELD: FORMAT, **codec.to_json(kind, value)}, allow_nan=False)


def loads(kind: type[T], text: bytes, *, where: str) -> T:
    """Read a line of any format that is known.

    Args:
        kind: What the line holds.
        text: The line.
        where: The file, for the message.

    Raises:
        UsageError: a newer harness wrote it.
        codec.Malformed: it is not what the type says.
    """
    try:
        line = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise codec.Malformed(f"not JSON: {error}") from error
    if not isinstance(line, dict):
        raise codec.Malformed(f"an object was expected, not {type(line).__name__}")
    found = _number(line)
    if found > FORMAT:
        raise UsageError(
            f"a newer version of the harness wrote this journal: format {str(found)[:40]}, known up to {FORMAT}",
            where=where,
            hint="update the harness: pip install --upgrade regression-harness",
        )
    if found == _FIRST and kind is RunHeader:
        return codec.loads(kind, json.dumps(from_first(line)))
    return codec.loads(kind, text)


def from_first(header: Mapping[str, Any]) -> dict[str, Any]:
    """Translate the header of a run from format 1; what does not look like one is left to the check that follows."""
    case = header.get("case")
    if not isinstance(case, Mapping):
        return dict(header)
    known = {field.name for field in fields(Case)}
    names = {old: new for old, new in _RENAMED_IN_CASE.items() if new in known}
    return {**header, "case": {names.get(name, name): value for name, value in case.items()}}


def _number(line: Mapping[str, Any]) -> int:
    number = line.get(FIELD, _FIRST)
    if not isinstance(number, int) or isinstance(number, bool) or number < _FIRST:
        raise codec.Malformed(f"{FIELD}: {str(number)[:40]!r} is not the number of a format")
    return number
