"""Settings of a case's switches, as a user writes them: ``fault=silent_log``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches

from harness.domain.cases.case import Case
from harness.domain.errors import UsageError

Settings = tuple[tuple[str, str], ...]
"""(switch, value), sorted: the same settings are the same trial, however they were typed."""


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
    """Hold settings against the switches of the case; raises `UsageError` with near names."""
    for name, value in given.items():
        if not case.switches:
            raise UsageError(f"the case {case.name} has no switches", where=f"{where} {name}={value}", hint=_DECLARE)
        if name not in case.switches:
            told = f"the case {case.name} has no switch {name!r}"
            raise UsageError(told, where=where, hint=near(name, case.switches, "its switches"))
        if value not in case.switches[name]:
            told = f"the switch {name!r} of {case.name} has no value {value!r}"
            raise UsageError(told, where=where, hint=near(value, case.switches[name], "its values"))
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


_DECLARE = "declare it in the case: [tool.harness.switches] with name = [default, other, ...]"
