"""``harness repro``: one word and one sentence per case."""

from __future__ import annotations

import pytest

from harness.cli.commands.repro import summary
from harness.domain.cases.symptoms import Symptom
from harness.domain.verdicts.reasons import recorded
from harness.domain.verdicts.verdict import GOOD, Outcome, Verdict

NAN = Verdict(outcome=Outcome.BAD, reason=recorded("loss is nan"))
HIDDEN = Verdict(outcome=Outcome.SKIP, reason=recorded("hidden by nonfinite-metric"))


@pytest.mark.parametrize(
    ("verdicts", "told"),
    [
        ({Symptom.EXCEPTION: GOOD}, ("good", "equals its reference on one replica")),
        ({Symptom.EXCEPTION: GOOD, Symptom.WRONG_WEIGHTS: HIDDEN}, ("good", "not judged: hidden by nonfinite-metric")),
        ({Symptom.NONFINITE_METRIC: NAN, Symptom.WRONG_METRIC: HIDDEN}, ("bad", "nonfinite-metric: loss is nan")),
        ({Symptom.EXCEPTION: HIDDEN, Symptom.KILLED: HIDDEN}, ("skip", "hidden by nonfinite-metric")),
        ({}, ("skip", "nothing to judge")),
    ],
)
def test_the_worst_decides_and_what_was_not_judged_is_told(verdicts, told):
    assert summary(verdicts) == told
