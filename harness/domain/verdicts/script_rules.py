"""The verdict of a script: git's own contract of exit codes."""

from __future__ import annotations

import re

from harness.domain.cases.case import Case
from harness.domain.cases.symptoms import READ, Symptom
from harness.domain.errors import InfrastructureError
from harness.domain.trials.observation import Ending, EndingKind, Observation
from harness.domain.verdicts.failure_text import failure_line
from harness.domain.verdicts.reasons import Reason, ReasonKind
from harness.domain.verdicts.signatures import signature
from harness.domain.verdicts.surroundings import case_error
from harness.domain.verdicts.termination import OUT_OF_MEMORY, failure, manner, not_imported, signal_name, untestable
from harness.domain.verdicts.verdict import GOOD, Verdict, bad, hidden, skip

LAST_LINE = 200
"""So many characters of the line that tells how a script failed are kept."""

_BY_SCRIPTS = re.compile(r"(?:ImportError|ModuleNotFoundError)\b")
_NEVER_BY_EXIT_CODE = (Symptom.KILLED, Symptom.TIMEOUT, *READ)


def judge_script(case: Case, observation: Observation) -> dict[Symptom, Verdict]:
    """Judge a script by how it left; raises `InfrastructureError` where git bisect aborts."""
    ending = observation.ending
    own = _own(case, observation)
    imports = {Symptom.IMPORT_ERROR, Symptom.EXCEPTION} if case.expects is Symptom.IMPORT_ERROR else set()
    symptoms = sorted({own, Symptom.KILLED, Symptom.TIMEOUT, *imports}, key=list(Symptom).index)
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
    if failed := not_imported(ending, case):
        known_by = signature(own.value, exception=manner(ending), message=ending.message or "")
        return {s: bad(failed, known_by) if s is own else hidden(own, failed) for s in symptoms}
    if code is None and ending.kind is not EndingKind.FINISHED:
        return dict.fromkeys(symptoms, skip(Reason(kind=ReasonKind.NOT_RUNNABLE, cause=failure(ending))))
    if code == 125:
        return dict.fromkeys(symptoms, skip(Reason(kind=ReasonKind.SCRIPT_SKIPS)))
    if why_not := case_error(case, observation):
        return dict.fromkeys(symptoms, skip(Reason(kind=ReasonKind.CASE_ERROR, detail=why_not[:LAST_LINE])))
    if code:
        last = failure_line(observation.output)
        why = Reason(kind=ReasonKind.EXIT_CODE, exit_code=code, detail=last[:LAST_LINE])
        known_by = signature(own.value, exception=manner(ending), message=last)
        return {s: bad(why, known_by) if s is own else hidden(own, why) for s in symptoms}
    return dict.fromkeys(symptoms, GOOD)


def _own(case: Case, observation: Observation) -> Symptom:
    """The symptom that a bad exit code shows."""
    if case.expects is Symptom.IMPORT_ERROR:
        at_import = not_imported(observation.ending, case) or _BY_SCRIPTS.match(failure_line(observation.output))
        return Symptom.IMPORT_ERROR if at_import else Symptom.EXCEPTION
    if case.expects is None or case.expects in _NEVER_BY_EXIT_CODE:
        return Symptom.EXCEPTION
    return case.expects


def _left(ending: Ending) -> Reason:
    if ending.kind is EndingKind.OUT_OF_MEMORY:
        return Reason(kind=ReasonKind.KILLED, name=OUT_OF_MEMORY)
    if ending.signal is not None:
        return Reason(kind=ReasonKind.KILLED, name=signal_name(ending.signal))
    return Reason(kind=ReasonKind.EXIT_CODE, exit_code=ending.exit_code)
