"""A value as it is read from what a trial showed: numbers by name, or text."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from harness.domain.cases.sought import JSON_KEY

LONGEST = 200
"""So many characters of a text identify it."""

VALUE = "value"
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What was read; `numbers` is empty where it is no number.

    Attributes:
        text: The value as it stood there.
        numbers: The same as numbers by name.
    """

    text: str
    numbers: Mapping[str, float] = field(default_factory=dict)


def reading(text: str) -> Reading:
    """Read one value; ``nan`` and ``inf`` are numbers too."""
    stripped = text.strip()[:LONGEST]
    try:
        return Reading(text=stripped, numbers={VALUE: float(stripped)})
    except ValueError:
        return Reading(text=stripped)


def printed_value(where: str, output: str) -> Reading | None:
    """The last value that a trial printed.

    Args:
        where: A regular expression, whose group is the value if it has one, or ``json:KEY``, with dots between keys of
            tables in tables.
        output: What it printed.
    """
    plain = _COLOURS.sub("", output)
    if where.startswith(JSON_KEY):
        keys = where.removeprefix(JSON_KEY).strip().split(".")
        found = next(_json_values(keys, plain), None)
    else:
        matches = list(re.finditer(where, plain, re.MULTILINE))
        found = matches[-1].group(matches[-1].re.groups) if matches else None
    return None if found is None else reading(found)


def numbers_as_reading(numbers: Mapping[str, float]) -> Reading | None:
    """All numbers of a training as one value; None where there are none."""
    if not numbers:
        return None
    return Reading(text=", ".join(f"{name} {value:.6g}" for name, value in numbers.items()), numbers=dict(numbers))


def same(one: Reading, other: Reading, tolerance: float, floor: float) -> bool:
    """Whether two values are one within a relative tolerance; NaN and infinities equal themselves alone.

    Args:
        one: A value.
        other: Another one.
        tolerance: Relative to the larger magnitude.
        floor: Absolute difference that is none.
    """
    if one.numbers.keys() != other.numbers.keys() or not one.numbers:
        return one.text == other.text
    return all(_close(value, other.numbers[name], tolerance, floor) for name, value in one.numbers.items())


def _close(one: float, other: float, tolerance: float, floor: float) -> bool:
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return math.isclose(one, other, rel_tol=tolerance, abs_tol=floor)


def _json_values(keys: list[str], output: str) -> Iterator[str]:
    """Values under the keys in every line of JSON that has them, the last line first."""
    for line in reversed(output.splitlines()):
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            continue
        for key in keys:
            found = found.get(key) if isinstance(found, dict) else None
        if isinstance(found, str | int | float):
            yield str(found)
