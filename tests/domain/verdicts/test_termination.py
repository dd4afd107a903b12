"""How a trial ended, in words, and what that tells."""

from __future__ import annotations

import signal

import pytest

from harness.domain.cases.symptoms import Symptom
from harness.domain.trials.observation import Ending, EndingKind, Stage
from harness.domain.verdicts.termination import ended_badly, failure, manner, signal_name, untestable
from tests.examples import case, ending

RAISED = ending(EndingKind.RAISED, Stage.TRAIN, exception="ValueError", message=" \n bad shape\n and more")
KILLED = ending(EndingKind.SIGNALLED, Stage.TRAIN, signal=signal.SIGSEGV)
LATE = ending(EndingKind.TIMED_OUT, Stage.EVALUATE)
LEFT = ending(EndingKind.EXITED, Stage.BUILD, exit_code=3)


@pytest.mark.parametrize(
    ("number", "name"), [(11, "SIGSEGV"), (9, "SIGKILL"), (63, "signal 63"), (None, "signal None")]
)
def test_signals_have_names(number, name):
    assert signal_name(number) == name


@pytest.mark.parametrize(
    ("seen", "shown"),
    [
        (RAISED, (Symptom.EXCEPTION, "ValueError: bad shape (while: train)")),
        (KILLED, (Symptom.KILLED, "killed by SIGSEGV (while: train)")),
        (LATE, (Symptom.TIMEOUT, "not finished after 2.5 s (while: evaluate)")),
        (LEFT, (Symptom.EXCEPTION, "left with exit code 3 (while: build)")),
        (ending(), None),
        (ending(EndingKind.REFUSED), None),
    ],
)
def test_a_bad_end_shows_its_symptom_with_the_reason(seen, shown):
    ended = ended_badly(seen, case(timeout_seconds=2.5))
    assert (ended and (ended[0], str(ended[1]))) == shown


@pytest.mark.parametrize(
    ("seen", "text"),
    [
        (RAISED, "ValueError: bad shape"),
        (ending(EndingKind.RAISED, message="x" * 301), "raised: " + "x" * 300),
        (ending(EndingKind.EXITED), "exited: no message"),
    ],
)
def test_a_failure_is_one_line(seen, text):
    assert str(failure(seen)) == text


@pytest.mark.parametrize(
    ("seen", "text"),
    [
        (RAISED, "ValueError"),
        (KILLED, "SIGSEGV"),
        (ending(EndingKind.SIGNALLED, signal=11, exception="ValueError"), "SIGSEGV"),
        (LEFT, "exit code 3"),
        (ending(EndingKind.EXITED, exit_code=0), "exit code 0"),
        (LATE, ""),
    ],
)
def test_the_manner_of_an_end_does_not_differ_from_run_to_run(seen, text):
    assert manner(seen) == text


@pytest.mark.parametrize(
    ("seen", "expects", "why"),
    [
        (ending(EndingKind.REFUSED, message="no TPU"), None, "no TPU"),
        (ending(EndingKind.REFUSED), None, "the trial could not be run here"),
        (
            ending(EndingKind.SIGNALLED, Stage.TRAIN, signal=signal.SIGKILL),
            Symptom.TIMEOUT,
            "killed by SIGKILL, most likely for lack of memory: the machine's fault, not the release's",
        ),
        (ending(EndingKind.SIGNALLED, Stage.TRAIN, signal=signal.SIGKILL), Symptom.KILLED, None),
        (
            ending(EndingKind.OUT_OF_MEMORY, Stage.TRAIN, message="needs more than 2 bytes"),
            None,
            "needs more than 2 bytes",
        ),
        (ending(EndingKind.OUT_OF_MEMORY, Stage.TRAIN), Symptom.KILLED, None),
        (
            ending(EndingKind.RAISED, Stage.LOAD),
            None,
            "failed before the case could start: raised: no message (while: load)",
        ),
        (ending(EndingKind.SIGNALLED, Stage.LOAD, signal=11), None, None),
        (
            ending(EndingKind.SIGNALLED, Stage.DEVICES, signal=11),
            None,
            "failed before the case could start: killed by SIGSEGV (while: devices)",
        ),
        (ending(stage=Stage.IMPORT), None, None),
        (RAISED, None, None),
    ],
)
def test_what_tells_nothing_of_the_release_says_why(seen: Ending, expects: Symptom | None, why: str | None):
    reason = untestable(seen, case(expects=expects))
    assert (None if reason is None else str(reason)) == why
