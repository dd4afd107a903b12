"""The case of several workers: its processes end, whatever happens, and its last line says what happened."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
import time
from typing import IO

import psutil
import pytest

from tests.test_architecture import ROOT

PATH = ROOT / "repro_cases" / "multi_worker.py"


@pytest.fixture
def case():
    spec = importlib.util.spec_from_file_location("multi_worker", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def python(program: str) -> tuple[subprocess.Popen[bytes], IO[str]]:
    """What `start` of the case returns: a process, and the file that it writes to."""
    log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - its process writes to it
    return subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=log, stderr=log), log


SLEEPS = "import time; time.sleep(300)"


class TestTogether:
    def test_what_each_learned_comes_back_in_order(self, case):
        processes = [python(f"print('noise'); print('LEARNED [{n}.0]')") for n in range(2)]
        assert case.together(processes) == ([[0.0], [1.0]], "")

    def test_when_one_dies_all_are_ended_and_its_error_is_told(self, case):
        processes = [python(SLEEPS), python("raise ValueError('first line {0: 1}\\nsecond')")]
        assert case.together(processes) == ([], "ValueError: first line {...} second")
        assert all(p.returncode is not None for p, _ in processes)

    def test_where_keras_raised_is_told(self, case):
        lines = [
            "Traceback (most recent call last):\n",
            '  File "/x/site-packages/keras/src/backend/trainer.py", line 7, in fit\n',
            '  File "/x/site-packages/keras/src/backend/trainer.py", line 9, in _reduce\n',
            '  File "/x/site-packages/tensorflow/python/ops.py", line 1, in convert\n',
            "ValueError: no\n",
        ]
        assert case.last_error("".join(lines)) == "ValueError: no (raised by _reduce in keras/src/backend/trainer.py)"

    def test_one_that_dies_silently_is_named(self, case):
        assert case.together([python("import os; os._exit(7)")]) == ([], "a worker ended with 7")

    def test_at_the_deadline_all_are_ended(self, case, monkeypatch):
        monkeypatch.setattr(case, "DEADLINE_SECONDS", 0.5)
        processes = [python(SLEEPS), python("pass")]
        with pytest.raises(TimeoutError, match=r"not finished after 0\.5 s"):
            case.together(processes)
        assert processes[0][0].returncode == -signal.SIGKILL


def test_ports_are_free_and_different(case):
    assert len(set(case.free_ports(8))) == 8


def test_nothing_is_left_behind_when_the_case_is_killed(tmp_path):
    """Its children see their standard input close and end themselves."""
    (tmp_path / "tensorflow.py").write_text(SLEEPS)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    parent = subprocess.Popen([sys.executable, str(PATH)], env=environment)
    children: list[psutil.Process] = []
    deadline = time.monotonic() + 60
    while not children and time.monotonic() < deadline:
        children = psutil.Process(parent.pid).children()
        time.sleep(0.05)
    assert children
    time.sleep(1.0)
    parent.kill()
    parent.wait()
    _, alive = psutil.wait_procs(children, timeout=60)
    assert not alive


def ended(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(PATH), *arguments]
    return subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)


MODES = "fit, tutorial, one_worker, train_on_batch, evaluate, predict, loop, parameter_server\n"


def test_an_unknown_mode_says_nothing_about_a_release():
    done = ended("--mode=x")
    assert (done.returncode, done.stderr) == (125, "unknown mode 'x': one of " + MODES)


def test_where_there_is_no_framework_it_cannot_be_tested(tmp_path):
    (tmp_path / "tensorflow.py").write_text("raise ImportError('not here')")
    done = ended(PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stderr) == (125, "a single process fails too: ImportError: not here\n")
