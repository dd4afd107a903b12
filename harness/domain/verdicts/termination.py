"""How a trial ended, and whether that tells anything of the release."""

from __future__ import annotations

import signal
from dataclasses import replace

from harness.domain.cases.case import Case
from harness.domain.cases.symptoms import Symptom
from harness.domain.trials.observation import Ending, EndingKind, Stage
from harness.domain.verdicts.reasons import Reason, ReasonKind

OUT_OF_MEMORY = "the limit of memory"
"""What ended a trial that needed more memory than it may have, as a sentence names it."""

LONGEST = 300
"""So many characters of an exception's message are kept."""


def untestable(ending: Ending, case: Case) -> Reason | None:
    """Say why a trial that ended in this way tells nothing about the release, or return None."""
    if ending.kind is EndingKind.REFUSED:
        return Reason(kind=ReasonKind.REFUSED, detail=ending.message or "")
    if ending.kind is EndingKind.OUT_OF_MEMORY and case.expects is not Symptom.KILLED:
        return Reason(kind=ReasonKind.OUT_OF_MEMORY, detail=ending.message or "")
    if ending.signal == signal.SIGKILL and case.expects is not Symptom.KILLED:
        return Reason(kind=ReasonKind.OUT_OF_MEMORY)
    if not_imported(ending, case):
        return None
    unstarted = (Stage.IMPORT, Stage.DEVICES, *([Stage.LOAD] if ending.kind is EndingKind.RAISED else []))
    if ending.stage in unstarted and (ended := ended_badly(ending, case)):
        return Reason(kind=ReasonKind.NOT_STARTED, cause=ended[1])
    return None


def not_imported(ending: Ending, case: Case) -> Reason | None:
    """What the package under test raised on its import, where the case is about that; None otherwise."""
    wanted = case.expects is Symptom.IMPORT_ERROR
    return failure(ending) if wanted and ending.kind is EndingKind.RAISED and ending.stage is Stage.IMPORT else None


def ended_badly(ending: Ending, case: Case) -> tuple[Symptom, Reason] | None:
    """The symptom that a bad end shows, with its reason; None for an end that shows none."""
    stage = ending.stage
    match ending.kind:
        case EndingKind.RAISED:
            return Symptom.EXCEPTION, replace(failure(ending), stage=stage)
        case EndingKind.SIGNALLED:
            killed = Reason(kind=ReasonKind.KILLED, name=signal_name(ending.signal), stage=stage)
            return Symptom.KILLED, killed
        case EndingKind.OUT_OF_MEMORY:
            return Symptom.KILLED, Reason(kind=ReasonKind.KILLED, name=OUT_OF_MEMORY, stage=stage)
        case EndingKind.TIMED_OUT:
            return Symptom.TIMEOUT, Reason(kind=ReasonKind.TIMEOUT, seconds=case.timeout_seconds, stage=stage)
        case EndingKind.EXITED:
            return Symptom.EXCEPTION, Reason(kind=ReasonKind.EXITED, exit_code=ending.exit_code, stage=stage)
        case _:
            return None


def signal_name(number: int | None) -> str:
    """Name of a signal, for example SIGSEGV."""
    try:
        return signal.Signals(number or 0).name
    except ValueError:
        return f"signal {number}"


def failure(ending: Ending) -> Reason:
    """What was raised, or how else it ended, with the first line of the message."""
    first = (ending.message or "").strip().splitlines()[:1]
    detail = first[0][:LONGEST] if first else ""
    return Reason(kind=ReasonKind.EXCEPTION, name=ending.exception or ending.kind.value, detail=detail)


def manner(ending: Ending) -> str:
    """How a trial ended, without what differs from run to run."""
    if ending.kind is EndingKind.SIGNALLED:
        return signal_name(ending.signal)
    if ending.kind is EndingKind.OUT_OF_MEMORY:
        return OUT_OF_MEMORY
    return ending.exception or (f"exit code {ending.exit_code}" if ending.exit_code is not None else "")
