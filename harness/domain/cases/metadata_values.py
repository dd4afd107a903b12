"""Single values of a case's metadata: each is read, or refused with its file, its key and what was expected."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import Enum

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from harness.domain.errors import UsageError

_NAME = "[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"


def refused(path: str, key: str, expected: str, got: object) -> UsageError:
    """The error for a value that a key does not take."""
    shown = repr(got)
    place = "" if path.endswith(".toml") else " in the '# /// script' block at the top of the file"
    return UsageError(
        f"bad value for {key!r}: expected {expected}, got {shown if len(shown) < 80 else shown[:77] + '...'}",
        where=path,
        hint=f"correct {key!r}{place}",
    )


def read_string(path: str, key: str, value: object) -> str:
    """Read text that is not blank."""
    if not isinstance(value, str) or not value.strip():
        raise refused(path, key, "a non-empty string", value)
    return value


def read_strings(path: str, key: str, value: object) -> tuple[str, ...]:
    """Read a list of any strings."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise refused(path, key, "a list of strings", value)
    return tuple(value)


def read_requirements(path: str, key: str, value: object) -> tuple[str, ...]:
    """Read requirements as PEP 508 writes them."""
    texts = read_strings(path, key, value)
    for text in texts:
        try:
            Requirement(text)
        except InvalidRequirement:
            raise refused(path, key, "requirements such as 'numpy<2.1'", text) from None
    return texts


def read_package(path: str, key: str, value: object) -> str:
    """Read the name of one distribution, with extras or not, without a version."""
    text = read_string(path, key, value)
    if not re.fullmatch(rf"{_NAME}(?:\[\s*{_NAME}(?:\s*,\s*{_NAME})*\s*\])?", text):
        raise refused(path, key, "a distribution name", value)
    return text


def split_extras(package: str) -> tuple[str, tuple[str, ...]]:
    """The name of a distribution, and its extras in order: ``jax[cpu]`` is jax with cpu."""
    name, _, extras = package.partition("[")
    return name, tuple(sorted({extra.strip() for extra in extras.rstrip("]").split(",") if extra.strip()}))


def read_specifier(path: str, key: str, value: object) -> str:
    """Read which versions are taken, such as ``>=3.10,<3.12``."""
    text = read_string(path, key, value)
    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        raise refused(path, key, "versions such as '>=3.10,<3.12'", value) from None
    return text


def is_variable(name: str) -> bool:
    """Whether a trial can have an environment variable of this name; those of the harness are its own."""
    return re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) is not None and not name.startswith("HARNESS_")


def read_variables(path: str, key: str, value: object) -> dict[str, str]:
    """Read a table of environment variables."""
    if not isinstance(value, Mapping):
        raise refused(path, key, "a table of NAME = 'value'", value)
    for name, one in value.items():
        if not isinstance(one, str) or "\0" in one or not is_variable(name):
            raise refused(path, f"{key}.{name}", "NAME = 'value', and no name that begins with HARNESS_", one)
    return dict(value)


def read_version(path: str, key: str, value: object) -> str:
    """Read one version."""
    text = read_string(path, key, value)
    try:
        Version(text)
    except InvalidVersion:
        raise refused(path, key, "a version such as '3.5.0'", value) from None
    return text


def read_count(path: str, key: str, value: object) -> int:
    """Read a whole number from 1."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise refused(path, key, "a whole number from 1", value)
    return value


def read_seed(path: str, key: str, value: object) -> int:
    """Read what ``keras.utils.set_random_seed`` takes."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**32:
        raise refused(path, key, "a whole number from 0 to 2**32 - 1", value)
    return value


def read_seconds(path: str, key: str, value: object) -> float:
    """Read a duration of at most a day."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= 86_400:
        raise refused(path, key, "seconds, above 0 and at most 86400", value)
    return float(value)


def read_choice(kind: type[Enum]) -> Callable[[str, str, object], Enum]:
    """Return a reader for the values of an enumeration."""

    def read(path: str, key: str, value: object) -> Enum:
        try:
            return kind(value)
        except ValueError:
            raise refused(path, key, "one of " + ", ".join(member.value for member in kind), value) from None

    return read
