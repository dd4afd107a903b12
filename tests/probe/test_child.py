"""The process of one trial: what it writes of a case that finishes, raises, forks or cannot be described."""

from __future__ import annotations

import sys

import pytest

from harness.domain.trials.observation import EndingKind, Stage
from tests.probe.conftest import trial


class TestHowItEnded:
    @pytest.mark.parametrize("word", ["sys.exit(0)", "raise SystemExit", "raise KeyboardInterrupt"])
    def test_leaving_in_the_middle_is_never_finished(self, probe, word):
        (seen,) = probe(word)
        assert (seen.ending.kind, seen.ending.stage) == (EndingKind.RAISED, Stage.BUILD)

    def test_a_child_of_the_case_writes_nothing(self, probe):
        (seen,) = probe("if os.fork() == 0:\n    toy.History.history = {'loss': [9.0]}\nelse:\n    os.wait()")
        assert seen.ending.kind is EndingKind.FINISHED
        assert seen.final == {"loss": 0.25}

    def test_nor_does_it_when_the_trial_itself_leaves(self, probe):
        (seen,) = probe("if os.fork() != 0:\n    os.wait()\n    os._exit(0)")
        assert (seen.ending.kind, seen.ending.exit_code) == (EndingKind.EXITED, 0)

    def test_another_working_folder_does_not_matter(self, probe):
        (seen,) = probe("os.chdir('/')")
        assert seen.ending.kind is EndingKind.FINISHED

    def test_closed_streams_do_not_matter(self, probe):
        (seen,) = probe("os.close(1)\nos.close(2)")
        assert seen.ending.kind is EndingKind.FINISHED

    def test_a_refusal_is_kept_with_its_reason(self, probe):
        (seen,) = probe(strategy="parameter_server")
        assert (seen.ending.kind, seen.ending.stage) == (EndingKind.REFUSED, Stage.DEVICES)
        assert seen.ending.message == "the strategy 'parameter_server' is not a strategy of one process"

    def test_its_memory_is_measured(self, probe):
        taken = 60 * 2**20
        small, large = (probe(body)[0] for body in ("pass", f"hold = bytearray({taken})\nhold[::4096] = hold[::4096]"))
        assert large.peak_memory_bytes - small.peak_memory_bytes > taken // 2


class TestMessages:
    def test_text_that_is_no_text(self, probe):
        (seen,) = probe('raise ValueError("half \\ud800 nul \\x00")')
        assert seen.ending.message is not None
        assert seen.ending.message.startswith("half \\ud800 nul")

    def test_an_exception_whose_message_cannot_be_had(self, probe):
        body = "class Odd(Exception):\n    def __str__(self):\n        raise TypeError\nraise Odd"
        (seen,) = probe(body)
        assert seen.ending.message == "(its message cannot be shown: TypeError)"

    def test_the_frames_of_the_case_are_kept_and_printed(self, probe):
        (seen,) = probe("raise ValueError('here')")
        assert "case.py" in seen.ending.traceback
        assert "ValueError: here" in seen.output

    def test_what_cannot_be_described_is_no_verdict(self, probe):
        (seen,) = probe("sys.modules['harness_probe.child'].describe = None\nraise ValueError")
        assert (seen.ending.kind, seen.ending.exit_code) == (EndingKind.EXITED, 70)

    def test_what_cannot_be_written_is_refused(self, probe):
        """Our own failure: nobody blames the release."""
        (seen,) = probe(
            "model = sys.modules['harness_probe.training.model']\n"
            "model.evaluate = lambda net, arguments: {'loss': object()}"
        )
        assert seen.ending.kind is EndingKind.REFUSED
        assert seen.ending.message.startswith("the probe could not write what it saw: Object of type object")

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


class TestScripts:
    def test_a_script_takes_over_the_process(self, probe):
        text = "import os, sys\nprint(sys.argv[1:], os.path.basename(sys.executable))\nsys.exit(7)"
        written = probe.serve(trial("trial-0", kind="script", arguments=["--fault=none"]), case=text, imports=[])
        ending = written["trial-0"]["ending"]
        assert (ending["kind"], ending["stage"], ending["exit_code"]) == ("exited", "script", 7)
        assert written["trial-0"]["output"].split() == ["['--fault=none']", sys.executable.rsplit("/", 1)[-1]]

    def test_a_script_reads_nothing_from_its_parent(self, probe):
        written = probe.serve(trial("trial-0", kind="script"), case="import sys; print(repr(sys.stdin.read()))")
        assert written["trial-0"]["output"].strip() == "''"
