"""The stage that a trial has reached can be read after its process was killed."""

from __future__ import annotations

import os

import pytest

from harness.domain.trials.observation import Stage
from harness.probe.stages import STAGES, reached, stage_marker
from tests.probe.running import python


def test_the_last_stage_counts(tmp_path):
    path = str(tmp_path / "stage")
    enter = stage_marker(path)
    for stage in ("devices", "build", "train"):
        enter(stage)
        assert reached(path) == stage


def test_while_none_was_entered_it_is_the_first_that_every_trial_has(tmp_path):
    path = tmp_path / "stage"
    assert reached(str(path)) == "load"
    path.write_text("")  # killed between opening and writing
    assert Stage(reached(str(path))) is Stage.LOAD


def test_a_killed_process_has_left_its_stage(tmp_path):
    program = """
    import os, signal, sys
    from harness.probe.stages import stage_marker
    stage_marker(sys.argv[1])("data")
    os.kill(os.getpid(), signal.SIGKILL)
    """
    python(program, str(tmp_path / "stage"), code=-9)
    assert reached(str(tmp_path / "stage")) == "data"


@pytest.mark.parametrize("content", [b"\xff\xfe", b"nowhere", b"imports", b"x" * 100_000, b"\x00"])
def test_what_a_case_writes_into_it_is_no_stage(tmp_path, content):
    (tmp_path / "stage").write_bytes(content)
    assert reached(str(tmp_path / "stage")) == "load"


def test_something_else_in_its_place_ends_neither_the_trial_nor_the_probe(tmp_path):
    (tmp_path / "folder").mkdir()
    stage_marker(str(tmp_path / "folder"))("train")
    os.mkfifo(tmp_path / "pipe")
    for name in ("folder", "pipe"):
        assert reached(str(tmp_path / name)) == "load"


def test_every_stage_that_a_trial_enters_is_known():
    assert set(STAGES) == {stage.value for stage in Stage}
