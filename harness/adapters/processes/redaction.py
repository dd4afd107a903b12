"""Credentials are redacted in everything that is shown or kept, and put back where a child process needs them.

Two kinds are known: credentials inside addresses (``https://user:password@host``, ``?token=...``), by their place, and
values of environment variables that are named like secrets, wherever they stand. Values are redacted at the very end,
in texts; never the structure around them. Addresses that were read in this process are remembered, so that a
requirement that was redacted can be installed; they are never written.
"""

from __future__ import annotations

import dataclasses
import netrc
import os
import re
import threading
from collections.abc import Iterable, Mapping
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import TypeVar, cast
from urllib.parse import quote, urlsplit

from harness.adapters.index.address import with_password
from harness.domain.errors import UsageError

REDACTED = "***"
SHORTEST = 8  # characters; a shorter value would redact ordinary words

T = TypeVar("T")

_SECRET_NAME = re.compile(
    r"(?i)passw|token|secret|credential|api_?key|private_?key|access_?key|(?:^|_)(?:auth|pass|pat)(?:_|$)"
)
_NUMBER = re.compile(r"[\d.,:+-]+")
_WORDS = re.compile(r"(?:[A-Z]?[a-z]+|[A-Z]+)(?:[-_. /:]?(?:[A-Z]?[a-z]+|[A-Z]+))?")
_PATH = re.compile(r"(?:~|\.{1,2})?/|[A-Za-z]:[\\/]|file:")
_USERINFO = re.compile(r"(?<=://)(?!git@)[^/\s\"'\\<>?#]+(?=@)")
_QUERY = re.compile(
    r"(?i)(?<=[?&;])((?:[\w-]*(?:token|secret|passw(?:or)?d|signature|credential|api_?key|access_?key)|auth|sig|key)=)"
    r"[^&;#\s\"'<>]+"
)
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s\"'<>]+")
_MARKED = re.compile(rf"(?<=://){re.escape(REDACTED)}@|=({re.escape(REDACTED)})(?=[&;#\s]|$)")

_known: dict[str, str] = {}
_guard = threading.Lock()


def redacted(text: str) -> str:
    """Return the text without credentials in addresses and without values of variables that are named like secrets."""
    return _redacted(text, secrets())


def clean(value: T) -> T:
    """The same value with every text in it redacted: fields, elements and values; names and choices stay."""
    return cast("T", _clean(value, secrets()))


def has_credentials(text: str) -> bool:
    """Whether an address in the text carries credentials."""
    return _redacted(text, ()) != text


def remember(texts: Iterable[str]) -> None:
    """Remember the addresses with credentials in these texts, for `restored`."""
    for text in texts:
        for address in _ADDRESS.findall(text):
            if has_credentials(address):
                with _guard:
                    _known[_redacted(address, ())] = address


def restored(line: str) -> str:
    """A requirement as an installer needs it: with the credentials that were redacted in its address.

    They are taken from what was read in this process, from the address of the index, or left to ``.netrc``.

    Raises:
        UsageError: they are known no longer and must be given again.
    """
    return _ADDRESS.sub(lambda found: _restored(found[0]), line) if REDACTED in line else line


def _restored(address: str) -> str:
    if not _MARKED.search(address):
        return address
    with _guard:
        for kept, original in _known.items():
            if address == kept:
                return original
    bare = _MARKED.sub("", address)
    if "=" + REDACTED not in address and ((full := with_password(bare)) != bare or _in_netrc(bare)):
        return full
    raise UsageError(
        "a package is at an address whose credentials are not kept",
        where=address,
        hint="give them again: by --with 'NAME @ ADDRESS', in the case, in the address of the index, or in ~/.netrc",
    )


def _in_netrc(address: str) -> bool:
    """Whether uv finds the credentials of a host by itself."""
    path = os.environ.get("NETRC") or str(Path.home() / ".netrc")
    try:
        return netrc.netrc(path).authenticators(urlsplit(address).hostname or "") is not None
    except (OSError, netrc.NetrcParseError, ValueError):
        return False


def named_like_secret(name: str) -> bool:
    """Whether a variable of this name holds a secret, as far as a name can tell."""
    return _SECRET_NAME.search(name) is not None


def secrets() -> tuple[str, ...]:
    """Values of the environment that are secret, longest first, so that no value is replaced in part."""
    named = sorted((name, value) for name, value in os.environ.items() if named_like_secret(name))
    return _secrets(tuple(named))


@lru_cache(maxsize=8)
def _secrets(named: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    lines = {line.strip() for _, value in named for line in (value, *value.splitlines())}
    found = {line for line in lines if is_secret(line)}
    return tuple(sorted(found | {quote(line, safe="") for line in found}, key=len, reverse=True))


def is_secret(value: str) -> bool:
    """Whether a value is worth redacting: numbers, paths and one or two plain words stand in ordinary text too."""
    if len(value) < SHORTEST or _NUMBER.fullmatch(value) or _WORDS.fullmatch(value) or _is_path(value):
        return False
    return value not in {part for place in (Path.cwd(), Path.home()) for part in place.parts}


def _is_path(value: str) -> bool:
    if not _PATH.match(value):
        return False
    return not value.startswith("/") or os.path.lexists("/" + value.split("/")[1])


def _redacted(text: str, hidden: Iterable[str]) -> str:
    for value in hidden:
        text = text.replace(value, REDACTED)
    if "://" not in text:
        return text
    return _QUERY.sub(rf"\1{REDACTED}", _USERINFO.sub(REDACTED, text))


def _clean(value: object, hidden: tuple[str, ...]) -> object:
    """Redact a value; what has nothing to redact is returned itself."""
    if isinstance(value, Enum) or value is None or isinstance(value, (int, float, bytes)):
        return value
    if isinstance(value, str):
        return _redacted(value, hidden)
    if isinstance(value, Mapping):
        items = {key: _clean(one, hidden) for key, one in value.items()}
        return items if any(items[key] is not one for key, one in value.items()) else value
    if isinstance(value, (tuple, list)):
        parts = [_clean(one, hidden) for one in value]
        return type(value)(parts) if any(a is not b for a, b in zip(parts, value, strict=True)) else value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value) if field.init}
        changed = {name: one for name, old in fields.items() if (one := _clean(old, hidden)) is not old}
        return dataclasses.replace(value, **changed) if changed else value
    return value
