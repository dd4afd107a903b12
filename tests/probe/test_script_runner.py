"""A script runs from a private copy as if it were run in its own place."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.probe import script_runner


def both(tmp_path: Path, text: str) -> tuple[subprocess.CompletedProcess[str], subprocess.CompletedProcess[str]]:
    """The script run by the interpreter, and its copy by the runner while another text lies in its place."""
    place, copy = tmp_path / "place" / "case.py", tmp_path / "copy.py"
    place.parent.mkdir()
    place.write_text(text)
    direct = subprocess.run([sys.executable, place, "--a=1"], check=False, capture_output=True, text=True)
    place.write_text("raise SystemExit('edited')\n" * 50)
    copy.write_text(text)
    command = [sys.executable, script_runner.__file__, str(copy), str(place), "--a=1"]
    return direct, subprocess.run(command, check=False, capture_output=True, text=True)


@pytest.mark.parametrize(
    "text",
    [
        "import sys\nprint(__file__, __name__, sys.argv, sys.path[0], __spec__, type(__loader__).__name__)",
        "print(sorted(n for n in globals() if not n.startswith('__')))\nx: int = 1\nprint(__annotations__)",
        "def f():\n    1 / 0\ntry:\n    f()\nexcept ZeroDivisionError as e:\n    raise KeyError('k') from e",
        "import sys; sys.exit(7)",
        "raise SystemExit('why')",
        "x = (\n",
        "import sys; print(sys.modules['__main__'].__dict__ is globals())",
        "import atexit; atexit.register(print, 'at exit'); raise KeyboardInterrupt",
        "import sys; sys.excepthook = lambda *a: print('own hook', a[0].__name__); raise ValueError",
        "import threading; t = threading.Thread(target=lambda: 1 / 0); t.start(); t.join()",
        "# -*- coding: utf-8 -*-\nprint('\u00e4')",
    ],
)
def test_both_print_and_leave_alike(tmp_path: Path, text: str) -> None:
    direct, run = both(tmp_path, text)
    assert run.returncode == direct.returncode
    assert run.stdout == direct.stdout
    assert run.stderr.splitlines()[-1:] == direct.stderr.splitlines()[-1:]
    assert [line for line in run.stderr.splitlines() if "File" in line and "case.py" in line] == [
        line for line in direct.stderr.splitlines() if "File" in line and "case.py" in line
    ]
    assert "script_runner" not in run.stderr
    printed_by_the_interpreter = (
        "KeyboardInterrupt" in text or "threading" in text
    )  # which reads the file for its lines
    assert printed_by_the_interpreter or "edited" not in run.stderr


@pytest.mark.parametrize("end", ["", "sys.exit(3)", "raise ValueError"])
def test_a_measured_script_notes_what_it_imported_of_the_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    package = tmp_path / "copied" / "toy"
    package.mkdir(parents=True)
    for name in ("__init__.py", "used.py", "unused.py"):
        (package / name).write_text("")
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    monkeypatch.setenv(script_runner.MEASURED, f"{package.parent}{os.pathsep}{tmp_path / 'noted'}")
    _, run = both(tmp_path, f"import os, sys, toy.used\nprint({script_runner.MEASURED!r} in os.environ)\n{end}")
    assert run.stdout == "False\n"
    assert (tmp_path / "noted").read_text().split() == ["toy/__init__.py", "toy/used.py"]
