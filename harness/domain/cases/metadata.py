"""From the metadata of a script to a case: every key has its reader."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from harness.domain.cases.backends import VARIABLE, Backend, moved, named_in
from harness.domain.cases.case import STRATEGIES, Case, Level, Tolerance
from harness.domain.cases.claims_metadata import read_claims, read_tables, read_workarounds
from harness.domain.cases.metadata_values import (
    read_choice,
    read_count,
    read_package,
    read_requirements,
    read_seconds,
    read_seed,
    read_specifier,
    read_string,
    read_strings,
    read_variables,
    read_version,
    refused,
    split_extras,
)
from harness.domain.cases.shapes.runners import Runner
from harness.domain.cases.sought import check_sought, read_equals, read_flags, read_pattern, read_value
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import UsageError


def build_case(
    *,
    name: str,
    path: str,
    text: str,
    metadata: Mapping[str, Any],
    defines_model: bool,
    claims_path: str = "",
    claims: Mapping[str, Any] | None = None,
) -> Case:
    """Check the metadata of one case and build it.

    Args:
        name: File name without its ending.
        path: Where the file lies, for messages.
        text: Its source.
        metadata: The parsed PEP 723 block.
        defines_model: Whether the source defines ``model()`` and ``data()``.
        claims_path: Where ``NAME.claims.toml`` lies, for messages.
        claims: That file, parsed; None where there is none.

    Raises:
        UsageError: naming the file, the key and what was expected.
    """
    read = _read_table(harness_table(metadata, path=path) or {}, path)
    for key, value in read_tables(claims or {}, path=claims_path).items():
        if key in read:
            raise UsageError(
                f"{key!r} is given in the case and beside it", where=f"{path} and {claims_path}", hint="keep one"
            )
        read[key] = value
    package, read["extras"] = split_extras(read.get("package", "keras"))
    read["package"] = package
    if "requires-python" in metadata:
        read["requires_python"] = read_specifier(path, "requires-python", metadata["requires-python"])
    dependencies = read_requirements(path, "dependencies", metadata.get("dependencies", []))
    if "companions" not in read:
        own = {canonicalize_name(package)} | {
            canonicalize_name(Requirement(t).name) for t in read.get("data_packages", ())
        }
        read["companions"] = tuple(d for d in dependencies if canonicalize_name(Requirement(d).name) not in own)
    backend = read.get("backend") or named_in(read.get("env", {}))
    if backend is not None:
        read["companions"] = moved(read["companions"], backend, keep=Backend)
    if read.get("backend") and VARIABLE in read.get("env", {}):
        raise UsageError(f"both 'backend' and {VARIABLE} in 'env' are given", where=path, hint="keep 'backend'")
    level = read.setdefault("level", Level.MODEL if defines_model else Level.SCRIPT)
    if level is Level.MODEL and not defines_model:
        raise UsageError(
            "level = 'model' needs the functions model() and data()",
            where=path,
            hint="define both, or use level = 'script'",
        )
    return check_sought(Case(name=name, path=path, text=text, **read))


def harness_table(metadata: Mapping[str, Any], *, path: str) -> Mapping[str, Any] | None:
    """Return ``[tool.harness]``, or None when there is none; raises `UsageError` where it is no table."""
    tools = metadata.get("tool", {})
    if not isinstance(tools, Mapping):
        raise refused(path, "tool", "a table", tools)
    table = tools.get("harness")
    if table is not None and not isinstance(table, Mapping):
        raise refused(path, "tool.harness", "a table", table)
    return table


def _read_table(table: Mapping[str, Any], path: str) -> dict[str, Any]:
    """Read every key of ``[tool.harness]``; what the first version called otherwise gets its present name."""
    if unknown := sorted(set(table) - set(_READERS) - set(_OLD_NAMES)):
        near = get_close_matches(unknown[0], _READERS, n=1)
        known = f"known keys: {', '.join(sorted(_READERS))}"
        raise UsageError(
            f"unknown key {unknown[0]!r} in [tool.harness]",
            where=path,
            hint=f"did you mean {near[0]!r}? {known}" if near else known,
        )
    for old, new in _OLD_NAMES.items():
        if old in table and new in table:
            raise UsageError(f"{old!r} is the old name of {new!r}", where=path, hint=f"keep {new!r}")
    named = {key: _OLD_NAMES.get(key, key) for key in table}
    return {named[key]: _READERS[named[key]](path, key, value) for key, value in table.items()}


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


def _parameters(path: str, key: str, value: object) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, Mapping):
        raise refused(path, key, "a table of parameter = [default, other, ...]", value)
    read = {}
    for name, values in value.items():
        read[name] = read_strings(path, f"{key}.{name}", values)
        if not read[name] or not name.isidentifier():
            raise refused(path, f"{key}.{name}", "a Python identifier with at least one value", values)
    return read


_READERS: dict[str, Callable[[str, str, Any], Any]] = {
    "backend": read_choice(Backend),
    "claims": read_claims,
    "companions": read_requirements,
    "data_packages": read_requirements,
    "env": read_variables,
    "equals": read_equals,
    "expects": read_choice(Symptom),
    "files": read_strings,
    "fit": _fit,
    "fixes": read_strings,
    "level": read_choice(Level),
    "match": read_pattern,
    "origin": read_strings,
    "overrides": read_requirements,
    "package": read_package,
    "parameters": _parameters,
    "python_flags": read_flags,
    "reference": read_version,
    "repeats": read_count,
    "replicas": read_count,
    "runner": read_choice(Runner),
    "seed": read_seed,
    "since": read_version,
    "strategy": _strategy,
    "timeout_seconds": read_seconds,
    "title": read_string,
    "tolerance": _tolerance,
    "value": read_value,
    "warning": read_pattern,
    "workarounds": read_workarounds,
}
_OLD_NAMES = {"switches": "parameters", "remedies": "workarounds"}  # cases of the first version
