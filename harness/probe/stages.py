"""How far a trial came: its stage, such as ``import``, ``load``, ``build`` or ``train``.

The trial's process writes each stage into a small file when it enters it. The parent reads the file after the
process has ended, so the stage is known even of one that was killed.
"""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Callable

STAGES = ("import", "load", "devices", "fix", "data", "build", "train", "evaluate", "script")
LONGEST = 32


def stage_marker(stage_file: str) -> Callable[[str], None]:
    """Return a function that writes the stage which the trial enters into ``stage_file``."""

    def enter(stage: str) -> None:
        with contextlib.suppress(OSError):  # a full disk, or a case that put something in its place: no symptom
            pathlib.Path(stage_file).write_text(stage, encoding="utf-8")

    return enter


def reached(stage_file: str) -> str:
    """Return the last stage that was entered; ``load`` while none was, or where the file holds no stage."""
    path = pathlib.Path(stage_file)
    try:
        if not path.is_file():  # a pipe would never be read to its end
            return "load"
        with path.open("rb") as file:
            stage = file.read(LONGEST).decode("ascii", "replace")
    except OSError:
        return "load"
    return stage if stage in STAGES else "load"
