"""Lists of tables in the TOML files beside the cases: each value checked, each mistake named with its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any

from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import UsageError

Reader = Callable[[Any], Any]
"""Checks one value; raises ValueError saying what was expected."""


def only(table: Mapping[str, Any], names: Sequence[str], where: str) -> None:
    """Refuse tables that nobody reads: most likely misspelt.

    Raises:
        UsageError: naming the first of them.
    """
    if extra := set(table) - set(names):
        known = " and ".join(f"[[{name}]]" for name in names)
        raise UsageError(f"unknown table {sorted(extra)[0]!r}", where=where, hint=f"use {known}")


def read(
    table: Mapping[str, Any], name: str, readers: Mapping[str, Reader], required: Sequence[str], where: str
) -> list[dict[str, Any]]:
    """Return the entries under ``[[name]]``, every value checked.

    Raises:
        UsageError: naming the file, the entry, the key and what was expected.
    """
    given = table.get(name, [])
    if not isinstance(given, list) or not all(isinstance(entry, Mapping) for entry in given):
        raise UsageError(f"{name!r} is not a list of tables", where=where, hint=f"write each entry under [[{name}]]")
    return [_entry(entry, f"{name}[{number}]", readers, required, where) for number, entry in enumerate(given)]


def text(value: Any) -> str:
    """Any text that is not empty."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"expected a non-empty string, got {value!r}")
    return value


def symptom(value: Any) -> Symptom:
    """The name of a symptom."""
    try:
        return Symptom(value)
    except ValueError:
        raise ValueError(f"expected one of {', '.join(s.value for s in Symptom)}, got {value!r}") from None


def day(value: Any) -> date:
    """A day, as TOML writes it or as text."""
    if type(value) is date:
        return value
    try:
        return date.fromisoformat(text(value))
    except ValueError:
        raise ValueError(f"expected a day such as 2026-12-31, got {value!r}") from None


def _entry(
    entry: Mapping[str, Any], place: str, readers: Mapping[str, Reader], required: Sequence[str], where: str
) -> dict[str, Any]:
    for key in required:
        if key not in entry:
            raise UsageError(f"{place} has no {key!r}", where=where, hint=f"required: {', '.join(required)}")
    checked = {}
    for key, value in entry.items():
        if key not in readers:
            raise UsageError(f"{place} has an unknown key {key!r}", where=where, hint=f"known: {', '.join(readers)}")
        try:
            checked[key] = readers[key](value)
        except ValueError as error:
            raise UsageError(f"{place}: bad value for {key!r}: {error}", where=where, hint="correct it") from None
    return checked
