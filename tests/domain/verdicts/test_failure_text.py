"""Type and message of a failure, and whether it is the one asked for."""

from __future__ import annotations

import pytest

from harness.domain.cases.case import Level
from harness.domain.cases.symptoms import Symptom
from harness.domain.trials.observation import EndingKind, Stage
from harness.domain.verdicts.failure_text import failure_line, raised_in
from harness.domain.verdicts.judgement import judge
from harness.domain.verdicts.verdict import Outcome
from tests.examples import case, ending, observation, script

TRACEBACK = """\
epoch 1
Traceback (most recent call last):
  File "x.py", line 3, in <module>
    main()
ValueError: Exception encountered when calling Dense.call().

shapes do not fit

Arguments received by Dense.call():
  inputs=tf.Tensor(shape=(2, 3))"""
CHAINED = f"""\
{TRACEBACK}

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "x.py", line 9, in <module>
    raise Late
x.Late"""


@pytest.mark.parametrize(
    ("output", "line"),
    [
        (TRACEBACK, "ValueError: Exception encountered when calling Dense.call()."),
        (CHAINED, "x.Late"),
        ("planted\nfailed: 3 of 4\n", "failed: 3 of 4"),
        ("Traceback (most recent call last):\n  cut off", "  cut off".strip()),
        ("KeyError: 1", "KeyError: 1"),
        ("", ""),
    ],
)
def test_the_line_that_tells_how_a_script_failed(output, line):
    assert failure_line(output).strip() == line


def test_all_lines_of_a_message_are_kept():
    assert raised_in(TRACEBACK).splitlines()[2] == "shapes do not fit"
    assert raised_in("no traceback") == ""


@pytest.mark.parametrize(
    ("match", "outcome"),
    [
        ("ValueError", Outcome.BAD),
        ("ValueError.*Dense", Outcome.BAD),
        ("shapes do not fit", Outcome.BAD),
        ("epoch 1", Outcome.SKIP),
        ("^TypeError", Outcome.SKIP),
    ],
)
def test_another_failure_of_a_script_is_skip(match, outcome):
    about = case(level=Level.SCRIPT, match=match)
    verdicts = judge(about, script(1, output=TRACEBACK), None)
    assert verdicts[Symptom.EXCEPTION].outcome is outcome
    if outcome is Outcome.SKIP:
        assert str(verdicts[Symptom.EXCEPTION].reason).startswith(
            "another failure than the one asked for: exit code 1: ValueError: "
        )


def test_a_script_that_passes_is_good_whatever_was_asked_for():
    verdicts = judge(case(level=Level.SCRIPT, match="x"), script(0), None)
    assert {v.outcome for v in verdicts.values()} == {Outcome.GOOD}


def test_without_a_traceback_the_output_is_looked_through():
    about = case(level=Level.SCRIPT, match="3 of 4")
    assert judge(about, script(1, output="failed: 3 of 4\nbye"), None)[Symptom.EXCEPTION].outcome is Outcome.BAD


@pytest.mark.parametrize(("match", "outcome"), [("KeyError: 'lr'", Outcome.BAD), ("ValueError", Outcome.SKIP)])
def test_another_failure_of_a_model_is_skip(match, outcome):
    raised = ending(EndingKind.RAISED, Stage.TRAIN, exception="KeyError", message="'lr'")
    assert judge(case(match=match), observation({}, ending=raised), None)[Symptom.EXCEPTION].outcome is outcome


def test_a_kill_has_no_message_and_matches_nothing():
    killed = ending(EndingKind.SIGNALLED, Stage.TRAIN, signal=11)
    verdict = judge(case(match="KeyError"), observation({}, ending=killed), None)[Symptom.KILLED]
    assert verdict.outcome is Outcome.SKIP
