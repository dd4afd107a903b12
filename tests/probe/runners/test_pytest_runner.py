"""Tests run by pytest, each exit code by what it means."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harness.probe.runners import pytest_runner


def ran(folder: Path, text: str, *words: str, node: str = "") -> tuple[int, str]:
    path = folder / "test_mine.py"
    path.write_text(text)
    command = [sys.executable, pytest_runner.__file__, f"{path}{node}", *words]
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
    return done.returncode, done.stdout.splitlines()[-1]


@pytest.mark.parametrize(
    ("text", "code", "last"),
    [
        ("def test_a(): pass", 0, "1 passed"),
        ("def test_a(): pass\ndef test_b(): assert 1 == 2", 1, "1 failed, 1 passed, first test_b: assert 1 == 2"),
        ("def test_a(): raise KeyError('k')", 1, "1 failed, 0 passed, first test_a: KeyError: 'k'"),
        ("import pytest\ndef test_a(): pytest.skip('no')", 125, "every test is skipped or expected to fail"),
        (
            "import pytest\n@pytest.mark.xfail\ndef test_a(): assert 0",
            125,
            "every test is skipped or expected to fail",
        ),
        ("import pytest\ndef test_a(): pytest.skip('no')\ndef test_b(): pass", 0, "1 passed"),
        ("x = 1", 5, "pytest found no test"),
        ("import gone_missing", 2, "pytest cannot collect the tests: "),
    ],
)
def test_exit_codes(tmp_path: Path, text: str, code: int, last: str) -> None:
    seen = ran(tmp_path, text)
    assert seen[0] == code
    assert seen[1].startswith(last)


def test_one_test_can_be_named_and_siblings_and_conftest_are_found(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("import pytest\n@pytest.fixture\ndef two(): return 2")
    (tmp_path / "beside.py").write_text("two = 2")
    text = "import beside\ndef test_a(two): assert two == beside.two\ndef test_b(): assert 0"
    assert ran(tmp_path, text, node="::test_a") == (0, "1 passed")
    assert ran(tmp_path, text, "-k", "test_b")[0] == 1
    assert ran(tmp_path, text, node="::test_c")[0] == 4
