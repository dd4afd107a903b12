"""The user's index settings: which of several counts, and that they reach resolver, builds and the report."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.adapters.index.settings import described, for_uv, index_settings
from tests.local_index import LocalIndex
from tests.toy_runs import Harness, repro, words_of
from tests.toys import Toy, write


@pytest.fixture
def config(isolated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for the user's own files; those of the machine are not read."""
    monkeypatch.delenv("UV_NO_CONFIG")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user/.config"))
    return tmp_path


def test_files_of_pip(config: Path) -> None:
    (config / "pip.conf").write_text(
        "[global]\nindex-url = http://a/simple\nextra-index-url = http://b/simple\n  http://c/simple\n"
        "[install]\nfind-links = http://d/wheels\n"
    )
    found = index_settings()
    assert (found.default, found.named_by) == ("http://a/simple", str(config / "pip.conf"))
    assert (found.extra[-2:], found.find_links) == (("http://b/simple", "http://c/simple"), ("http://d/wheels",))
    assert for_uv(found)["UV_INDEX_STRATEGY"] == "unsafe-best-match"


def test_files_of_uv(config: Path) -> None:
    (config / "pip.conf").write_text("[global]\nindex-url = http://a/simple\n")
    (config / "uv.toml").write_text(
        'find-links = ["wheels"]\nextra-index-url = "http://e/simple"\n'
        '[[index]]\nurl = "http://u/simple"\ndefault = true\n[[index]]\nname = "cpu"\nurl = "http://f/simple"\n'
        '[[index]]\nname = "only"\nurl = "http://g/simple"\nexplicit = true\n'
    )
    found = index_settings()
    assert (found.default, found.named_by) == ("http://u/simple", str(config / "uv.toml"))
    assert found.extra[:2] == ("http://f/simple", "http://e/simple")
    assert found.find_links == (str(config / "wheels"),)


def test_variables_come_before_files(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (config / "pip.conf").write_text("[global]\nindex-url = http://a/simple\nfind-links = /p\n")
    monkeypatch.setenv("PIP_INDEX_URL", "http://v/simple")
    monkeypatch.setenv("PIP_FIND_LINKS", "rel https://w/x")
    monkeypatch.setenv("UV_INDEX", "named=http://n/simple")
    monkeypatch.setenv("UV_EXTRA_INDEX_URL", "http://x/simple")
    found = index_settings()
    assert (found.default, found.named_by) == ("http://v/simple", "PIP_INDEX_URL")
    assert found.find_links == (str(config / "rel"), "https://w/x")
    assert found.extra[:2] == ("http://n/simple", "http://x/simple")
    made = for_uv(found)
    assert "http://n/simple" not in made["UV_EXTRA_INDEX_URL"]
    assert made["UV_FIND_LINKS"] == f"{config / 'rel'},https://w/x"


def test_files_that_cannot_be_read_say_nothing(config: Path) -> None:
    (config / "pip.conf").write_text("no section\n")
    (config / "uv.toml").write_text("= broken")
    assert index_settings().named_by == ""


def test_nothing_set_is_nothing_to_tell(isolated: Path) -> None:
    assert list(described(index_settings())) == []


def test_wheels_of_the_user_s_folder_and_of_a_further_index_are_used_and_recorded_without_secrets(
    tmp_path: Path, index: LocalIndex, harness_run: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As pip does: the best version of all of them."""
    wheels, more = tmp_path / "wheels", tmp_path / "more"
    wheels.mkdir()
    more.mkdir()
    write(Toy(name="toynumpy", version="1.5+cpu"), wheels)
    further = LocalIndex(more)
    further.publish([Toy(name="toypandas", version="3.0")])
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    address = further.address.replace("//", "//me:Sesam-oeffne-dich-9@")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", address)
    case = repro(tmp_path, body="import toypandas")
    ended = harness_run(*words_of(case, "1.0", "2.0", "--jobs", "1", "--with", "toypandas==3.0"))
    further.close()
    assert (ended.code, ended.verdicts["1.0"], ended.verdicts["2.0"]) == (0, "good", "bad")
    setting = ended.report["environment"]
    assert setting["companions"] == ["toynumpy==1.5+cpu", "toypandas==3.0"]
    assert setting["indexes"] == [
        "default index by UV_DEFAULT_INDEX",
        f"extra index {address.replace('me:Sesam-oeffne-dich-9', '***')}",
        f"find-links {wheels}",
    ]
    assert "Sesam" not in ended.out + ended.err
