"""The lines behind a transition, over a local index: real wheels, real environments, copies of real trees.

toylines   1.0     1.1 breaks it by two lines of two files together, among changes that do not matter and one that
                   cannot stand alone; 1.2 mends it.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.local_index import LocalIndex
from tests.toy_runs import Harness, Outcome
from tests.toys import Toy

CASE = """\
# /// script
# [tool.harness]
# title = "toylines counts wrong"
# package = "toylines"
# ///
import sys, toylines
if toylines.check() != 3:
    sys.exit("counted wrong")
"""
INIT = "from toylines.core import check"
CORE = """\
from toylines import names, numbers

GREETING = "hello"


def add(a, b):
    return a + b


def check():
    return add(numbers.ONE, numbers.TWO) + numbers.EXTRA
"""
NUMBERS = "ONE = 1\n\nTWO = 2\n\nEXTRA = 0\n"
OLD: dict[str, str] = {
    "core.py": CORE,
    "numbers.py": NUMBERS,
    "names.py": "NAME = 'toy'\n",
    "unused.py": "VALUE = 1\n",
    "gone.py": "",
}
BROKEN = {
    # the import of a new name of numbers cannot stand without it: a half of this change is unresolved
    "core.py": CORE.replace("names, numbers", "names, numbers\nfrom toylines.numbers import LIMIT")
    .replace('"hello"', '"good day"')
    .replace("return a + b", "return min(a + b, LIMIT)"),
    "numbers.py": NUMBERS.replace("ONE = 1\n", "ONE = 1\nLIMIT = 2\n").replace("EXTRA = 0", "EXTRA = 0  # none"),
    "names.py": "NAME = 'toy lines'\n",
    "unused.py": "VALUE = 2\n",
    "added.py": "MORE = 1\n",
}
MENDED = {**BROKEN, "numbers.py": BROKEN["numbers.py"].replace("LIMIT = 2", "LIMIT = 20"), "names.py": "NAME = 'x'\n"}


def lines(version: str, files: dict[str, str], **members: bytes) -> Toy:
    own = {f"toylines/{name}": text.encode() for name, text in files.items()}
    compiled = {f"toylines/{name}.so": content for name, content in members.items()}
    return Toy(name="toylines", version=version, source=INIT, members={**own, **compiled})


@pytest.fixture
def case(built: LocalIndex, tmp_path: Path) -> Path:
    built.publish(
        [
            lines("1.0", OLD),
            lines("1.1", BROKEN),
            lines("1.2", MENDED),
        ]
    )
    path = tmp_path / "case.py"
    path.write_text(CASE, encoding="utf-8")
    return path


def bisect(run: Harness, case: Path, first: str, last: str, *more: str | Path, channel: str = "hunk") -> Outcome:
    words = ("--from", first, "--to", last, "--channel", channel, "--jobs", "1", "--json", "--confidence", "0.5", *more)
    return run("bisect", case, *words)


def found(outcome: Outcome) -> list[dict[str, Any]]:
    read: list[dict[str, Any]] = outcome.report["changed_lines"]
    return read


def halves(files: dict[str, str]) -> dict[str, str]:
    """The files with the changes that matter, and none of the others."""
    return {
        "core.py": files["core.py"].replace("good day", "hello"),
        "numbers.py": files["numbers.py"].replace("  # none", ""),
    }


def git_applies(diff: str, folder: Path) -> dict[str, str]:
    """The old files with a diff."""
    tree = folder / "toylines"
    tree.mkdir(parents=True)
    for name, text in OLD.items():
        (tree / name).write_text(text, encoding="utf-8")
    (folder / "found.diff").write_text(diff, encoding="utf-8")
    subprocess.run(["git", "apply", "-p1", "found.diff"], cwd=folder, check=True, env={"GIT_CEILING_DIRECTORIES": "/"})
    return {path.name: path.read_text(encoding="utf-8") for path in tree.iterdir()}


def changed(one: dict[str, Any]) -> list[str]:
    return [t for t in one["diff"].splitlines() if t.startswith(("+", "-")) and not t.startswith(("+++", "---"))]


def test_the_lines_hold_in_both_directions_stand_in_every_report_and_a_small_budget_says_what_is_left(
    case: Path, harness_run: Harness, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    outcome = bisect(harness_run, case, "1.0", "1.1", "--output", folder)
    (one,) = found(outcome)
    assert outcome.code == 0
    assert changed(one) == [
        "+from toylines.numbers import LIMIT",
        "-    return a + b",
        "+    return min(a + b, LIMIT)",
        "+LIMIT = 2",
    ]
    assert (one["files"], one["proven"], one["minimal"]) == (["toylines/core.py", "toylines/numbers.py"], True, True)
    assert one["backward"] == "it is gone"
    assert one["unresolved"] > 0
    assert (one["changed_files"], one["executed_files"]) == (7, 4)  # unused, added and gone are never imported
    for name in ("report.md", "report.html"):
        assert "+LIMIT = 2" in (folder / name).read_text(encoding="utf-8")
    assert git_applies(one["diff"], tmp_path / "tree") == {**OLD, **halves(BROKEN)}

    before = (folder / "report.json").read_bytes()
    harness_run("report", folder)
    assert (folder / "report.json").read_bytes() == before

    (short,) = found(bisect(harness_run, case, "1.0", "1.1", "--max-trials", "4"))
    assert (short["minimal"], short["proven"], short["trials"]) == (False, True, 4)
    assert "4 files were not shrunk further; give a larger --max-trials" in short["left"]


def test_the_lines_that_cure(case: Path, harness_run: Harness) -> None:
    (one,) = found(bisect(harness_run, case, "1.1", "1.2"))
    assert (one["kind"], one["proven"], one["minimal"]) == ("recovery", True, True)
    assert changed(one) == ["-LIMIT = 2", "+LIMIT = 20"]


def test_a_compiled_package_is_refused(built: LocalIndex, harness_run: Harness, tmp_path: Path) -> None:
    built.publish([lines("1.0", OLD, fast=b"\x7fELF"), lines("1.1", BROKEN, fast=b"\x7fELF")])
    path = tmp_path / "case.py"
    path.write_text(CASE, encoding="utf-8")
    outcome = bisect(harness_run, path, "1.0", "1.1")
    (one,) = found(outcome)
    assert outcome.code == 0
    assert "toylines is compiled (fast.so and 0 more)" in one["refused"]
    assert one["diff"] == ""
