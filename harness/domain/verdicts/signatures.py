"""What identifies a failure: two failures with one signature are taken for the same one."""

from __future__ import annotations

import re

_RULES = (
    (re.compile(r"0x[0-9a-fA-F]+"), "<address>"),
    (re.compile(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"), "<id>"),
    (re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{12,}\b"), "<id>"),
    (re.compile(r"(?:\b[A-Za-z]:)?(?:[\\/][\w.+@~-]+){2,}[\\/]?"), "<path>"),
    (re.compile(r"(?<![A-Za-z])[-+]?\d+(?:\.\d+)*(?:[eE][-+]?\d+)?"), "<n>"),
    (re.compile(r"<n>(?:(?:, ?| ?x ?)<n>)+"), "<n>"),
    (re.compile(r"\s+"), " "),
)
"""In this order: addresses and paths hold digits. A path has two parts at least, so "and/or" stays a word;
digits inside a name such as float32 or conv2d tell failures apart and stay."""

LONGEST = 200
"""Messages can carry a whole tensor or graph; what is beyond this many characters identifies nothing."""


def normalised(message: str) -> str:
    """The first line of a message without what differs from run to run: numbers, addresses, paths, ids."""
    text = next((line for line in message.splitlines() if line.strip()), "")
    for pattern, stands_for in _RULES:
        text = pattern.sub(stands_for, text)
    return text.strip()[:LONGEST]


def signature(symptom: str, *, exception: str | None = None, message: str = "", first_name: str = "") -> str:
    """Join what identifies a failure.

    Args:
        symptom: Value of the symptom.
        exception: Qualified type of the exception, or how else the trial ended.
        message: Its message, as raised.
        first_name: Name of the first value that stopped being finite.
    """
    return " | ".join(part for part in (symptom, exception or "", normalised(message), first_name) if part)
