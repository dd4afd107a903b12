"""The verdict of a script: git's own contract of exit codes."""

from __future__ import annotations

from harness.domain.cases.case import Case
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import InfrastructureError
from harness.domain.trials.observation import Ending, EndingKind, Observation
from harness.domain.trials.termination import failure, manner, signal_name, untestable
from harness.domain.verdicts.signatures import signature
from harness.domain.verdicts.verdict import GOOD, Verdict, bad, hidden, skip


def judge_script(case: Case, observation: Observation) -> dict[Symptom, Verdict]:
    """Judge a script by how it left; raises `InfrastructureError` where git bisect aborts."""
    ending = observation.ending
    own = Symptom.EXCEPTION if case.expects in (None, Symptom.KILLED, Symptom.TIMEOUT) else case.expects
    symptoms = sorted({own, Symptom.KILLED, Symptom.TIMEOUT}, key=list(Symptom).index)
    code = ending.exit_code
    aborts = ending.kind is EndingKind.SIGNALLED or (code is not None and code >= 128)
    if ending.kind is EndingKind.TIMED_OUT or (aborts and case.expects is Symptom.KILLED):
        symptom = Symptom.TIMEOUT if ending.kind is EndingKind.TIMED_OUT else Symptom.KILLED
        late = f"not finished after {case.timeout_seconds:g} s"
        why = late if symptom is Symptom.TIMEOUT else _left(ending)
        told = signature(symptom.value, exception=manner(ending))
        return {s: bad(why, told) if s is symptom else hidden(symptom, why) for s in symptoms}
    if aborts:
        raise InfrastructureError(
            f"the script was ended by force ({_left(ending)}): the search is stopped, as git bisect does",
            where=case.path,
            hint='if that is the symptom, say expects = "killed" in its metadata; else see the trial\'s log',
        )
    if reason := untestable(ending, case):
        return dict.fromkeys(symptoms, skip(reason))
    if code is None and ending.kind is not EndingKind.FINISHED:
        return dict.fromkeys(symptoms, skip(f"the script could not be run: {failure(ending)}"))
    if code == 125:
        return dict.fromkeys(symptoms, skip("the script says: cannot be tested (exit code 125)"))
    if code:
        last = observation.output.strip().splitlines()[-1:] or [""]
        why = f"exit code {code}" + (f": {last[0][:200]}" if last[0] else "")
        told = signature(own.value, exception=manner(ending), message=last[0])
        return {s: bad(why, told) if s is own else hidden(own, why) for s in symptoms}
    return dict.fromkeys(symptoms, GOOD)


def _left(ending: Ending) -> str:
    if ending.signal is not None:
        return f"killed by {signal_name(ending.signal)}"
    return f"exit code {ending.exit_code}"
