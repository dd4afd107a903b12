"""Small programs in processes of their own: what forks, or ends its children, must not run inside the tests."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
import time
from typing import Any

import psutil


def python(program: str, *arguments: str, code: int = 0) -> Any:
    """Run a program, hold its exit code against ``code`` and return the JSON that it prints (None: it prints none)."""
    command = [sys.executable, "-c", textwrap.dedent(program), *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout) if done.stdout.strip() else None


def is_gone(pid: int) -> bool:
    """Whether a process ends within ten seconds: one that was killed may need a moment."""
    for _ in range(500):
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.02)
    return False
