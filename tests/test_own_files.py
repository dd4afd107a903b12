"""The examples of docs/own_files.md, each run as it stands there over toys; and what a stranger's file may do wrong."""

from __future__ import annotations

import importlib.metadata
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.local_index import LocalIndex
from tests.toy_runs import Harness
from tests.toys import Toy

PAGE = Path(__file__).parents[1] / "docs" / "own_files.md"
SUM = "class ops:\n    def sum(numbers): return sum(numbers) + {}"
NEEDED = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")


def page() -> str:
    return PAGE.read_text(encoding="utf-8").replace("keras", "toykeras")


def examples() -> dict[str, str]:
    found = re.findall(r"```\w+\n# file: (\S+)\n(.*?)```", page(), re.DOTALL)
    return dict(found)


def commands() -> list[str]:
    return re.findall(r"^(harness bisect .*--from 1\.0.*)$", page(), re.MULTILINE)


def pytest_toy() -> Toy:
    """The pytest of these tests with what it needs, as one wheel."""
    members: dict[str, bytes] = {}
    for name in NEEDED:
        for file in importlib.metadata.files(name) or ():
            if file.suffix == ".py" and not file.as_posix().startswith(".."):
                members[file.as_posix()] = Path(file.locate()).read_bytes()
    return Toy(name="pytest", version="9.0", members=members)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalIndex]:
    """A toy Keras that adds wrongly from 1.1 on."""
    made = LocalIndex(tmp_path_factory.mktemp("index"))
    made.publish([*(Toy(version=f"1.{n}", source=SUM.format(n)) for n in range(2)), pytest_toy()])
    yield made
    made.close()


@pytest.fixture
def run(
    isolated: Path,
    published: LocalIndex,
    warm_folders: dict[str, str],
    harness_run: Harness,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Harness:
    monkeypatch.setenv("UV_DEFAULT_INDEX", published.address)
    for name, folder in warm_folders.items():
        monkeypatch.setenv(name, f"{folder}-own")
    for name, text in examples().items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return harness_run


@pytest.mark.parametrize("command", commands())
def test_each_example_finds_the_regression(run: Harness, command: str, tmp_path: Path) -> None:
    words = shlex.split(command)[1:]
    place = words.index("--") if "--" in words else len(words)
    out = run(*words[:place], "--json", "--jobs", "2", *words[place:])
    assert out.code == 0, out.err
    assert out.transitions == [("regression", "1.0", "1.1")]
    assert not (tmp_path / "log.txt").exists()


def test_every_shape_of_the_page_has_an_example() -> None:
    assert len(commands()) == 8
    assert {"shows.py", "more.py", "test_sums.py", "test_case.py", "job.py", "report.ipynb"} <= set(examples())


def bisect(run: Harness, tmp_path: Path, text: str, *more: str) -> tuple[int, str, str]:
    (tmp_path / "own.py").write_text(text)
    out = run("bisect", "own.py", "--from", "1.0", "--jobs", "1", *more)
    return out.code, " ".join(out.out.split()), out.err


def test_a_file_that_is_missing_is_no_verdict(run: Harness, tmp_path: Path) -> None:
    code, _, err = bisect(run, tmp_path, "import toykeras\nopen('gone.csv')")
    assert code == 6
    assert "your case does not run here: there is no 'gone.csv'" in err


def test_a_script_that_checks_nothing_is_told_so_and_shown_what_changes(run: Harness, tmp_path: Path) -> None:
    code, out, err = bisect(run, tmp_path, "import toykeras\nprint('sum', toykeras.ops.sum([1, 2]))")
    assert code == 3
    assert "under test: toykeras, which the file imports" in err
    assert "The case checks nothing" in out
    assert "1.0 -> 1.1: 'sum 3' becomes 'sum 4'" in out
    assert "replica" not in out
    assert "own:" not in out


def test_an_import_that_works_is_good_without_a_warning(run: Harness, tmp_path: Path) -> None:
    code, out, _ = bisect(run, tmp_path, "import toykeras")
    assert code == 3
    assert "checks nothing" not in out


def test_tests_that_cannot_be_collected_are_the_case_s_own_error(run: Harness, tmp_path: Path) -> None:
    code, _, err = bisect(run, tmp_path, "import toykeras\ntoykeras.gone\ndef test_a(): pass")
    assert code == 2
    assert "the case itself cannot be run: pytest cannot collect the tests" in err


def test_an_edited_file_is_another_question(run: Harness, tmp_path: Path) -> None:
    text = "import toykeras\nassert toykeras.ops.sum([1]) == int(open('want.txt').read())"
    (tmp_path / "want.txt").write_text("1")
    assert bisect(run, tmp_path, text)[0] == 0
    (tmp_path / "want.txt").write_text("7")
    assert bisect(run, tmp_path, text)[0] == 4
