"""Folders and pages beside the index where the user keeps wheels: the ``find-links`` of pip and uv."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import Version

from harness.adapters.index.settings import index_settings


def local_versions(package: str) -> list[Version]:
    """Versions of a package of which a wheel lies in a folder among them, oldest first."""
    wanted, found = canonicalize_name(package), set()
    for folder in map(_folder, index_settings().find_links):
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
