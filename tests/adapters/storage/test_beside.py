"""The files that a script names are found, hashed and copied; everything else stays where it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.adapters.storage import beside


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where the user stands, with a folder of its own for the case."""
    stands = tmp_path / "stands"
    for name, text in {
        "cells.csv": "1",
        "part_1.csv": "1",
        "part_2.csv": "2",
        "data/a.txt": "a",
        "data/.hidden": "h",
        "own/near.py": "open('deep.txt')\nimport far",
        "own/deep.txt": "deep",
        "own/far/__init__.py": "",
        "own/conftest.py": "",
        "own/case.py": "",
        ".secret": "s",
        "venv/pyvenv.cfg": "",
        "reports/x.json": "{}",
    }.items():
        path = stands / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return stands


def names(found: beside.Beside, place: Path) -> set[str]:
    return {path.relative_to(place.resolve()).as_posix() for path in found.names}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("x = 1", set()),
        ("open('cells.csv'), open('gone.csv')", {"cells.csv"}),
        ("open(f'part_{n}.csv')", {"part_1.csv", "part_2.csv"}),
        ("open('data/a.txt')", {"data/a.txt"}),
        ("Path('data') / 'a.txt'", {"data"}),
        ("import near", {"own/near.py", "own/deep.txt", "own/far"}),
        ("import far.more", {"own/far"}),
        ("open('.secret')", set()),
        ("glob('*.csv')", {"cells.csv", "part_1.csv", "part_2.csv", "data", "own"}),
        ("x = (", set()),
    ],
)
def test_what_is_found(place: Path, text: str, wanted: set[str]) -> None:
    found = beside.find(text, place / "own" / "case.py", place)
    conftest = set() if "own" in wanted else {"own/conftest.py"}
    assert names(found, place) == wanted | conftest


def test_patterns_of_the_metadata_are_relative_to_the_case(place: Path) -> None:
    found = beside.find("", place / "own" / "case.py", place, ["*.txt"])
    assert names(found, place) == {"own/deep.txt", "own/conftest.py"}


def test_a_module_of_the_environment_is_no_file_of_the_case(place: Path) -> None:
    assert names(beside.find("import far", place / "own" / "case.py", place, own=["far"]), place) == {"own/conftest.py"}


def test_the_hash_is_that_of_what_they_hold_wherever_they_lie(place: Path, tmp_path: Path) -> None:
    def digest() -> str:
        return beside.find("open('cells.csv')", place / "case.py", place).digest

    first = digest()
    (place / "part_1.csv").write_text("9")
    assert digest() == first
    (place / "cells.csv").write_text("9")
    assert digest() != first
    assert beside.described([]).digest == ""
    place.rename(tmp_path / "moved")
    assert beside.find("open('cells.csv')", tmp_path / "moved/x.py", tmp_path / "moved").digest != first


def test_what_is_copied_is_private_and_what_is_large_is_linked(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beside, "LARGEST", 3)
    (place / "cells.csv").write_text("large")
    found = beside.find("open('cells.csv'), open('data'), open('deep.txt')", place / "own" / "case.py", place)
    assert [path.name for path in found.linked] == ["cells.csv", "deep.txt"]
    work = tmp_path / "work"
    beside.copy(found, [(place.resolve() / "own", work / "own"), (place.resolve(), work)])
    assert (work / "cells.csv").is_symlink()
    assert (work / "data" / "a.txt").read_text() == "a"
    assert not (work / "data" / ".hidden").exists()
    (work / "data" / "a.txt").write_text("written by a trial")
    assert (place / "data" / "a.txt").read_text() == "a"


def test_a_folder_with_too_many_files_is_linked(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside, "MOST_FILES", 1)
    for n in range(3):
        (place / "data" / f"{n}.txt").write_text("")
    assert beside.find("open('data')", place / "case.py", place).linked == (place.resolve() / "data",)


def test_a_command_may_read_all_that_lies_there(place: Path) -> None:
    assert names(beside.all_of(place), place) == {"cells.csv", "part_1.csv", "part_2.csv", "data", "own"}
