"""Tests run by unittest, each exit code by what it means."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harness.probe.runners import unittest_runner

CASE = "import unittest\nclass T(unittest.TestCase):\n"


@pytest.mark.parametrize(
    ("text", "code", "last"),
    [
        (CASE + "    def test_a(self): import beside", 0, ""),
        (CASE + "    def test_a(self): self.fail('why')", 1, "1 failed, first test_a: AssertionError: why"),
        (CASE + "    def test_a(self): raise KeyError('k')", 1, "1 failed, first test_a: KeyError: 'k'"),
        (CASE + "    def test_a(self): self.skipTest('no')", 125, ""),
        (CASE + "    @unittest.expectedFailure\n    def test_a(self): assert 0", 125, ""),
        (
            CASE + "    @unittest.expectedFailure\n    def test_a(self): pass",
            1,
            "a test that is expected to fail passes",
        ),
        ("x = 1", 5, "unittest found no test"),
        ("import gone_missing", 1, ""),
    ],
)
def test_exit_codes(tmp_path: Path, text: str, code: int, last: str) -> None:
    (tmp_path / "beside.py").write_text("")
    path = tmp_path / "mine.py"
    path.write_text(text)
    command = [sys.executable, unittest_runner.__file__, str(path), "--n"]
    done = subprocess.run(command, cwd="/", check=False, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    assert (done.stdout.splitlines() or [""])[-1] == last
