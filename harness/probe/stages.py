"""How far a trial came: its stage, one of ``load``, ``devices``, ``fix``, ``data``, ``build``, ``train`` and so on.

The trial's process writes each stage into a small file when it enters it. The parent reads the file after the
process has ended, so the stage is known even of one that was killed.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable


def stage_marker(stage_file: str) -> Callable[[str], None]:
    """Return a function that writes the stage which the trial enters into ``stage_file``."""

    def enter(stage: str) -> None:
        pathlib.Path(stage_file).write_text(stage, encoding="utf-8")

    return enter


def reached(stage_file: str) -> str:
    """Return the last stage that was entered; ``load`` while none was."""
    try:
        return pathlib.Path(stage_file).read_text(encoding="utf-8") or "load"
    except OSError:
        return "load"
