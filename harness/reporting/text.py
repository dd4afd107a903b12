"""Text from outside (exceptions, output, package names) made safe to show: no control characters, bounded."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping

LIMIT = 300


def command(text: str) -> str:
    """A command that can be pasted: nothing is cut or folded, control characters become spaces."""
    text = re.sub(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?)", "", text)
    return text.translate({ord(c): " " for c in set(text) if unicodedata.category(c)[0] == "C"})


def clean(text: str, limit: int = LIMIT) -> str:
    """One line without control characters (terminal escapes, bidirectional overrides), cut to `limit`."""
    line = " ".join(command(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def lines(text: str) -> str:
    """Several lines, each without control characters."""
    return "\n".join(command(line) for line in text.splitlines())


def anchor(text: str) -> str:
    """A name for a place in a page, of letters that need no escape."""
    return re.sub(r"[^A-Za-z0-9.-]+", "-", clean(text, 80)).strip("-") or "unnamed"


def markdown(text: str, limit: int = LIMIT) -> str:
    """Clean text in which nothing is Markdown, HTML or a mention."""
    escaped = re.sub(r"(^>|[\\`*_{}\[\]<#|~&])", r"\\\1", clean(text, limit))
    return escaped.replace("@", "@\u200b")


def code(text: str, limit: int = LIMIT) -> str:
    """Clean text in a code span; a backtick would end it, and nothing can escape one there."""
    return f"`{clean(text, limit).replace('`', chr(39))}`"


def fenced(text: str, language: str) -> str:
    """Several lines as a code block; the fence is longer than any run of backticks inside."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{lines(text)}\n{fence}"


def number(value: float) -> str:
    """A metric as people compare them: six significant digits; NaN and inf in words."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return f"{value:.6g}"


def key_numbers(numbers: Mapping[str, float], limit: int = 2) -> str:
    """The first few final metrics in one cell."""
    shown = [
        f"{clean(name, 40)} {number(value)}" for name, value in numbers.items() if not name.startswith("evaluate.")
    ]
    return ", ".join(shown[:limit])


def seconds(value: float) -> str:
    """A duration."""
    return f"{value:.1f} s" if value < 120 else f"{value / 60:.1f} min"
