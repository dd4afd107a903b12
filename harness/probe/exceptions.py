"""An exception as text, even one whose own text cannot be read."""

from __future__ import annotations

import traceback

MESSAGE_LIMIT = 2_000


def describe(error: BaseException) -> tuple[str, str, str]:
    """Return (type, message, innermost frames) of an exception; none is longer than a report can take."""
    kind = type(error)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    try:
        message = _cause_first(str(error))
        frames = "".join(traceback.format_exception(kind, error, error.__traceback__)[-6:])
    except Exception as broken:  # an exception whose text cannot be had
        message, frames = f"(its message cannot be shown: {type(broken).__name__})", ""
    return name[:MESSAGE_LIMIT], message[:MESSAGE_LIMIT], frames[-2 * MESSAGE_LIMIT :]


def _cause_first(message: str) -> str:
    """Put the cause of a graph's failure into the first line; TensorFlow prints pages of places before it."""
    if not message.startswith("Graph execution error"):
        return message
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    places = [n for n, line in enumerate(lines) if line.startswith('File "')]
    rest = lines[places[-1] + 1 :] if places else lines[1:]
    root = next((line for line in rest if line.startswith("(0)")), rest[0] if rest else "")
    return f"Graph execution error: {root.removeprefix('(0)').strip()}\n{message}" if root else message
