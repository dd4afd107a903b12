"""Folders and pages beside the index where the user keeps wheels: the ``find-links`` of pip and uv."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import Version

FIND_LINKS_VARIABLES = ("UV_FIND_LINKS", "PIP_FIND_LINKS")


def find_links() -> tuple[str, ...]:
    """The places that the user's variables name: uv's where it is set, else pip's."""
    for name in FIND_LINKS_VARIABLES:
        if places := [place for place in re.split(r"[\s,]+", os.environ.get(name, "")) if place]:
            return tuple(places)
    return ()


def local_versions(package: str) -> list[Version]:
    """Versions of a package of which a wheel lies in a folder among them, oldest first."""
    wanted, found = canonicalize_name(package), set()
    for folder in map(_folder, find_links()):
        for wheel in folder.glob("*.whl") if folder is not None and folder.is_dir() else ():
            try:
                name, version, _, _ = parse_wheel_filename(wheel.name)
            except InvalidWheelFilename:
                continue
            if name == wanted:
                found.add(version)
    return sorted(found)


def _folder(place: str) -> Path | None:
    parts = urlsplit(place)
    if parts.scheme == "file":
        return Path(unquote(parts.path))
    return Path(place) if not parts.scheme else None
