"""From the metadata of a script to a case: every key has its reader."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from harness.domain.cases.case import STRATEGIES, Case, Claim, Level, Tolerance, Workaround
from harness.domain.cases.metadata_values import (
    read_choice,
    read_count,
    read_package,
    read_requirements,
    read_seconds,
    read_seed,
    read_string,
    read_strings,
    read_version,
    refused,
)
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import UsageError


def build_case(*, name: str, path: str, text: str, metadata: Mapping[str, Any], defines_model: bool) -> Case:
    """Check the metadata of one case and build it.

    Args:
        name: File name without its ending.
        path: Where the file lies, for messages.
        text: Its source.
        metadata: The parsed PEP 723 block.
        defines_model: Whether the source defines ``model()`` and ``data()``.

    Raises:
        UsageError: naming the file, the key and what was expected.
    """
    table = harness_table(metadata, path=path) or {}
    if unknown := sorted(set(table) - set(_READERS)):
        near = get_close_matches(unknown[0], _READERS, n=1)
        known = f"known keys: {', '.join(sorted(_READERS))}"
        raise UsageError(
            f"unknown key {unknown[0]!r} in [tool.harness]",
            where=path,
            hint=f"did you mean {near[0]!r}? {known}" if near else known,
        )
    read = {key: _READERS[key](path, key, value) for key, value in table.items()}
    package = read.setdefault("package", "keras")
    dependencies = read_requirements(path, "dependencies", metadata.get("dependencies", []))
    if "companions" not in read:
        own = {canonicalize_name(package)} | {
            canonicalize_name(Requirement(t).name) for t in read.get("data_packages", ())
        }
        read["companions"] = tuple(d for d in dependencies if canonicalize_name(Requirement(d).name) not in own)
    level = read.setdefault("level", Level.MODEL if defines_model else Level.SCRIPT)
    if level is Level.MODEL and not defines_model:
        raise UsageError(
            "level = 'model' needs the functions model() and data()",
            where=path,
            hint="define both, or use level = 'script'",
        )
    return Case(name=name, path=path, text=text, **read)


def harness_table(metadata: Mapping[str, Any], *, path: str) -> Mapping[str, Any] | None:
    """Return ``[tool.harness]``, or None when there is none; raises `UsageError` where it is no table."""
    tools = metadata.get("tool", {})
    if not isinstance(tools, Mapping):
        raise refused(path, "tool", "a table", tools)
    table = tools.get("harness")
    if table is not None and not isinstance(table, Mapping):
        raise refused(path, "tool.harness", "a table", table)
    return table


def _strategy(path: str, key: str, value: object) -> str:
    if value not in STRATEGIES:
        raise refused(path, key, "one of " + ", ".join(STRATEGIES), value)
    return str(value)


def _tolerance(path: str, key: str, value: object) -> Tolerance:
    def one(part: str, given: object) -> float | None:
        if given == "not compared":
            return None
        if not isinstance(given, int | float) or isinstance(given, bool) or not 0 <= given < float("inf"):
            raise refused(path, part, "a relative tolerance such as 1e-3, or 'not compared'", given)
        return float(given)

    if not isinstance(value, Mapping):
        both = one(key, value)
        return Tolerance(metric=both, weights=both)
    if extra := set(value) - {"metric", "weights"}:
        raise refused(path, f"{key}.{sorted(extra)[0]}", "only 'metric' and 'weights'", value)
    return Tolerance(**{part: one(f"{key}.{part}", given) for part, given in value.items()})


def _fit(path: str, key: str, value: object) -> dict[str, bool | int | float | str]:
    if not isinstance(value, Mapping) or not all(isinstance(item, bool | int | float | str) for item in value.values()):
        raise refused(path, key, "a table of numbers, strings and booleans", value)
    return dict(value)


def _switches(path: str, key: str, value: object) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, Mapping):
        raise refused(path, key, "a table of switch = [default, other, ...]", value)
    read = {}
    for name, values in value.items():
        read[name] = read_strings(path, f"{key}.{name}", values)
        if not read[name] or not name.isidentifier():
            raise refused(path, f"{key}.{name}", "a Python identifier with at least one value", values)
    return read


def _options(path: str, key: str, value: object) -> dict[str, str]:
    if not isinstance(value, Mapping) or not all(isinstance(item, str) for item in value.values()):
        raise refused(path, key, "a table of switch = 'value'", value)
    return dict(value)


def _remedies(path: str, key: str, value: object) -> tuple[Workaround, ...]:
    if not isinstance(value, Mapping):
        raise refused(path, key, "a table of remedies by name", value)
    return tuple(
        Workaround(name=name, **_fields(path, f"{key}.{name}", table, _REMEDY_READERS, required=("title",)))
        for name, table in value.items()
    )


def _claims(path: str, key: str, value: object) -> tuple[Claim, ...]:
    if not isinstance(value, list):
        raise refused(path, key, "a list of tables ([[tool.harness.claims]])", value)
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


def _prediction(path: str, key: str, value: object) -> str:
    allowed = ("good", "finite", *(symptom.value for symptom in Symptom))
    if value not in allowed:
        raise refused(path, key, "one of " + ", ".join(allowed), value)
    return str(value)


_REMEDY_READERS: dict[str, Callable[[str, str, Any], Any]] = {
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
_READERS: dict[str, Callable[[str, str, Any], Any]] = {
    "claims": _claims,
    "companions": read_requirements,
    "data_packages": read_requirements,
    "expects": read_choice(Symptom),
    "fit": _fit,
    "fixes": read_strings,
    "level": read_choice(Level),
    "origin": read_strings,
    "package": read_package,
    "remedies": _remedies,
    "repeats": read_count,
    "replicas": read_count,
    "seed": read_seed,
    "since": read_version,
    "strategy": _strategy,
    "switches": _switches,
    "timeout_seconds": read_seconds,
    "title": read_string,
    "tolerance": _tolerance,
}
