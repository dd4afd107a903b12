"""A history searched and summed up."""

from __future__ import annotations

from harness.domain.findings.conclusions import conclude
from harness.domain.findings.transitions import transitions
from harness.domain.search.policy import Policy
from tests.histories.simulate import play, script, timeline


def answer(letters: str, policy: Policy | None = None, **more):
    """Search, then conclude."""
    asked = policy or Policy()
    history = play(len(letters), script(letters, **more), asked).history
    line = timeline(len(letters))
    found = transitions(line, history, asked.symptoms, asked.confirmations, asked.confidence)
    return found, conclude(line, history, asked.symptoms, found)
