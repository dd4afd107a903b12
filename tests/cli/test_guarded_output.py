"""A reader that leaves early and a full disk behind the output, in real processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
from harness.cli.guarded_output import OutputLost, flushed, guard_output, say_lost
guard_output()
try:
    for number in range(20_000):
        print(number)
    sys.exit(flushed(0))
except OutputLost as lost:
    sys.exit(say_lost(lost))
"""


def test_a_reader_that_leaves_ends_nothing():
    """``| head``: what nobody reads is dropped, and the exit code stays."""
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"0\n"
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_an_answer_that_cannot_be_printed_is_told():
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([sys.executable, "-c", PROGRAM], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 6
    told = done.stderr.decode()
    assert "the answer cannot be printed: No space left on device" in told
    assert "try:   free some space" in told
    assert "Traceback" not in told


def test_what_is_read_arrives_whole():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, check=True)
    assert done.stdout.splitlines() == [str(number).encode() for number in range(20_000)]
