"""An import may need only so long and so much memory; whatever it does to itself, the guard notices."""

from __future__ import annotations

import json

import psutil
import pytest

from tests.probe.running import python

PROGRAM = """
import json, os, signal, sys, time
from harness.probe.import_guard import guarded
seconds, memory = json.loads(sys.argv[2])
with guarded(sys.argv[1], seconds, memory):
    {body}
print(json.dumps("done"))
"""


def run(tmp_path, body, seconds=None, memory=None, code=0):
    """What the guarded block printed, and what the guard reported."""
    report = tmp_path / "imported.json"
    printed = python(PROGRAM.format(body=body), str(report), json.dumps([seconds, memory]), code=code)
    return printed, json.loads(report.read_text()) if report.exists() else None


def test_a_block_within_its_limits_is_left_alone(tmp_path):
    assert run(tmp_path, "time.sleep(0.3)", seconds=60, memory=2**34) == ("done", None)
    assert run(tmp_path, "pass") == ("done", None)


@pytest.mark.parametrize(
    "body",
    ["time.sleep(60)", "os.kill(os.getpid(), signal.SIGSTOP)", "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65)); time.sleep(60)",
     "exec('while True: pass')"],
)  # fmt: skip
def test_one_that_takes_too_long_is_killed_and_reported(tmp_path, body):
    _, report = run(tmp_path, body, seconds=0.5, code=-9)
    assert report["error"] == "not done after 0 s"


@pytest.mark.skipif(not psutil.LINUX, reason="the system does not say how much memory a process uses")
def test_so_is_one_that_needs_too_much(tmp_path):
    body = "held = bytearray(300 * 2**20); held[::4096] = held[::4096]; time.sleep(60)"
    _, report = run(tmp_path, body, memory=100 * 2**20, code=-9)
    assert report["error"] == f"needs more memory than the limit of {100 * 2**20} bytes"


def test_an_exception_passes_and_the_guard_is_gone(tmp_path):
    body = "\n    ".join(["try:", "    1 / 0", "except ZeroDivisionError:", "    pass"])
    assert run(tmp_path, body, seconds=60) == ("done", None)
