"""Measure the search against simulated histories and write the figures as Markdown.

    python -m tests.histories.calibration reports/calibration.md

Everything is seeded; no figure depends on the machine. Three questions: how often is a transition right, is a
stated confidence kept, and what does it cost; each beside a plain bisection and one by the majority of three.
"""

from __future__ import annotations

import itertools
import math
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.domain.search.policy import Policy
from harness.domain.search.posterior import ALWAYS_WEIGHT, settled
from tests.histories.simulate import NAN, from_prior, noisy, play, random_states, true_transitions

RATES = (1.0, 0.9, 0.7, 0.5, 0.3)
HISTORIES = 400
SEED = 20568
BINS = (0.0, 0.5, 0.8, 0.9, 0.95, 0.99, 0.995, 0.999, 1.0)

Transitions = set[tuple[int, int, bool]]


@dataclass
class Score:
    """What one method achieved at one failure rate."""

    histories: int = 0
    exact: int = 0
    true: int = 0
    stated: int = 0
    wrong: int = 0
    missed: int = 0
    runs: int = 0
    floor: float = 0.0
    confidences: list[tuple[float, bool]] = field(default_factory=list)

    def add(self, truth: Transitions, told: Transitions, runs: int, floor: float) -> None:
        self.histories += 1
        self.exact += truth == told
        self.true += len(truth)
        self.stated += len(told)
        self.wrong += len(told - truth)
        self.missed += len(truth - told)
        self.runs += runs
        self.floor += floor


def floor_of(length: int, transitions: int, rate: float) -> float:
    """Fewest runs on average that can name the transitions: bits to name them over the capacity of one run.

    The places of k transitions among n - 1 take log2(C(n - 1, k)) bits. A run is a Z-channel: it fails with
    probability `rate` if the release is bad, never if it is good; its capacity is
    log2(1 + (1 - q) q^(q / (1 - q))) with q = 1 - rate.
    """
    quiet = 1 - rate
    capacity = 1.0 if quiet == 0 else math.log2(1 + (1 - quiet) * quiet ** (quiet / (1 - quiet)))
    return math.log2(math.comb(length - 1, transitions)) / capacity


def plain(votes: int) -> Callable[[Sequence[bool], float, random.Random], tuple[Transitions, int]]:
    """Bisect as git does: good start, bad end, each release by the majority of `votes` runs."""

    def bisect(states: Sequence[bool], rate: float, rng: random.Random) -> tuple[Transitions, int]:
        runs = 0

        def fails(index: int) -> bool:
            nonlocal runs
            runs += votes
            return 2 * sum(states[index] and rng.random() < rate for _ in range(votes)) > votes

        low, high = 0, len(states) - 1
        first, last = fails(low), fails(high)
        if first is last:
            return set(), runs
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if fails(middle) is first else (low, middle)
        return {(low, high, last)}, runs

    return bisect


def harness(
    policy: Policy, record: list[tuple[float, bool]]
) -> Callable[[Sequence[bool], float, random.Random], tuple[Transitions, int]]:
    """The search under test; every stated confidence goes to `record` with whether the transition was right."""

    def search(states: Sequence[bool], rate: float, rng: random.Random) -> tuple[Transitions, int]:
        played = play(len(states), noisy(states, (), rate, rng), policy)
        told = set()
        for transition in settled(played.history, NAN).transitions:
            key = (transition.before, transition.after, transition.turns_bad)
            record.append((transition.confidence, holds(states, key)))
            if transition.confidence >= policy.confidence:
                told.add(key)
        return told, played.runs

    return search


def holds(states: Sequence[bool], transition: tuple[int, int, bool]) -> bool:
    """Whether both sides are as stated; what lies between may be unrun or undecided."""
    before, after, turns_bad = transition
    return states[before] is not turns_bad and states[after] is turns_bad


@dataclass(frozen=True)
class Scene:
    """One kind of question."""

    title: str
    lengths: tuple[int, int]
    changes: tuple[int, ...]
    policy: Policy
    histories: int


SCENES = (
    Scene("Short of budget: 20 releases, 20 runs", (20, 20), (0, 1, 1, 2), Policy(max_trials=20), HISTORIES),
    Scene(
        "Stable releases: 8 to 30, up to two transitions, everything run",
        (8, 30),
        (0, 1, 1, 2),
        Policy(),
        HISTORIES,
    ),
    Scene(
        "Nightlies: 100 to 200, one transition, gaps not filled",
        (100, 200),
        (1,),
        Policy(max_gap=None),
        HISTORIES // 2,
    ),
)


PRIOR_HISTORIES = 4000
PRIOR_LENGTH = 20
PRIOR_BUDGETS = (12, 20)


def prior_pairs(histories: int, seed: int) -> Iterator[tuple[float, bool, bool]]:
    """Histories as the model supposes them, short of budget: confidence, whether it holds, whether to the release.

    The last one is stricter than what is stated: a transition with releases between that were not run is right when
    its two sides are.
    """
    rng = random.Random(seed)
    for number in range(histories):
        states, run = from_prior(rng, PRIOR_LENGTH)
        policy = Policy(max_trials=PRIOR_BUDGETS[number % len(PRIOR_BUDGETS)])
        for t in settled(play(PRIOR_LENGTH, run, policy).history, NAN).transitions:
            key = (t.before, t.after, t.turns_bad)
            yield t.confidence, holds(states, key), key in true_transitions(states)


