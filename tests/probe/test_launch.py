"""The launcher as a real process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from harness.probe import launch


def start(plan: dict[str, object], program: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", "-S", launch.__file__, json.dumps(plan), sys.executable, "-I", "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_without_views_it_becomes_the_program() -> None:
    done = start({"views": [], "user_namespace": True}, "import os; print(os.getppid()); raise SystemExit(5)")
    assert done.returncode == 5
    assert done.stdout.strip().isdigit()


def test_where_a_view_cannot_be_made_the_program_does_not_start(tmp_path: Path) -> None:
    gone = str(tmp_path / "gone")
    done = start({"views": [[gone, gone, gone]], "user_namespace": True}, "print('started')")
    assert done.returncode == launch.FAILED
    assert done.stdout == ""
    assert done.stderr.startswith(launch.FAILURE)


def test_it_needs_no_site_packages_of_the_target() -> None:
    source = Path(launch.__file__).read_text(encoding="utf-8")
    assert "from ." not in source
    assert "import harness" not in source
