"""What the main design choices are worth, as ratios measured in one run on one machine.

    python -m benchmarks.design_choices reports/bench.md

Times on shared machines mean little; two ways of doing the same thing, taken in turn, can be compared.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.adapters.environments.resolver import uv_program
from harness.adapters.processes.child_env import for_installer
from harness.adapters.storage import case_files
from harness.cli.progress import Terminal
from harness.domain.releases.companions import Mode
from harness.domain.releases.release import Timeline
from harness.domain.trials.trial import Trial
from harness.domain.trials.variant import Variant
from harness.jobs.preparation import find_release, variant_of
from harness.services import RealServices, open_services

ROUNDS = 5
RELEASE = "3.10.0"
CASE = "identity"


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """Two ways of doing one thing, by turns: seconds of each round."""

    title: str
    chosen: tuple[float, ...]
    other: tuple[float, ...]

    @property
    def row(self) -> str:
        """One row of the table: median of the ratios round by round, and both medians."""
        ratios = [b / a for a, b in zip(self.chosen, self.other, strict=True)]
        a, b = statistics.median(self.chosen), statistics.median(self.other)
        return f"| {self.title} | {statistics.median(ratios):.1f} | {a:.2f} | {b:.2f} |"


def compare(title: str, chosen: Callable[[], object], other: Callable[[], object]) -> Ratio:
    """Run both ways in turn, one round that does not count first."""
    spent: tuple[list[float], list[float]] = ([], [])
    for round_ in range(ROUNDS + 1):
        for way, seconds in zip((chosen, other), spent, strict=True):
            started = time.perf_counter()
            way()
            if round_:
                seconds.append(time.perf_counter() - started)
    return Ratio(title=title, chosen=tuple(spent[0]), other=tuple(spent[1]))


def measure(services: RealServices) -> list[Ratio]:
    """Measure every choice."""
    case, terminal = case_files.read(CASE), Terminal()
    release = find_release(services, case.package, RELEASE, terminal, where="the benchmark")
    companions = services.companions([case], Timeline(releases=(release,)), (), Mode.FIXED, None)
    environments = services.environments(companions, terminal)
    environment = environments.prepare(release)
    folder = Path(environment.executable).parents[2]
    trials = services.trials(fresh=True)
    uv = uv_program()
    variants = (Variant(), variant_of(case))
    asked = [Trial(release=RELEASE, variant=v) for v in variants]

    def rebuild_thin() -> None:
        shutil.rmtree(folder)
        environments.prepare(release)

    def rebuild_whole() -> None:
        with services.home.scratch() as scratch:
            lock = scratch / "lock.txt"
            lock.write_text("\n".join((*environment.lock, *companions.shared)) + "\n", encoding="utf-8")
            for command in (
                [uv, "venv", "--quiet", "--python", companions.interpreter.path, "whole"],
                [
                    uv,
                    *[
                        "pip",
                        "install",
                        "--quiet",
                        "--no-deps",
                        "--compile-bytecode",
                        "--python",
                        "whole",
                        "-r",
                        "lock.txt",
                    ],
                ],
            ):
                services.processes.run(
                    command, log=scratch / "log", env=for_installer({}), cwd=scratch, deadline_seconds=600
                )

    return [
        compare("a thin layer per release / a whole environment per release", rebuild_thin, rebuild_whole),
        compare(
            "one process that forks per trial / a process per trial",
            lambda: trials.run(environment, case, asked),
            lambda: [trials.run(environment, case, [one]) for one in asked],
        ),
    ]


def main(path: Path) -> None:
    """Measure and write the table."""
    with open_services() as services:
        rows = [ratio.row for ratio in measure(services)]
    lines = [
        "# What the design choices are worth",
        "",
        f"Written by `nox -s bench`: {ROUNDS} rounds by turns, medians. Ratio: the other way against the chosen one.",
        "",
        "| chosen / other | ratio | chosen, s | other, s |",
        "| --- | --- | --- | --- |",
        *rows,
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
