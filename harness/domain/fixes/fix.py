"""A named patch that is applied in a trial's process, or to a copy of the package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Fix:
    """One fix.

    Attributes:
        name: As reported.
        path: Module with ``apply()``, or the patch file.
        digest: Hash of what it does.
        options: Keyword arguments of ``apply()``.
        patches_files: Whether `path` is a patch that is applied to a copy of the package's tree.
        files: Instead of a patch, the files of the copy that are replaced, with their text; None: the file is removed.
        measured: Whether a trial notes which modules of the copy it imports.
    """

    name: str
    path: str
    digest: str
    options: Mapping[str, str] = field(default_factory=dict)
    patches_files: bool = False
    files: Mapping[str, str | None] | None = None
    measured: bool = False
