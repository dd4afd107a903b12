"""The variables that name the index."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.adapters.index.address import index_address
from harness.adapters.index.settings import ADDRESS_VARIABLES


@pytest.mark.parametrize("name", ADDRESS_VARIABLES)
def test_each_usual_variable_names_the_index(name: str, isolated: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "http://mine/simple")
    assert index_address() == "http://mine/simple"
