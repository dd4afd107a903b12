"""The probe's process tree: real small processes, with modules of the test in the place of a framework."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

import harness
from harness import codec
from harness.domain.trials.observation import EndingKind, Observation, Stage

PROBE = Path(harness.__file__).parent / "probe" / "__main__.py"
TOY = """
import os, sys, types

class Callback:
    model = None

class History:
    history = {"loss": [0.5, 0.25]}

class Model:
    weights, metrics, optimizer = [], [], None

    def fit(self, x, y, callbacks, **rest):
        for callback in callbacks:
            callback.model = self
            callback.on_train_begin()
            callback.on_train_batch_end(0, {"loss": 0.25})
        return History()

    def evaluate(self, **kept):
        return {"loss": 0.25}

    def count_params(self):
        return 0

callbacks = types.SimpleNamespace(Callback=Callback)
utils = types.SimpleNamespace(set_random_seed=lambda seed: None)
__version__ = "1.0"
"""
TENSORFLOW = """
import types
config = types.SimpleNamespace(list_physical_devices=lambda kind: [])
"""
CASE = """
import os, sys, signal, json
import toy

def data():
    return [1.0], [1.0]

def model():
    {body}
    return toy.Model()
"""


@pytest.fixture
def probe(tmp_path):
    """Run one or several bodies of ``model()``, each in a trial of its own; returns the observations."""
    (tmp_path / "toy.py").write_text(TOY)
    (tmp_path / "tensorflow.py").write_text(TENSORFLOW)
    (tmp_path / "results").mkdir()

    def run(body="pass", trials=1, **changes):
        case = tmp_path / "case.py"
        case.write_text(CASE.format(body=body.replace("\n", "\n    ")))
        one = {"kind": "model", "strategy": "none", "replicas": 1, "options": {}, "timeout_seconds": 20}
        request = {
            "parent": os.getpid(),
            "imports": ["toy"],
            "import_name": "toy",
            "results": str(tmp_path / "results"),
            "case": str(case),
            "seed": 0,
            "fit": {},
            "paths": [str(tmp_path)],
            "trials": [{**one, **changes, "id": f"trial-{n}"} for n in range(trials)],
        }
        (tmp_path / "request.json").write_text(json.dumps(request))
        command = [sys.executable, "-I", str(PROBE), str(tmp_path / "request.json")]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        found = [(tmp_path / "results" / f"trial-{n}.json").read_text() for n in range(trials)]
        return [codec.loads(Observation, text) for text in found]

    return run


needs_numpy = pytest.mark.skipif(
    subprocess.run([sys.executable, "-c", "import numpy"], check=False, capture_output=True).returncode != 0,
    reason="the probe reads arrays with NumPy",
)
pytestmark = needs_numpy


def test_a_trial_that_finishes(probe):
    (seen,) = probe()
    assert seen.ending.kind is EndingKind.FINISHED
    assert (seen.final, seen.evaluated) == ({"loss": 0.25}, {"loss": 0.25})
    assert seen.versions["toy"] == "1.0"


class TestWhoSaysHowItEnded:
    """A case can do what it likes with its own process; it cannot speak for the probe."""

    @pytest.mark.parametrize("code", [0, 1, 70])
    def test_leaving_without_a_result_is_never_finished(self, probe, code):
        (seen,) = probe(f"os._exit({code})")
        assert (seen.ending.kind, seen.ending.exit_code) == (EndingKind.EXITED, code)
        assert seen.ending.stage is Stage.BUILD
        assert seen.numbers == {}

    @pytest.mark.parametrize("word", ["sys.exit(0)", "raise SystemExit", "raise KeyboardInterrupt"])
    def test_nor_is_asking_to_leave(self, probe, word):
        (seen,) = probe(word)
        assert (seen.ending.kind, seen.ending.stage) == (EndingKind.RAISED, Stage.BUILD)

    def test_a_result_file_of_the_case_does_not_count(self, probe):
        good = {"ending": {"kind": "finished", "stage": "evaluate"}, "final": {"loss": 0.1}}
        body = (
            'folder = json.load(open(sys.argv[1]))["results"]\n'
            "for n in range(2):\n"
            f'    json.dump({good!r}, open(f"{{folder}}/trial-{{n}}.json", "w"))\n'
            "os._exit(0)"
        )
        for seen in probe(body, trials=2):
            assert (seen.ending.kind, seen.numbers) == (EndingKind.EXITED, {})

    def test_a_child_of_the_case_has_no_say(self, probe):
        (seen,) = probe("if os.fork() == 0:\n    toy.History.history = {'loss': [9.0]}\nelse:\n    os.wait()")
        assert seen.ending.kind is EndingKind.FINISHED
        assert seen.final == {"loss": 0.25}

    def test_what_the_case_leaves_running_is_ended(self, probe, tmp_path):
        body = (
            "if os.fork() == 0:\n    os.setsid()\n    import time\n"
            f"    open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n    time.sleep(60)\n"
            "import time; time.sleep(0.5)"
        )
        (seen,) = probe(body)
        assert seen.ending.kind is EndingKind.FINISHED
        left = int((tmp_path / "pid").read_text())
        assert not psutil.pid_exists(left) or psutil.Process(left).status() == psutil.STATUS_ZOMBIE

    def test_another_working_folder_does_not_matter(self, probe):
        (seen,) = probe("os.chdir('/')")
        assert seen.ending.kind is EndingKind.FINISHED

    def test_closed_streams_do_not_matter(self, probe):
        (seen,) = probe("os.close(1)\nos.close(2)")
        assert seen.ending.kind is EndingKind.FINISHED

    def test_a_trial_that_hangs_is_ended(self, probe):
        (seen,) = probe("import time; time.sleep(60)", timeout_seconds=5)
        assert (seen.ending.kind, seen.ending.stage) == (EndingKind.TIMED_OUT, Stage.BUILD)

    def test_one_that_ignores_signals_too(self, probe):
        (seen,) = probe("signal.signal(signal.SIGTERM, signal.SIG_IGN)\nimport time; time.sleep(60)", timeout_seconds=1)
        assert seen.ending.kind is EndingKind.TIMED_OUT

    def test_a_trial_that_is_killed(self, probe):
        (seen,) = probe("os.kill(os.getpid(), signal.SIGSEGV)")
        assert (seen.ending.kind, seen.ending.signal) == (EndingKind.SIGNALLED, 11)

    def test_a_broken_trial_does_not_touch_the_next(self, probe):
        body = "if 'broken' in os.environ: raise ValueError\nos.environ['broken'] = 'yes'\ntoy.Model = None"
        assert [seen.ending.kind for seen in probe(body, trials=2)] == [EndingKind.RAISED] * 2
        assert [seen.ending.exception for seen in probe(body, trials=2)] == ["TypeError"] * 2


class TestMessages:
    def test_text_that_is_no_text(self, probe):
        (seen,) = probe('raise ValueError("half \\ud800 nul \\x00")')
        assert seen.ending.message is not None
        assert seen.ending.message.startswith("half \\ud800 nul")

    def test_an_exception_whose_message_cannot_be_had(self, probe):
        body = "class Odd(Exception):\n    def __str__(self):\n        raise TypeError\nraise Odd"
        (seen,) = probe(body)
        assert seen.ending.message == "(its message cannot be shown: TypeError)"

    def test_what_cannot_be_written_is_no_verdict(self, probe):
        """Our own failure: the trial is refused, and nobody blames the release."""
        (seen,) = probe("sys.modules['harness_probe.child'].describe = None\nraise ValueError")
        assert seen.ending.kind is not EndingKind.FINISHED

    def test_metric_names_may_be_anything(self, probe):
        (seen,) = probe(
            "toy.History.history = {'\\ud800': [1.0], 3: [2.0], 'many': [[1.0, float('nan')]], 'no': [None]}"
        )
        assert seen.final["\\ud800"] == 1.0
        assert seen.final["3"] == 2.0
        assert [name for name in seen.final if name.startswith("many")] == ["many[0]", "many[1]"]
        assert "no" not in seen.final
        assert seen.first_nonfinite_metric is not None
        assert seen.first_nonfinite_metric.name == "many[1]"
