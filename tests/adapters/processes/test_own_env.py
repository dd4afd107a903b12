"""The harness hides the credentials of its own environment from the processes that it starts."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import psutil
import pytest

PROGRAM = """
import json, os, subprocess, sys
from harness.adapters.processes.own_env import hide
hide()
look = "import os; print(ascii(open(f'/proc/{os.getppid()}/environ', 'rb').read().decode()))"
shown = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, env={})
print(json.dumps([shown.stdout, shown.stderr, os.environ["MY_PASSWORD"], os.environ["HTTPS_PROXY"]]))
"""


@pytest.mark.skipif(not psutil.LINUX, reason="elsewhere there is no /proc")
def test_a_child_cannot_read_them_and_the_harness_still_can() -> None:
    env = {**os.environ, "MY_PASSWORD": "hunter", "HTTPS_PROXY": "http://joe:pr0xy@host:1", "PLAIN": "stays-there"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True, env=env)
    shown, refused, password, proxy = json.loads(done.stdout)
    assert (password, proxy) == ("hunter", "http://joe:pr0xy@host:1")
    assert "hunter" not in shown
    assert "pr0xy" not in shown
    assert "stays-there" in shown or "Permission denied" in refused  # whoever is not root sees nothing at all
