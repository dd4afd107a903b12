"""The address of the package index, with its password and without."""

from __future__ import annotations

import os
from urllib.parse import urlsplit, urlunsplit

from pypi_simple import PYPI_SIMPLE_ENDPOINT

ADDRESS_VARIABLES = ("HARNESS_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL")


def index_address() -> str:
    """Address of the simple index: the usual pip and uv variables, else the library's default."""
    for name in ADDRESS_VARIABLES:
        if address := os.environ.get(name, "").strip():
            return address
    return PYPI_SIMPLE_ENDPOINT


def without_password(address: str) -> str:
    """An address as it may be stored: without user and password."""
    parts = urlsplit(address)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def with_password(address: str) -> str:
    """An address below the index as it must be requested: with the user and password of the index."""
    own, target = urlsplit(index_address()), urlsplit(address)
    same = (own.scheme, own.netloc.rpartition("@")[2]) == (target.scheme, target.netloc)
    return urlunsplit(target._replace(netloc=own.netloc)) if same else address