def prior_section() -> Iterator[str]:
    """Whether the arithmetic is right: where its suppositions hold, what it states must hold as often as it says."""
    found = list(prior_pairs(PRIOR_HISTORIES, SEED))
    yield "## As the model supposes it: 20 releases, 12 or 20 runs"
    yield ""
    yield (
        f"{PRIOR_HISTORIES} histories drawn from the prior, rates and false failures included. Here stated and right must "
        "agree but for chance. *Right*, here and above: both sides are as stated, so the symptom changed between them; "
        "releases between them may be unrun, and the report names them. *To the release*: the change lies between "
        "neighbours, too. Nobody states that of a range, and a stated 0.6 does not mean it."
    )
    yield ""
    yield "| stated confidence | transitions | mean stated | right | to the release |"
    yield "|---|---|---|---|---|"
    for low, high in itertools.pairwise(BINS):
        inside = [one for one in found if low <= one[0] < high or one[0] == high == 1.0]
        if inside:
            count = len(inside)
            mean, right, exact = (sum(column) for column in zip(*inside, strict=True))
            yield (
                f"| {low:g} to {high:g} | {count} | {100 * mean / count:.2f} % "
                f"| {percentage(right, count)} | {percentage(exact, count)} |"
            )


def measure(scene: Scene) -> Iterator[tuple[float, str, Score]]:
    """Score every method at every failure rate on the same histories."""
    for rate in RATES:
        rng = random.Random(SEED)
        histories = []
        for _ in range(scene.histories):
            length = rng.randint(*scene.lengths)
            histories.append(random_states(rng, length, rng.choice(scene.changes)))
        ours = Score()
        methods = {
            "harness": (ours, harness(scene.policy, ours.confidences)),
            "plain bisection": (Score(), plain(1)),
            "majority of three": (Score(), plain(3)),
        }
        for name, (score, method) in methods.items():
            rng = random.Random(SEED + 1)
            for states in histories:
                truth = true_transitions(states)
                told, runs = method(states, rate, rng)
                score.add(truth, told, runs, floor_of(len(states), len(truth), rate))
            yield rate, name, score


def percentage(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def accuracy_table(results: Sequence[tuple[float, str, Score]]) -> Iterator[str]:
    columns = ["failure rate", "method", "true transitions", "stated", "of them wrong", "missed"]
    columns += ["histories all right", "runs", "floor"]
    yield f"| {' | '.join(columns)} |"
    yield "|---" * len(columns) + "|"
    for rate, name, s in results:
        n = s.histories
        yield (
            f"| {rate:g} | {name} | {s.true} | {s.stated} | {s.wrong} ({percentage(s.wrong, s.stated)}) "
            f"| {s.missed} ({percentage(s.missed, s.true)}) | {percentage(s.exact, n)} "
            f"| {s.runs / n:.1f} | {s.floor / n:.1f} |"
        )


def reliability_table(pairs: Sequence[tuple[float, bool]]) -> Iterator[str]:
    yield "| stated confidence | transitions | mean stated | right |"
    yield "|---|---|---|---|"
    for low, high in itertools.pairwise(BINS):
        inside = [(c, right) for c, right in pairs if low <= c < high or c == high == 1.0]
        if inside:
            mean = sum(c for c, _ in inside) / len(inside)
            right = sum(right for _, right in inside)
            shown = percentage(right, len(inside))
            yield f"| {low:g} to {high:g} | {len(inside)} | {100 * mean:.2f} % | {shown} |"


def report() -> Iterator[str]:
    yield "# Calibration of the search"
    yield ""
    yield (
        f"Written by `python -m tests.histories.calibration`; seed {SEED}. A bad release fails with the "
        "failure rate, a good one never. A transition counts as stated when its confidence reaches 0.99; "
        "bisections state what they end at. *Runs* is the mean per history. *Floor* is the least "
        "mean number that could name the transitions, from information "
        "theory (fewer runs can only miss or guess); it neither looks for "
        "islands nor confirms anything, so the search, which runs every release, cannot come near it."
    )
    pairs: list[tuple[float, bool]] = []
    for scene in SCENES:
        results = list(measure(scene))
        ours = [pair for _, name, score in results if name == "harness" for pair in score.confidences]
        pairs += ours
        yield from ("", f"## {scene.title}", "", f"{scene.histories} histories per failure rate.", "")
        yield from accuracy_table(results)
        yield from ("", "Stated against real confidence, all rates together:", "")
        yield from reliability_table(ours)
    yield ""
    yield from prior_section()
    noise = [right for confidence, right in pairs if confidence >= 0.99]
    yield from ("", "## In short", "")
    yield (
        f"Of {len(noise)} transitions stated with 0.99 or more, {noise.count(False)} "
        f"({percentage(noise.count(False), len(noise))}) were wrong. The prior gives a symptom that always "
        f"shows the weight {ALWAYS_WEIGHT:g}; here it holds in one history of {len(RATES)}."
    )


def main(path: str) -> None:
    """Write the report."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    text = "\n".join(report()) + "\n"
    target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "reports/calibration.md")
