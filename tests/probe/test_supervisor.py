"""A forked trial under supervision: its output, its deadline, its memory limit, and how it ended."""

from __future__ import annotations

import json

import psutil
import pytest

from harness.domain.trials.observation import EndingKind, Stage
from harness.probe import supervisor
from tests.probe.conftest import trial
from tests.probe.running import is_gone


@pytest.mark.parametrize("code", [0, 1, 70])
def test_leaving_without_a_result_is_never_finished(probe, code):
    (seen,) = probe(f"os._exit({code})")
    assert (seen.ending.kind, seen.ending.exit_code) == (EndingKind.EXITED, code)
    assert seen.ending.stage is Stage.BUILD
    assert seen.numbers == {}


def test_a_trial_that_is_killed(probe):
    (seen,) = probe("os.kill(os.getpid(), signal.SIGSEGV)")
    assert (seen.ending.kind, seen.ending.signal) == (EndingKind.SIGNALLED, 11)


def test_a_trial_that_hangs_is_ended(probe):
    (seen,) = probe("import time; time.sleep(60)", timeout_seconds=5)
    assert (seen.ending.kind, seen.ending.stage) == (EndingKind.TIMED_OUT, Stage.BUILD)


def test_one_that_ignores_signals_too(probe):
    (seen,) = probe("signal.signal(signal.SIGTERM, signal.SIG_IGN)\nimport time; time.sleep(60)", timeout_seconds=1)
    assert seen.ending.kind is EndingKind.TIMED_OUT


def test_what_the_case_leaves_running_is_ended(probe, tmp_path):
    body = (
        "if os.fork() == 0:\n    os.setsid()\n    import time\n"
        f"    open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n    time.sleep(60)\n"
        "import time; time.sleep(0.5)"
    )
    (seen,) = probe(body)
    assert seen.ending.kind is EndingKind.FINISHED
    assert is_gone(int((tmp_path / "pid").read_text()))


@pytest.mark.skipif(not psutil.LINUX, reason="the system does not say how much memory a process uses")
def test_a_trial_that_needs_more_memory_than_it_may_have(probe):
    body = "hold = bytearray(300 * 2**20)\nhold[::4096] = hold[::4096]\nimport time; time.sleep(60)"
    (seen,) = probe(body, memory_bytes=200 * 2**20)
    assert seen.ending.kind is EndingKind.OUT_OF_MEMORY
    assert seen.ending.message == f"needs more memory than the limit of {200 * 2**20} bytes"


class TestOutput:
    """What a trial prints is untrusted, and may be endless."""

    def run(self, probe, text):
        return probe.serve(trial("trial-0", kind="script"), case=text, imports=[])["trial-0"]

    def test_beginning_and_end_of_a_long_one_are_kept(self, probe):
        text = "print('begins'); print('x' * 200_000); print('ends')"
        output = self.run(probe, text)["output"]
        assert output.startswith("begins")
        assert output.rstrip().endswith("ends")
        assert "\n[...]\n" in output
        assert len(output) <= supervisor.OUTPUT_LIMIT + len("\n[...]\n")

    def test_what_warns_in_the_middle_of_a_long_one_is_kept_too(self, probe):
        text = "import warnings\nprint('x' * 100_000)\nwarnings.warn('odd')\nprint('x\\n' * 100_000)"
        seen = self.run(probe, text)
        assert "odd" not in seen["output"]
        assert any("UserWarning: odd" in line for line in seen["warnings"])

    def test_a_short_one_is_kept_whole(self, probe):
        assert self.run(probe, "print('a'); print('b')")["output"] == "a\nb\n"

    def test_bytes_that_are_no_text(self, probe):
        output = self.run(probe, "import sys; sys.stdout.buffer.write(b'a\\xffb')")["output"]
        assert output == "a\N{REPLACEMENT CHARACTER}b"

    def test_a_grandchild_that_keeps_the_pipe_open_holds_nothing_up(self, probe):
        text = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(60)\nelse:\n    print('done')"
        result = self.run(probe, text)
        assert (result["ending"]["kind"], result["output"]) == ("exited", "done\n")


@pytest.mark.parametrize("text", ["", "{", "[1]", "null", '"text"', "[" * 100_000])
def test_a_result_that_is_no_object_counts_as_none(tmp_path, text):
    path = tmp_path / "result.json"
    path.write_text(text)
    assert supervisor._load(str(path)) is None


def test_a_result_is_read_back(tmp_path):
    path = tmp_path / "result.json"
    path.write_text(json.dumps({"final": {"loss": 1.0}}))
    assert supervisor._load(str(path)) == {"final": {"loss": 1.0}}
    assert supervisor._load(str(tmp_path / "absent.json")) is None
