from __future__ import annotations

import threading

import pytest

from harness.adapters.index.deadline import within


def test_it_returns_what_the_work_returns() -> None:
    assert within(60.0, lambda: 7) == 7


def test_it_raises_what_the_work_raises() -> None:
    with pytest.raises(ZeroDivisionError):
        within(60.0, lambda: 1 // 0)


def test_work_that_never_ends_is_left_behind() -> None:
    never = threading.Event()
    with pytest.raises(TimeoutError, match=r"not done after 0\.1 s"):
        within(0.1, never.wait)
    never.set()
