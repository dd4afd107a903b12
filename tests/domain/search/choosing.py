"""What a search would try next, on a board drawn in letters."""

from __future__ import annotations

from harness.domain.search.history import ReleaseState
from harness.domain.search.policy import Policy
from harness.domain.search.strategy import Why, next_trials
from tests.histories.simulate import (
    record,
    script,
)


def board_of(letters: str) -> list[ReleaseState]:
    """One run per release; `.` is untried, `x` blocked."""
    run = script(letters.replace(".", "g"))
    rows = [ReleaseState() for _ in letters]
    for index, letter in enumerate(letters):
        if letter != ".":
            record(rows, index, run(index, 0))
    return rows


def chosen(letters: str, policy: Policy | None = None, **more) -> list[tuple[int, Why]]:
    return [(p.index, p.why) for p in next_trials(board_of(letters), policy or Policy(), **more)]
