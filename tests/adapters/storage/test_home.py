"""The cache folder: where it is, and that scratch folders in it do not last."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.adapters.storage.home import Home
from harness.domain.errors import InfrastructureError


def test_harness_home_overrides_the_user_s_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_HOME", str(tmp_path / "here"))
    assert Home.default().folder("a", "b") == tmp_path / "here/a/b"
    assert (tmp_path / "here/a/b").is_dir()
    monkeypatch.delenv("HARNESS_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert tmp_path not in Home.default().root.parents or Home.default().root.is_relative_to(tmp_path / "cache")


def test_a_relative_home_stays_where_it_was_when_the_folder_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARNESS_HOME", "here")
    home = Home.default()
    monkeypatch.chdir("/")
    assert home.folder("x") == tmp_path / "here/x"


def test_scratch_goes_whatever_happened_in_it(home: Home) -> None:
    with pytest.raises(ZeroDivisionError), home.scratch() as scratch:
        fail_in(scratch)
    assert not scratch.exists()


def fail_in(scratch: Path) -> None:
    (scratch / "deep/er").mkdir(parents=True)
    (scratch / "deep/er/file").write_text("x")
    (scratch / "deep").chmod(0o500)
    raise ZeroDivisionError


def test_a_file_in_the_way_is_said_with_advice(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("in the way")
    with pytest.raises(InfrastructureError, match="cannot write") as failure:
        Home(tmp_path / "home").folder("x")
    assert "HARNESS_HOME" in str(failure.value)
