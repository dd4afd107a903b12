"""A fix is known by what it does, not by where it lies."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import pytest

from harness import codec
from harness.domain.fixes.fix import Fix

FIX = Fix(name="a", path="/fixes/a.py", digest="0123", options={"mapping": "sum=NONE"})


def test_it_goes_to_the_probe_and_comes_back_as_it_was():
    assert codec.loads(Fix, codec.dumps(Fix, FIX)) == FIX
    assert codec.loads(Fix, '{"name": "a", "path": "/fixes/a.py", "digest": "0123"}') == replace(FIX, options={})


def test_nobody_changes_it_once_it_has_a_digest():
    with pytest.raises(FrozenInstanceError):
        FIX.digest = "other"  # type: ignore[misc]
