"""The verdict of a script: git's own contract of exit codes."""

from __future__ import annotations

from harness.domain.cases.case import Case
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import InfrastructureError
from harness.domain.trials.observation import Ending, EndingKind, Observation
from harness.domain.verdicts.reasons import Reason, ReasonKind
from harness.domain.verdicts.signatures import signature
from harness.domain.verdicts.surroundings import case_error
from harness.domain.verdicts.termination import OUT_OF_MEMORY, failure, manner, signal_name, untestable
from harness.domain.verdicts.verdict import GOOD, Verdict, bad, hidden, skip

LAST_LINE = 200
"""So many characters of the last line that a script printed are kept."""


def judge_script(case: Case, observation: Observation) -> dict[Symptom, Verdict]:
    """Judge a script by how it left; raises `InfrastructureError` where git bisect aborts."""
    ending = observation.ending
    own = Symptom.EXCEPTION if case.expects in (None, Symptom.KILLED, Symptom.TIMEOUT) else case.expects
    symptoms = sorted({own, Symptom.KILLED, Symptom.TIMEOUT}, key=list(Symptom).index)
    code = ending.exit_code
    aborts = ending.kind is EndingKind.SIGNALLED or (code is not None and code >= 128)
    by_force = aborts or ending.kind is EndingKind.OUT_OF_MEMORY
    if ending.kind is EndingKind.TIMED_OUT or (by_force and case.expects is Symptom.KILLED):
        symptom = Symptom.TIMEOUT if ending.kind is EndingKind.TIMED_OUT else Symptom.KILLED
        late = Reason(kind=ReasonKind.TIMEOUT, seconds=case.timeout_seconds)
        why = late if symptom is Symptom.TIMEOUT else _left(ending)
        known_by = signature(symptom.value, exception=manner(ending))
        return {s: bad(why, known_by) if s is symptom else hidden(symptom, why) for s in symptoms}
    if aborts:
        raise InfrastructureError(
            f"the script was ended by force ({_left(ending)}): the search is stopped, as git bisect does",
            where=case.path,
            hint='if that is the symptom, say expects = "killed" in its metadata; else see the trial\'s log',
        )
    if reason := untestable(ending, case):
        return dict.fromkeys(symptoms, skip(reason))
    if code is None and ending.kind is not EndingKind.FINISHED:
        return dict.fromkeys(symptoms, skip(Reason(kind=ReasonKind.NOT_RUNNABLE, cause=failure(ending))))
    if code == 125:
        return dict.fromkeys(symptoms, skip(Reason(kind=ReasonKind.SCRIPT_SKIPS)))
    if why_not := case_error(case, observation):
        return dict.fromkeys(symptoms, skip(Reason(kind=ReasonKind.CASE_ERROR, detail=why_not[:LAST_LINE])))
    if code:
        last = observation.output.strip().splitlines()[-1:] or [""]
        why = Reason(kind=ReasonKind.EXIT_CODE, exit_code=code, detail=last[0][:LAST_LINE])
        known_by = signature(own.value, exception=manner(ending), message=last[0])
        return {s: bad(why, known_by) if s is own else hidden(own, why) for s in symptoms}
    return dict.fromkeys(symptoms, GOOD)


def _left(ending: Ending) -> Reason:
    if ending.kind is EndingKind.OUT_OF_MEMORY:
        return Reason(kind=ReasonKind.KILLED, name=OUT_OF_MEMORY)
    if ending.signal is not None:
        return Reason(kind=ReasonKind.KILLED, name=signal_name(ending.signal))
    return Reason(kind=ReasonKind.EXIT_CODE, exit_code=ending.exit_code)
