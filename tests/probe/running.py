"""Small programs in processes of their own: what forks, or ends its children, must not run inside the tests."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from typing import Any


def python(program: str, *arguments: str, code: int = 0) -> Any:
    """Run a program, hold its exit code against ``code`` and return the JSON that it prints (None: it prints none)."""
    command = [sys.executable, "-c", textwrap.dedent(program), *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout) if done.stdout.strip() else None
