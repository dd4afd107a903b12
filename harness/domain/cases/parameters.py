"""Settings of a case's parameters, as a user writes them: ``fault=silent_log``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches

from harness.domain.cases.case import Case
from harness.domain.errors import UsageError

Settings = tuple[tuple[str, str], ...]
"""(parameter, value), sorted: the same settings are the same trial, however they were typed."""


def parse(case: Case, texts: Iterable[str], *, where: str = "--set") -> Settings:
    """Read ``NAME=VALUE`` texts and check them; raises `UsageError` naming what is wrong, with near names."""
    given: dict[str, str] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign:
            raise UsageError(
                f"{text!r} sets nothing", where=where, hint="write it as NAME=VALUE, for example fault=none"
            )
        if given.get(name, value) != value:
            raise UsageError(f"{name!r} is set twice", where=f"{where} {given[name]} and {value}", hint="keep one")
        given[name] = value
    return check(case, given, where=where)


def check(case: Case, given: Mapping[str, str], *, where: str) -> Settings:
    """Hold settings against the parameters of the case; raises `UsageError` with near names."""
    for name, value in given.items():
        if not case.parameters:
            raise UsageError(f"the case {case.name} has no parameters", where=f"{where} {name}={value}", hint=_DECLARE)
        if name not in case.parameters:
            what = f"the case {case.name} has no parameter {name!r}"
            raise UsageError(what, where=where, hint=near(name, case.parameters, "its parameters"))
        if value not in case.parameters[name]:
            what = f"the parameter {name!r} of {case.name} has no value {value!r}"
            raise UsageError(what, where=where, hint=near(value, case.parameters[name], "its values"))
    return tuple(sorted(given.items()))


def merge(*parts: Mapping[str, str] | Settings) -> dict[str, str]:
    """Lay settings over each other; the later ones win."""
    merged: dict[str, str] = {}
    for part in parts:
        merged.update(part)
    return merged


def words(options: Settings) -> list[str]:
    """The settings as words of a command."""
    return [word for name, value in options for word in ("--set", f"{name}={value}")]


def near(word: str, known: Collection[str], called: str) -> str:
    """A hint: the nearest known word, and all of them."""
    found = get_close_matches(word, known, n=1)
    listed = f"{called}: {', '.join(known)}"
    return f"did you mean {found[0]!r}? {listed}" if found else listed


_DECLARE = "declare it in the case: [tool.harness.parameters] with name = [default, other, ...]"
