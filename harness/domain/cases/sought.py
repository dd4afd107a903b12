"""What a case looks for beside its end: a value, a warning, a failure of one kind; each is read or refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

from harness.domain.cases.case import Case, Level
from harness.domain.cases.metadata_values import read_string, read_strings, read_version, refused
from harness.domain.cases.shapes.runners import Runner
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import UsageError

JSON_KEY = "json:"
"""A value that begins so names a key of the last line of JSON that a trial prints."""

SOUGHT = ("value", "equals", "reference", "warning", "match", "python_flags")
"""The fields of a case that say it."""

_FLAGS = re.compile(r"-(?:[WX].*|O{1,2}|b{1,2}|[BEIPRSdqsuv]|v{2,3})", re.DOTALL)
_TAKE_A_WORD = ("-W", "-X")


def read_pattern(path: str, key: str, value: object) -> str:
    """Read a regular expression."""
    text = read_string(path, key, value)
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise refused(path, key, f"a regular expression ({error})", value) from None
    return text


def read_value(path: str, key: str, value: object) -> str:
    """Read where a value stands: a regular expression with at most one group, or ``json:KEY``."""
    text = read_pattern(path, key, value)
    if text.startswith(JSON_KEY):
        if not text.removeprefix(JSON_KEY).strip():
            raise refused(path, key, "a key, such as 'json:loss'", value)
    elif re.compile(text).groups > 1:
        raise refused(path, key, "a regular expression with at most one group; (?:...) makes none", value)
    return text


def read_equals(path: str, key: str, value: object) -> str:
    """Read what a value should be: a number or a text."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return repr(value)
    return read_string(path, key, value)


def read_flags(path: str, key: str, value: object) -> tuple[str, ...]:
    """Read options of the interpreter that leave it to run a script: ``["-W", "error::FutureWarning"]``."""
    flags = read_strings(path, key, value)
    words = iter(flags)
    for word in words:
        missing = word in _TAKE_A_WORD and next(words, None) is None
        if missing or not _FLAGS.fullmatch(word):
            raise refused(path, key, "options of Python such as '-W', 'error::FutureWarning'", value)
    return flags


_READERS: dict[str, Callable[[str, str, object], object]] = {
    "value": read_value,
    "equals": read_string,
    "reference": read_version,
    "warning": read_pattern,
    "match": read_pattern,
    "python_flags": lambda path, key, words: read_flags(path, key, [*words]) if isinstance(words, tuple) else words,
}


def looking_for(case: Case, given: Mapping[str, str | tuple[str, ...]], asked: Collection[Symptom] = ()) -> Case:
    """The case with what a request looks for instead of what it says itself.

    Args:
        case: The case.
        given: By the names of the metadata.
        asked: Symptoms that are asked for.

    Raises:
        UsageError: naming the option and what was expected.
    """
    read: dict[str, Any] = {}
    for name, text in given.items():
        option = "--python-flag" if name == "python_flags" else f"--{name}"
        read[name] = _READERS[name](option, name, text)
    if "equals" in read:
        read.setdefault("reference", "")
    if "reference" in read:
        read.setdefault("equals", "")
    if Symptom.IMPORT_ERROR in asked and case.expects is None:
        read["expects"] = Symptom.IMPORT_ERROR
    return check_sought(replace(case, **read), asked)


def check_sought(case: Case, asked: Collection[Symptom] = ()) -> Case:
    """Return the case; raises `UsageError` where what it looks for cannot be found in this way."""
    where = 'say where it stands: value = "loss: (.*)", or --value'
    if case.equals and not case.value:
        raise _unclear(case, "equals", "it says what a value should be, but not which", where)
    if case.equals and case.reference:
        raise _unclear(case, "equals", "the reference release says what the value should be", "keep one of the two")
    if case.reference and case.level is Level.SCRIPT and not case.value:
        raise _unclear(case, "reference", "of a script there must be a value to compare", where)
    wanted = {case.expects, *asked}
    if Symptom.WARNING in wanted and not case.warning:
        raise _unclear(case, "expects", "which warning?", 'say it: warning = "some words of it", or --warning')
    if Symptom.CHANGED_VALUE in wanted and not (case.value or case.reference):
        raise _unclear(case, "expects", "which value?", where)
    if case.python_flags and case.runner is Runner.COMMAND:
        raise _unclear(case, "python_flags", "a command starts Python itself", "write them into the command")
    if case.python_flags and case.level is Level.MODEL:
        hint = "write the case as a script; the probe runs a model in a process of its own"
        raise _unclear(case, "python_flags", "options of Python are for scripts", hint)
    return case


def _unclear(case: Case, key: str, what: str, hint: str) -> UsageError:
    return UsageError(f"bad value for {key!r}: {what}", where=case.path, hint=hint)
