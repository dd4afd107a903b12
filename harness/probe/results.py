"""Result files: whole or absent, and without bare NaN (JSON has none)."""

from __future__ import annotations

import json
import math
import os
from typing import Any


def write(path: str, value: Any) -> None:
    """Write `value` as JSON so that a reader never sees half of it."""
    partial = path + ".partial"
    with open(partial, "w", encoding="utf-8") as file:  # noqa: PTH123 - pathlib costs an import here
        json.dump(portable(value), file, allow_nan=False)
        file.flush()
        os.fsync(file.fileno())
    os.replace(partial, path)  # noqa: PTH105


def portable(value: Any) -> Any:
    """Replace what JSON cannot carry, at any depth: non-finite floats become "nan", "inf" and "-inf".

    Half a surrogate pair (a file name that is not UTF-8) becomes its escape, written out.
    """
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if isinstance(value, dict):
        return {portable(str(key)): portable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [portable(item) for item in value]
    return value
