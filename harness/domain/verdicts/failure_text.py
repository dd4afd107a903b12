"""Type and message of a failure, and whether it is the one that a case asks for."""

from __future__ import annotations

import re
from collections.abc import Mapping

from harness.domain.cases.case import Case
from harness.domain.cases.symptoms import FAILURES, Symptom
from harness.domain.trials.observation import Observation
from harness.domain.verdicts.reasons import Reason, ReasonKind
from harness.domain.verdicts.verdict import Outcome, Verdict, skip

_BEGINS = "Traceback (most recent call last):"
_RAISED = re.compile(r"[A-Za-z_][\w.]*(?::(?:\s.*)?)?")


def raised_in(output: str) -> str:
    """Type and message of the last traceback that a script printed, several lines if it has them; "" for none."""
    lines = output.rstrip().splitlines()
    begin = next((n for n in range(len(lines) - 1, -1, -1) if lines[n].strip() == _BEGINS), len(lines))
    raised = next((n for n in range(begin + 1, len(lines)) if _RAISED.fullmatch(lines[n])), len(lines))
    return "\n".join(lines[raised:])


def failure_line(output: str) -> str:
    """The line that tells how a script failed: what its last traceback raised, else the last line that it printed."""
    return raised_in(output).partition("\n")[0] or (output.strip().splitlines()[-1:] or [""])[0]


def only_matching(case: Case, observation: Observation, verdicts: Mapping[Symptom, Verdict]) -> dict[Symptom, Verdict]:
    """The verdicts, a failure of another kind than the case asks for being ``skip``: it tells nothing of that one."""
    found = dict(verdicts)
    if case.match and not re.search(case.match, _told_by(observation), re.MULTILINE):
        for symptom in FAILURES:
            if symptom in found and found[symptom].outcome is Outcome.BAD:
                found[symptom] = skip(Reason(kind=ReasonKind.OTHER_FAILURE, cause=found[symptom].reason))
    return found


def _told_by(observation: Observation) -> str:
    """Type and message of what a trial failed with; what a script printed where there was no traceback."""
    ending = observation.ending
    if ending.exception:
        return f"{ending.exception}: {ending.message or ''}"
    return raised_in(observation.output) or observation.output.strip() or (ending.message or "")
