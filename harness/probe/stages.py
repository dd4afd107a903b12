"""How far a trial came, noted where a killed process can still be asked about it."""

from __future__ import annotations

import pathlib
from collections.abc import Callable


def stage_marker(stage_file: str) -> Callable[[str], None]:
    """Return a function that notes the stage where a killed process can still be asked about it."""

    def enter(stage: str) -> None:
        pathlib.Path(stage_file).write_text(stage, encoding="utf-8")

    return enter


def reached(stage_file: str) -> str:
    """The last stage that was noted."""
    try:
        return pathlib.Path(stage_file).read_text(encoding="utf-8") or "load"
    except OSError:
        return "load"
