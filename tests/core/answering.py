"""A history searched and summed up."""

from __future__ import annotations

from harness.core.conclusions import conclude
from harness.core.policies import Policy
from harness.core.transitions import transitions
from tests.histories.simulate import play, script, timeline


def answer(letters: str, policy: Policy | None = None, **more):
    """Search, then conclude."""
    asked = policy or Policy()
    board = play(len(letters), script(letters, **more), asked).board
    line = timeline(len(letters))
    found = transitions(line, board, asked.symptoms, asked.confirmations, asked.confidence)
    return found, conclude(line, board, asked.symptoms, found)
