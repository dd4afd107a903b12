"""Attack the harness at random and judge each answer by what is true.

    python -m tests.faults.attacks --count 1500 --seed 11 --only kills --output reports/attacks

Each attack draws a small history of toy releases, disturbs a bisection of it in one way, and looks whether a verdict
is wrong, a finished trial is lost, a traceback is shown or a process is left behind. It is drawn from its kind, its
number and the seed alone: `--number 17 --only kills` repeats one. Files are written in the output folder and in a
temporary folder; requests go to this machine only.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from tests.faults.attack_judge import Fault, Result
from tests.faults.attack_kinds import KINDS
from tests.faults.attack_plans import History, Outcome, Plan, Scene, carry_out, tidy
from tests.faults.attack_world import RELEASES, UNTESTABLE, World, remove

GOOD = (Result.RIGHT, Result.RESUMED)
MOST_DETAILS = 200  # lines of the summary


def drawn(kinds: Sequence[str], count: int) -> list[tuple[str, int]]:
    """Kinds in turn, each with its own numbers."""
    return [(kinds[n % len(kinds)], n // len(kinds)) for n in range(count)]


class Attacker:
    """Carries out attacks one after the other in a world that stays warm, and is renewed when one spoiled it."""

    def __init__(self, folder: Path, seed: int, *, warm: bool = True) -> None:
        self._seed = seed
        self.world = World(folder)
        if warm:
            self._warm_up()
            self.world.keep()

    def attack(self, kind: str, number: int) -> Outcome:
        """Carry out one attack."""
        rng = random.Random(f"{self._seed} {kind} {number}")
        plan = KINDS[kind](rng, self.world)
        folder = self.world.attacks / f"{kind}-{number}"
        remove(folder)
        folder.mkdir()
        scene = Scene(world=self.world, folder=folder, plan=plan, rng=rng)
        began = time.monotonic()
        result, faults = carry_out(scene)
        good = result in GOOD
        tidy(scene, keep=not good)
        remove(self.world.folder / "cold")
        if not good:
            self.world.restore()
        seconds = time.monotonic() - began
        return Outcome(
            kind=kind, number=number, what=plan.what, result=result, faults=tuple(faults), seconds=round(seconds, 2)
        )

    def _warm_up(self) -> None:
        history = History(package="toykeras", codes=dict.fromkeys(RELEASES, 0), untestable=UNTESTABLE)
        folder = self.world.attacks / "warm"
        remove(folder)
        folder.mkdir()
        plan = Plan(what="warm", history=history)
        result, faults = carry_out(Scene(world=self.world, folder=folder, plan=plan, rng=random.Random(0)))
        if result is not Result.RIGHT:
            raise SystemExit(f"the undisturbed run is not right: {faults}")


def run_attacks(folder: Path, seed: int, chosen: Sequence[tuple[str, int]], *, warm: bool) -> Iterator[Outcome]:
    """Carry out attacks in one world."""
    attacker = Attacker(folder, seed, warm=warm)
    try:
        for kind, number in chosen:
            yield attacker.attack(kind, number)
    finally:
        attacker.world.close()


def in_workers(
    folder: Path, seed: int, chosen: Sequence[tuple[str, int]], workers: int, *, warm: bool
) -> list[Outcome]:
    """Share attacks among processes, each with a world of its own."""
    pids = []
    for n in range(workers):
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                with (folder / f"worker-{n}.jsonl").open("w") as lines:
                    for one in run_attacks(folder / f"world-{n}", seed, chosen[n::workers], warm=warm):
                        lines.write(json.dumps(asdict(one)) + "\n")
                        lines.flush()
                        told(one)
                code = 0
            except BaseException:  # noqa: BLE001 - a fork must never return
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(code)
        pids.append(pid)
    codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
    found = [read(line) for n in range(workers) for line in (folder / f"worker-{n}.jsonl").read_text().splitlines()]
    if any(codes):
        print(f"attacks: a worker ended with {codes}", file=sys.stderr)
    return sorted(found, key=lambda one: (list(KINDS).index(one.kind), one.number))


def read(line: str) -> Outcome:
    """One outcome of a worker's file."""
    row = json.loads(line)
    faults = tuple(Fault(result=Result(one["result"]), detail=one["detail"]) for one in row["faults"])
    return replace(Outcome(**row), result=Result(row["result"]), faults=faults)


