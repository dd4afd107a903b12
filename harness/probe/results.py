"""Result files: whole or absent, and without bare NaN (JSON has none)."""

from __future__ import annotations

import json
import math
import os
from typing import Any


def write(path: str, value: Any) -> None:
    """Write `value` as JSON so that a reader never sees half of it; what a case has put in its place makes way."""
    text = json.dumps(portable(value), allow_nan=False)
    partial = f"{path}.{os.urandom(8).hex()}.partial"  # a name that no case can know
    with open(partial, "x", encoding="utf-8") as file:  # noqa: PTH123 - pathlib costs an import here
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    try:
        os.replace(partial, path)  # noqa: PTH105
    except IsADirectoryError:
        os.rename(path, f"{partial}.aside")  # noqa: PTH104
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
