"""Every named history ends with its expected transitions."""

from __future__ import annotations

import pytest

from harness.domain.findings.transition import Kind
from harness.domain.findings.transitions import transitions
from tests.histories.simulate import play, script, timeline
from tests.histories.table import HISTORIES, History


@pytest.mark.parametrize("history", HISTORIES, ids=lambda history: history.name)
def test_expected_transitions(history: History) -> None:
    """The search finds each planted transition and no other."""
    letters = history.letters
    run = script(letters, rate=history.rate, seed=history.seed, accidents=history.accidents)
    played = play(len(letters), run, history.policy)
    policy = history.policy
    found = transitions(
        timeline(len(letters)), played.history, policy.symptoms, policy.confirmations, policy.confidence
    )
    told = {(t.symptom, int(t.last_before), int(t.first_after), t.kind is Kind.REGRESSION) for t in found}
    assert told == history.transitions
    assert all(t.confirmed for t in found), [t for t in found if not t.confirmed]
    assert all(reason.reason for t in found for reason in t.untested)


def test_names_are_unique_and_many() -> None:
    assert len({history.name for history in HISTORIES}) == len(HISTORIES) >= 60
    assert all(history.what and history.careless for history in HISTORIES)
