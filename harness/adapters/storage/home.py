"""The user's cache folder: environments, index pages and finished trials, shared by all checkouts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from harness.adapters.storage.files import disk_errors
from harness.adapters.storage.scratch import scratch_folder, sweep


@dataclass(frozen=True)
class Home:
    """Folders below one root."""

    root: Path

    @classmethod
    def default(cls) -> Home:
        """``HARNESS_HOME`` or the user's cache folder."""
        override = os.environ.get("HARNESS_HOME")
        return cls(Path(override).absolute() if override else platformdirs.user_cache_path("regression-harness"))

    def folder(self, *parts: str) -> Path:
        """Return a folder below the root, made if missing; raises `InfrastructureError` when it cannot be."""
        path = self.root.joinpath(*parts)
        with disk_errors(path, "set HARNESS_HOME to a folder that can be written"):
            path.mkdir(parents=True, exist_ok=True)
        return path

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """A temporary folder that is removed at the end, whatever happened in it."""
        parent = self.folder("scratch")
        with disk_errors(parent, "free some space"), scratch_folder(parent) as made:
            yield made

    def sweep(self) -> None:
        """Remove the temporary folders that killed harnesses left behind; makes nothing."""
        place = self.root / "scratch"
        if place.is_dir():
            sweep(place)
