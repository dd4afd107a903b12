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
    """

    name: str
    path: str
    digest: str
    options: Mapping[str, str] = field(default_factory=dict)
    patches_files: bool = False
