"""A verdict that is not good has its reason, and what is hidden says by what."""

from __future__ import annotations

import pytest

from harness.domain.cases.symptoms import Symptom
from harness.domain.verdicts.reasons import NO_REASON, ReasonKind, recorded
from harness.domain.verdicts.verdict import GOOD, Outcome, Verdict, bad, hidden, skip

RAISED = recorded("ValueError: bad shape")


@pytest.mark.parametrize("symptom", Symptom)
def test_what_is_hidden_cannot_be_told_and_names_what_hides_it(symptom: Symptom) -> None:
    verdict = hidden(symptom, RAISED)
    assert (verdict.outcome, verdict.hidden, verdict.signature) == (Outcome.SKIP, True, "")
    assert (verdict.reason.kind, verdict.reason.hidden_by, verdict.reason.cause) == (
        ReasonKind.HIDDEN,
        symptom,
        RAISED,
    )


def test_nothing_else_is_hidden():
    """A sentence that happens to begin so hides nothing: it may be an exception's message."""
    message = recorded("hidden by exception: this is what the script printed")
    assert not any(verdict.hidden for verdict in (GOOD, bad(message, "s"), skip(message)))


def test_good_needs_no_reason():
    assert Verdict(outcome=Outcome.GOOD) == GOOD
    assert GOOD.reason is NO_REASON
