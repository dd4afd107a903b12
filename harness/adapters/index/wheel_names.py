"""Which files a wheel holds, by its directory at the end alone: of TensorFlow's 250 MB that is one."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence

import requests
from packaging.tags import sys_tags
from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import InvalidVersion, Version
from pypi_simple import DistributionPackage

from harness.adapters.index.address import with_password, without_password
from harness.adapters.index.deadline import within
from harness.adapters.index.package_index import TIMEOUT_SECONDS
from harness.domain.errors import Untestable

TAIL = 1 << 16  # bytes that are asked for first; they hold the whole directory of a small wheel
LARGEST_DIRECTORY = 50_000_000  # bytes; that of a wheel with 20,000 files has two million
NAMES_SECONDS = 120.0


def wheel_of(files: Sequence[DistributionPackage], version: str) -> DistributionPackage | None:
    """The wheel of one version for this machine; one for another machine or interpreter where none fits."""
    wheels = [file for file in files if file.package_type == "wheel" and _is(file, version)]
    rank = {tag: place for place, tag in enumerate(sys_tags())}

    def worth(file: DistributionPackage) -> tuple[int, str]:
        try:
            tags = parse_wheel_filename(file.filename)[3]
        except InvalidWheelFilename:
            tags = frozenset()
        return min((rank.get(tag, len(rank)) for tag in tags), default=len(rank)), file.filename

    return min(wheels, key=worth, default=None)


def names(url: str) -> tuple[str, ...]:
    """The names of the files in a wheel, read by ranged requests.

    Raises:
        Untestable: it is no archive, or its directory is too large.
        requests.RequestException, TimeoutError: the index does not send it.
    """
    try:
        return within(NAMES_SECONDS, lambda: _names(with_password(url)))
    except (zipfile.BadZipFile, ValueError, OSError) as error:
        if isinstance(error, requests.RequestException | TimeoutError):
            raise
        name = without_password(url).rsplit("/", 1)[-1]
        raise Untestable(f"the wheel's list of files cannot be read: {error}", where=name) from error


def _names(url: str) -> tuple[str, ...]:
    with requests.Session() as session:
        tail, size = _end(session, url, TAIL)
        start = _directory_start(tail, size)
        if start < size - len(tail):
            tail, size = _end(session, url, size - start)
        # Offsets in a zip archive may be off by what stands before it, so the end alone is an archive too.
        with zipfile.ZipFile(io.BytesIO(tail)) as archive:
            return tuple(archive.namelist())


def _directory_start(tail: bytes, size: int) -> int:
    """Where the central directory begins, as the end of the archive says."""
    place = tail.rfind(b"PK\5\6")
    if place < 0 or place + 20 > len(tail):
        raise ValueError("it is no zip archive")
    length = int.from_bytes(tail[place + 12 : place + 16], "little")
    return max(0, size - (len(tail) - place) - length - 100)  # a few more: records of large archives stand between


def _end(session: requests.Session, url: str, count: int) -> tuple[bytes, int]:
    """The last bytes of a file, and its size; the whole file where the index answers with it."""
    if count > LARGEST_DIRECTORY:
        raise ValueError(f"its directory is larger than {LARGEST_DIRECTORY} bytes")
    headers = {"Range": f"bytes=-{count}", "Accept-Encoding": "identity"}
    with session.get(url, headers=headers, stream=True, timeout=TIMEOUT_SECONDS) as answer:
        answer.raise_for_status()
        body = bytearray()
        for chunk in answer.iter_content(1 << 16):
            body += chunk
            if len(body) > LARGEST_DIRECTORY:
                raise ValueError(f"more than {LARGEST_DIRECTORY} bytes came")
        total = answer.headers.get("Content-Range", "").rpartition("/")[2]
        return bytes(body), int(total) if answer.status_code == 206 and total.isdecimal() else len(body)


def _is(file: DistributionPackage, version: str) -> bool:
    try:
        return Version(file.version or "") == Version(version)
    except InvalidVersion:
        return False
