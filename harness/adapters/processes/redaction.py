"""Secrets of the user's environment, redacted in what a child process printed before it is stored or shown."""

from __future__ import annotations

import os
import re

REDACTED = "***"
SHORTEST = 6  # characters; a shorter value would redact ordinary words
_SECRET_NAME = re.compile(r"(?i)passw|token|secret|credential|api_?key|private_?key|auth")
_USERINFO = re.compile(r"(?<=://)[^/\s@\"'\\]+(?=@)")


def redacted(text: str) -> str:
    """Return the text without passwords in addresses and without values of variables that are named like secrets."""
    for value in _secrets():
        text = text.replace(value, REDACTED)
    return _USERINFO.sub(REDACTED, text)


def _secrets() -> list[str]:
    """Longest first, so that no value is replaced in part."""
    found = {value for name, value in os.environ.items() if _SECRET_NAME.search(name) and len(value) >= SHORTEST}
    return sorted(found, key=len, reverse=True)
