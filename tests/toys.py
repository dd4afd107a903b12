"""Real wheels and source distributions, written in a few milliseconds each.

The same toy is the same bytes each time, so an environment that one test built is known by its hashes in another.
"""

from __future__ import annotations

import base64
import csv
import gzip
import hashlib
import io
import re
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

GOOD = "def check(): return 0"
TABLE = Path(__file__).parent / "packages" / "toys.toml"


@dataclass(frozen=True, kw_only=True)
class Toy:
    """One release of a toy package.

    Attributes:
        source: Body of ``__init__.py``; ``__version__`` is put before it.
        module: Package folder it installs; "" for its own name.
        build_backend: Source of an in-tree build backend; the release then is a source distribution.
        members: Further files of the wheel by their name in the archive.
        plants: What is special about it.
    """

    name: str = "toykeras"
    version: str
    source: str = GOOD
    module: str = ""
    requires: tuple[str, ...] = ()
    requires_python: str | None = None
    yanked: str | None = None
    uploaded: datetime | None = None
    build_backend: str = ""
    members: Mapping[str, bytes] = field(default_factory=dict)
    plants: str = ""

    @property
    def metadata(self) -> str:
        """Core metadata; complete in a source distribution too, so that resolving builds nothing."""
        lines = ["Metadata-Version: 2.2", f"Name: {self.name}", f"Version: {self.version}"]
        lines += [f"Requires-Python: {self.requires_python}"] if self.requires_python else []
        extras = sorted({word for text in self.requires for word in re.findall(r'extra == "([^"]+)"', text)})
        lines += [f"Provides-Extra: {extra}" for extra in extras]
        return "\n".join([*lines, *(f"Requires-Dist: {text}" for text in self.requires)]) + "\n"


def table() -> list[Toy]:
    """All toys of ``packages/toys.toml``."""
    rows: list[dict[str, Any]] = tomllib.loads(TABLE.read_text(encoding="utf-8"))["toy"]
    return [Toy(**{**row, "requires": tuple(row.get("requires", ()))}) for row in rows]


def write(toy: Toy, folder: Path) -> Path:
    """Write the release's one file."""
    return _write_sdist(toy, folder) if toy.build_backend else _write_wheel(toy, folder)


def _write_wheel(toy: Toy, folder: Path) -> Path:
    stem = f"{toy.name.replace('-', '_')}-{toy.version}"
    module = toy.module or toy.name.replace("-", "_")
    members = {
        f"{module}/__init__.py": f"__version__ = {toy.version!r}\n{toy.source}\n".encode(),
        **toy.members,
        f"{stem}.dist-info/METADATA": toy.metadata.encode(),
        f"{stem}.dist-info/WHEEL": b"Wheel-Version: 1.0\nGenerator: toys\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    path = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(_entry(name), content)
        record = f"{stem}.dist-info/RECORD"
        archive.writestr(_entry(record), _record(members, record))
    return path


def _entry(name: str) -> zipfile.ZipInfo:
    """A member of a wheel whose date is not the hour in which the test runs."""
    made = zipfile.ZipInfo(name)
    made.compress_type = zipfile.ZIP_DEFLATED
    made.external_attr = 0o600 << 16
    return made


def _record(members: Mapping[str, bytes], own: str) -> str:
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    for name, content in members.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        rows.writerow([name, f"sha256={digest}", len(content)])
    rows.writerow([own, "", ""])
    return text.getvalue()


def _write_sdist(toy: Toy, folder: Path) -> Path:
    stem = f"{toy.name.replace('-', '_')}-{toy.version}"
    members = {
        "PKG-INFO": toy.metadata,
        "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
        f'[project]\nname = "{toy.name}"\nversion = "{toy.version}"\n',
        "backend.py": toy.build_backend,
    }
    path = folder / f"{stem}.tar.gz"
    with gzip.GzipFile(path, "wb", mtime=0) as packed, tarfile.open(fileobj=packed, mode="w") as archive:
        for name, text in members.items():
            entry = tarfile.TarInfo(f"{stem}/{name}")
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return path
