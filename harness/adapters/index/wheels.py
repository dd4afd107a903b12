"""Read single files out of wheels without installing anything."""

from __future__ import annotations

import hashlib
import re
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

import requests

from harness.adapters.index.address import with_password
from harness.adapters.index.deadline import within
from harness.adapters.index.package_index import TIMEOUT_SECONDS
from harness.adapters.storage.files import disk_errors
from harness.adapters.storage.home import Home
from harness.domain.errors import InfrastructureError, Untestable
from harness.domain.releases.index_page import WheelFile

LARGEST_WHEEL = 50_000_000  # bytes; a pure-Python wheel of Keras has two million
WHEEL_SECONDS = 300.0  # for a whole wheel
LARGEST_FILE = 5_000_000  # bytes after unpacking; a hostile wheel may claim far more

_UNREADABLE = (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError, ValueError)  # encrypted: RuntimeError
_HINT = "check the address of the index and its credentials, then run the same command again"


def read_files(home: Home, package: str, version: str, wheel: WheelFile, names: Sequence[str]) -> dict[str, str]:
    """Return the text of the named files of one wheel; those that it lacks are absent.

    The wheel is fetched once, checked against its hash, and stored in the cache.

    Raises:
        Untestable: the wheel is too large, or is broken although its hash is the published one.
        InfrastructureError: the index does not answer, or sends what it did not publish.
    """
    name = f"{package}-{version}-{(wheel.sha256 or 'unhashed')[:16]}.whl"
    path = home.folder("wheels") / re.sub(r"[^A-Za-z0-9._+!-]", "_", name)  # an index may answer anything
    if path.exists():
        try:
            return _members(path, names)
        except _UNREADABLE:  # damaged since it was fetched
            path.unlink(missing_ok=True)
    _fetch_in_time(wheel, path)
    try:
        return _members(path, names)
    except _UNREADABLE as error:
        path.unlink(missing_ok=True)
        what, where = f"the wheel cannot be read: {error}", f"{package} {version}"
        if wheel.sha256:
            raise Untestable(what, where=where) from error
        raise InfrastructureError(what, where=where, hint=_HINT) from error  # an index without hashes may send anything


def _members(path: Path, names: Sequence[str]) -> dict[str, str]:
    with zipfile.ZipFile(path) as archive:
        return {name: _member(archive, name) for name in names if name in archive.NameToInfo}


def _member(archive: zipfile.ZipFile, name: str) -> str:
    if archive.getinfo(name).file_size > LARGEST_FILE:
        raise Untestable(f"{name} is larger than {LARGEST_FILE} bytes", where=str(archive.filename))
    return archive.read(name).decode("utf-8", "replace")


def _fetch_in_time(wheel: WheelFile, path: Path) -> None:
    try:
        within(WHEEL_SECONDS, lambda: _fetch(wheel, path))
    except TimeoutError as error:
        raise InfrastructureError(
            f"the wheel cannot be fetched: {error}", where=path.name, hint="run the same command again"
        ) from error


def _fetch(wheel: WheelFile, path: Path) -> None:
    hashed, size = hashlib.sha256(), 0
    partial = path.with_suffix(f".{id(wheel)}.partial")
    try:
        with (
            requests.get(with_password(wheel.url), stream=True, timeout=TIMEOUT_SECONDS) as answer,
            disk_errors(path, "free some space"),
        ):
            answer.raise_for_status()
            with partial.open("wb") as file:
                for chunk in answer.iter_content(1 << 16):
                    size += len(chunk)
                    hashed.update(chunk)
                    file.write(chunk)
                    if size > LARGEST_WHEEL:
                        raise Untestable(f"the wheel is larger than {LARGEST_WHEEL} bytes", where=path.name)
        if wheel.sha256 and hashed.hexdigest() != wheel.sha256:
            raise InfrastructureError(
                "the wheel's hash is not the one that the index promised", where=path.name, hint=_HINT
            )
        partial.replace(path)
    except requests.RequestException as error:
        raise InfrastructureError(
            f"the wheel cannot be fetched: {type(error).__name__}", where=path.name, hint="run the same command again"
        ) from error
    finally:
        partial.unlink(missing_ok=True)
