"""What long timelines and long journals cost, as ratios of one size to a tenth of it.

    python -m benchmarks.scale reports/scale.md

A ratio of 10 is linear, of 100 quadratic, of 1 does not depend on the size. CPU seconds of this process alone.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from harness.adapters.storage.files import write_reports
from harness.domain.search.history import ReleaseState, SearchHistory
from harness.domain.search.policy import Policy
from harness.domain.search.strategy import next_trials
from harness.domain.verdicts.verdict import GOOD
from tests.histories.simulate import NAN, bad

SIZES = (1_000, 10_000, 100_000)
ROUNDS = 5


@dataclass(frozen=True, kw_only=True)
class Row:
    """One thing done at every size: milliseconds of each."""

    title: str
    spent: tuple[float, ...]

    @property
    def text(self) -> str:
        """One row of the table: milliseconds at each size, then how many times more than at a tenth of it."""
        ratios = [b / a for a, b in pairwise(self.spent)]
        return f"| {self.title} | {' | '.join([f'{ms:.2f}' for ms in self.spent] + [f'{r:.1f}' for r in ratios])} |"


def known(length: int, filled: Callable[[int], bool]) -> SearchHistory:
    """One run of some releases; a third of the way on they are bad, and half way good again."""
    history = SearchHistory(length)
    for place in range(length):
        if filled(place) or place in (0, length - 1):
            history[place] = ReleaseState(runs=({NAN: bad() if length // 3 <= place < length // 2 else GOOD},))
    return history


def choices(length: int, filled: Callable[[int], bool], policy: Policy) -> float:
    """Milliseconds for one choice, after a run more of one release each."""
    history = known(length, filled)
    best = float("inf")
    for place in history.tested[1 : ROUNDS + 1]:
        history[place] = ReleaseState(runs=history[place].runs * 2)
        started = time.process_time()
        next_trials(history, policy)
        best = min(best, time.process_time() - started)
    return 1000 * best


def locks(count: int) -> float:
    """Milliseconds for the locks of as many environments; waiting for the disk is no CPU time, so by the clock."""
    with tempfile.TemporaryDirectory() as folder:
        texts = {f"locks/{number}.txt": "keras==3.5.0\n" for number in range(count)}
        started = time.perf_counter()
        write_reports(Path(folder), texts)
        return 1000 * (time.perf_counter() - started)


def measure() -> Iterator[Row]:
    """Measure everything at every size."""
    scenes: dict[str, tuple[Callable[[int], bool], Policy]] = {
        "a choice while gaps are filled": (lambda place: place % 2 == 0, Policy()),
        "a choice when every release was run": (lambda _: True, Policy()),
        "a choice with gaps left unfilled": (lambda place: place % 100 == 0, Policy(max_gap=None)),
    }
    for title, (filled, policy) in scenes.items():
        yield Row(title=title, spent=tuple(choices(length, filled, policy) for length in SIZES))
    yield Row(title="the locks of as many environments", spent=tuple(locks(count) for count in SIZES))


def main(path: Path) -> None:
    """Measure and write the table."""
    sizes = [f"{size:,}" for size in SIZES]
    columns = [
        "what",
        *(f"{size}, ms" for size in sizes),
        *(f"{b} / {a}" for a, b in pairwise(sizes)),
    ]
    rows = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|", *(row.text for row in measure())]
    path.write_text("\n".join(["# What size costs", "", *rows]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
