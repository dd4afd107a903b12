"""Verdicts to grade, named by what shows."""

from __future__ import annotations

from harness.domain.cases.symptoms import Symptom
from harness.domain.verdicts.reasons import recorded
from harness.domain.verdicts.verdict import GOOD, Outcome, Verdict

BAD = Verdict(outcome=Outcome.BAD, reason=recorded("it shows"), signature="one")
SKIP = Verdict(outcome=Outcome.SKIP, reason=recorded("cannot be told"))
NAN, WEIGHTS, WRONG = Symptom.NONFINITE_METRIC, Symptom.WRONG_WEIGHTS, Symptom.WRONG_METRIC


def verdicts(**shown):
    """Everything is good but for what is named, with underscores for hyphens."""
    found = dict.fromkeys(Symptom, GOOD)
    return found | {Symptom(name.replace("_", "-")): verdict for name, verdict in shown.items()}
