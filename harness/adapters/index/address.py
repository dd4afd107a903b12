"""The address of the package index, with its password and without."""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit

from harness.adapters.index.settings import index_settings


def index_address() -> str:
    """Address of the simple index: by the usual variables and files of uv and pip, else the library's default."""
    return index_settings().default


def without_password(address: str) -> str:
    """An address as it may be stored: without user and password."""
    parts = urlsplit(address)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def with_password(address: str) -> str:
    """An address below one of the indexes as it must be requested: with the user and password of that index."""
    target = urlsplit(address)
    settings = index_settings()
    for index in (settings.default, *settings.extra, *settings.find_links):
        own = urlsplit(index)
        if own.netloc and (own.scheme, own.netloc.rpartition("@")[2]) == (target.scheme, target.netloc):
            return urlunsplit(target._replace(netloc=own.netloc))
    return address
