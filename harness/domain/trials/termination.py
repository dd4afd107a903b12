"""How a trial ended, in words, and whether that tells anything of the release."""

from __future__ import annotations

import signal

from harness.domain.cases.case import Case
from harness.domain.cases.symptoms import Symptom
from harness.domain.trials.observation import Ending, EndingKind, Stage


def untestable(ending: Ending, case: Case) -> str | None:
    """Say why a trial that ended in this way tells nothing about the release, or return None."""
    if ending.kind is EndingKind.REFUSED:
        return ending.message or "the trial could not be run here"
    if ending.signal == signal.SIGKILL and case.expects is not Symptom.KILLED:
        return "killed by SIGKILL, most likely for lack of memory: the machine's fault, not the release's"
    unstarted = (Stage.IMPORT, Stage.DEVICES, *([Stage.LOAD] if ending.kind is EndingKind.RAISED else []))
    if ending.stage in unstarted and (ended := ended_badly(ending, case)):
        return f"failed before the case could start: {ended[1]}"
    return None


def ended_badly(ending: Ending, case: Case) -> tuple[Symptom, str] | None:
    """The symptom that a bad end shows, with its reason; None for an end that shows none."""
    match ending.kind:
        case EndingKind.RAISED:
            return Symptom.EXCEPTION, f"{failure(ending)} (while: {ending.stage.value})"
        case EndingKind.SIGNALLED:
            return Symptom.KILLED, f"killed by {signal_name(ending.signal)} (while: {ending.stage.value})"
        case EndingKind.TIMED_OUT:
            told = f"not finished after {case.timeout_seconds:g} s (while: {ending.stage.value})"
            return Symptom.TIMEOUT, told
        case EndingKind.EXITED:
            return Symptom.EXCEPTION, f"left with exit code {ending.exit_code} (while: {ending.stage.value})"
        case _:
            return None


def signal_name(number: int | None) -> str:
    """Name of a signal, for example SIGSEGV."""
    try:
        return signal.Signals(number or 0).name
    except ValueError:
        return f"signal {number}"


def failure(ending: Ending) -> str:
    """Say what was raised, in one line."""
    first = (ending.message or "").strip().splitlines()[:1]
    return f"{ending.exception or ending.kind.value}: {first[0][:300] if first else 'no message'}"


def manner(ending: Ending) -> str:
    """How a trial ended, without what differs from run to run."""
    if ending.kind is EndingKind.SIGNALLED:
        return signal_name(ending.signal)
    return ending.exception or (f"exit code {ending.exit_code}" if ending.exit_code is not None else "")
