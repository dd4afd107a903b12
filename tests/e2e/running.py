"""Run the harness as a user does, in a process of its own, against real releases."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

LONGEST = 1500  # seconds: a cold download of two TensorFlow environments on a slow line


def harness(*words: str, output: Path) -> tuple[int, dict[str, Any], str]:
    """Return exit code, the JSON report and what was said on stderr."""
    command = [sys.executable, "-m", "harness", *words, "--json", "--output", str(output)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=LONGEST)
    assert done.stdout.startswith("{"), done.stderr
    return done.returncode, json.loads(done.stdout), done.stderr
