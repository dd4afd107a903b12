"""What a search would try next, on a board drawn in letters."""

from __future__ import annotations

from harness.core.board import Row
from harness.core.policies import Policy
from harness.core.search import Why, next_probes
from tests.histories.simulate import (
    record,
    script,
)


def board_of(letters: str) -> list[Row]:
    """One run per release; `.` is untried, `x` blocked."""
    run = script(letters.replace(".", "g"))
    rows = [Row() for _ in letters]
    for index, letter in enumerate(letters):
        if letter != ".":
            record(rows, index, run(index, 0))
    return rows


def chosen(letters: str, policy: Policy | None = None, **more) -> list[tuple[int, Why]]:
    return [(p.index, p.why) for p in next_probes(board_of(letters), policy or Policy(), **more)]
