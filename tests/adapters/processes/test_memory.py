"""The share of memory that one release may use."""

from __future__ import annotations

import psutil
import pytest

from harness.adapters.processes import memory


def test_what_is_free_is_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free", lambda: 100 * 2**30)
    assert memory.share_of_free(1) == 80 * 2**30
    assert memory.share_of_free(4) == 20 * 2**30


def test_it_never_falls_below_what_a_training_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free", lambda: 2**30)
    assert memory.share_of_free(8) == memory.LEAST


def test_no_more_is_free_than_the_machine_has() -> None:
    assert 0 < memory.free() <= psutil.virtual_memory().total
