"""A deadline for calls that have none of their own.

The time-outs of a connection count from byte to byte: a server that sends one byte a second occupies a reader
for ever. A blocked call cannot be stopped from outside, so its thread is left behind.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, work: Callable[[], T]) -> T:
    """Return what `work` returns, or raise what it raises; `TimeoutError` when it takes longer."""
    answers: queue.SimpleQueue[tuple[T | None, BaseException | None]] = queue.SimpleQueue()

    def answer() -> None:
        try:
            answers.put((work(), None))
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            answers.put((None, error))

    threading.Thread(target=answer, name="within", daemon=True).start()
    try:
        value, error = answers.get(timeout=seconds)
    except queue.Empty:
        raise TimeoutError(f"not done after {seconds:g} s") from None
    if error is not None:
        raise error
    return value  # type: ignore[return-value]
