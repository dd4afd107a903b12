"""Workarounds and claims of a case, from ``NAME.claims.toml`` beside it or from its own metadata."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from harness.domain.cases.case import Claim, Workaround
from harness.domain.cases.metadata_values import read_count, read_string, read_version, refused
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import UsageError


def read_tables(tables: Mapping[str, Any], *, path: str) -> dict[str, Any]:
    """Read a whole ``NAME.claims.toml``: ``[workarounds.NAME]`` and ``[[claims]]``.

    Raises:
        UsageError: naming the file, the key and what was expected.
    """
    readers: dict[str, Callable[[str, str, Any], Any]] = {"workarounds": read_workarounds, "claims": read_claims}
    if unknown := sorted(set(tables) - set(readers)):
        near = get_close_matches(unknown[0], readers, n=1)
        known = "use [workarounds.NAME] and [[claims]]"
        hint = f"did you mean {near[0]!r}? {known}" if near else known
        raise UsageError(f"unknown table {unknown[0]!r}", where=path, hint=hint)
    return {key: readers[key](path, key, value) for key, value in tables.items()}


def read_workarounds(path: str, key: str, value: object) -> tuple[Workaround, ...]:
    """Read a table of workarounds by name."""
    if not isinstance(value, Mapping):
        raise refused(path, key, "a table of workarounds by name", value)
    return tuple(
        Workaround(name=name, **_fields(path, f"{key}.{name}", table, _WORKAROUND_READERS, required=("title",)))
        for name, table in value.items()
    )


def read_claims(path: str, key: str, value: object) -> tuple[Claim, ...]:
    """Read a list of claims; each predicts something or says why it cannot be tested."""
    if not isinstance(value, list):
        raise refused(
            path, key, f"a list of tables ([[{key if path.endswith('.toml') else 'tool.harness.' + key}]])", value
        )
    claims = tuple(
        Claim(**_fields(path, f"{key}[{number}]", table, _CLAIM_READERS, required=("says",)))
        for number, table in enumerate(value)
    )
    for number, claim in enumerate(claims):
        if bool(claim.predicts) == bool(claim.untestable):
            raise refused(path, f"{key}[{number}]", "exactly one of 'predicts' and 'untestable'", claim.says)
    return claims


def _fields(
    path: str,
    key: str,
    table: object,
    readers: Mapping[str, Callable[[str, str, Any], Any]],
    *,
    required: tuple[str, ...],
) -> dict[str, Any]:
    if not isinstance(table, Mapping) or not set(required) <= set(table) <= set(readers):
        raise refused(
            path, key, f"a table with {', '.join(required)} and no other keys than {', '.join(readers)}", table
        )
    return {name: readers[name](path, f"{key}.{name}", value) for name, value in table.items()}


def _options(path: str, key: str, value: object) -> dict[str, str]:
    if not isinstance(value, Mapping) or not all(isinstance(item, str) for item in value.values()):
        raise refused(path, key, "a table of parameter = 'value'", value)
    return dict(value)


def _prediction(path: str, key: str, value: object) -> str:
    allowed = ("good", "finite", *(symptom.value for symptom in Symptom))
    if value not in allowed:
        raise refused(path, key, "one of " + ", ".join(allowed), value)
    return str(value)


_WORKAROUND_READERS: dict[str, Callable[[str, str, Any], Any]] = {
    "title": read_string,
    "options": _options,
    "against": _options,
    "origin": read_string,
}
_CLAIM_READERS: dict[str, Callable[[str, str, Any], Any]] = {
    "says": read_string,
    "origin": read_string,
    "predicts": _prediction,
    "release": read_version,
    "replicas": read_count,
    "options": _options,
    "untestable": read_string,
}
