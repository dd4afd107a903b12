"""Secrets of the user's environment, masked in whatever a child process printed before anybody keeps it."""

from __future__ import annotations

import os
import re

MASK = "***"
SHORTEST = 6  # characters; a shorter value would blank out ordinary words
_SECRET_NAME = re.compile(r"(?i)passw|token|secret|credential|api_?key|private_?key|auth")
_USERINFO = re.compile(r"(?<=://)[^/\s@\"'\\]+(?=@)")


def redacted(text: str) -> str:
    """Return the text without passwords in addresses and without values of variables that are named like secrets."""
    for value in _secrets():
        text = text.replace(value, MASK)
    return _USERINFO.sub(MASK, text)


def _secrets() -> list[str]:
    """Longest first, so that no value is left half."""
    found = {value for name, value in os.environ.items() if _SECRET_NAME.search(name) and len(value) >= SHORTEST}
    return sorted(found, key=len, reverse=True)
