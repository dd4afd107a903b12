"""The user's wheels beside the index."""

from __future__ import annotations

import os

import pytest
from packaging.version import Version

from harness.adapters.index.find_links import local_versions
from harness.adapters.index.settings import FIND_LINKS_VARIABLES, index_settings


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch):
    for name in FIND_LINKS_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("UV_NO_CONFIG", "1")


def test_uv_s_variable_wins_over_pip_s(monkeypatch):
    assert index_settings().find_links == ()
    monkeypatch.setenv("PIP_FIND_LINKS", "/a https://example.org/wheels")
    assert index_settings().find_links == ("/a", "https://example.org/wheels")
    monkeypatch.setenv("UV_FIND_LINKS", "/b,/c")
    assert index_settings().find_links == ("/b", "/c")


@pytest.mark.parametrize("prefix", ["", "file://"])
def test_versions_of_the_wheels_in_a_folder(monkeypatch, tmp_path, prefix):
    for name in ("torch-2.13.0+cpu", "torch-2.9.1+cpu", "torchvision-0.2", "torch-odd"):
        (tmp_path / f"{name}-cp311-cp311-manylinux_2_28_x86_64.whl").touch()
    monkeypatch.setenv("UV_FIND_LINKS", f"https://example.org/wheels,/not/there,{prefix}{tmp_path}")
    assert local_versions("Torch") == [Version("2.9.1+cpu"), Version("2.13.0+cpu")]
    assert local_versions("jax") == []