def told(outcome: Outcome) -> None:
    """Say at once what went wrong."""
    if outcome.result not in GOOD:
        print(line_of(outcome), file=sys.stderr, flush=True)


def line_of(outcome: Outcome) -> str:
    """One attack in one line."""
    details = "; ".join(f"{one.result.value}: {one.detail}" for one in outcome.faults)
    return f"{outcome.kind} {outcome.number} ({outcome.what}): {details}"[:700]


def markdown(outcomes: Sequence[Outcome], seed: int, seconds: float) -> str:
    """The summary: how many of each kind came out how, then each that is not right."""
    heads = [one.value for one in Result]
    lines = [
        "# Attacks",
        "",
        f"{len(outcomes)} attacks with seed {seed} in {seconds / 60:.1f} minutes.",
        "",
        f"| kind | attacks | seconds each | {' | '.join(heads)} |",
        f"| --- | --- | --- |{' --- |' * len(heads)}",
    ]
    rows = [(kind, [one for one in outcomes if one.kind == kind]) for kind in KINDS]
    for name, own in [*rows, ("all", list(outcomes))]:
        if own:
            seen = Counter(one.result for one in own)
            mean = sum(one.seconds for one in own) / len(own)
            lines.append(f"| {name} | {len(own)} | {mean:.1f} | {' | '.join(str(seen[one]) for one in Result)} |")
    failed = [one for one in outcomes if one.result not in GOOD]
    lines += ["", "## Not right", ""] if failed else []
    lines += [f"- {line_of(one)}" for one in failed[:MOST_DETAILS]]
    return "\n".join(lines) + "\n"


def write_summary(folder: Path, outcomes: Sequence[Outcome], seed: int, seconds: float) -> None:
    """Write attacks.json and attacks.md."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = {"seed": seed, "seconds": round(seconds, 1), "attacks": [asdict(one) for one in outcomes]}
    (folder / "attacks.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")
    (folder / "attacks.md").write_text(markdown(outcomes, seed, seconds), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run attacks, write the summary, and return 1 when one is not right."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=1500, help="how many attacks, over the kinds in turn")
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--only", action="append", choices=list(KINDS), help="this kind only (repeatable)")
    parser.add_argument("--number", type=int, help="repeat one attack of the kind")
    parser.add_argument("--jobs", type=int, default=min(4, os.cpu_count() or 1), help="worlds at the same time")
    parser.add_argument("--output", type=Path, default=Path("reports/attacks"), help="folder of the summary")
    parser.add_argument(
        "--cold", action="store_true", help="build environments when they are needed, for a few attacks"
    )
    parser.add_argument("--keep", type=Path, help="folder of the worlds; what went wrong stays there")
    chosen = parser.parse_args(arguments)
    kinds = chosen.only or list(KINDS)
    attacks = [(kind, chosen.number) for kind in kinds] if chosen.number is not None else drawn(kinds, chosen.count)
    folder = chosen.keep or Path(tempfile.mkdtemp(prefix="attacks-"))
    folder.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    workers = max(1, min(chosen.jobs, len(attacks)))
    outcomes = in_workers(folder.absolute(), chosen.seed, attacks, workers, warm=not chosen.cold)
    seconds = time.monotonic() - began
    write_summary(chosen.output, outcomes, chosen.seed, seconds)
    print(markdown(outcomes, chosen.seed, seconds))
    if chosen.keep is None:
        shutil.rmtree(folder, ignore_errors=True)
    return int(len(outcomes) < len(attacks) or any(one.result not in GOOD for one in outcomes))


if __name__ == "__main__":
    sys.exit(main())
