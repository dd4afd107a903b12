"""What is known so far: one state per release of the timeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from harness.domain.cases.symptoms import Symptom
from harness.domain.verdicts.reasons import Reason
from harness.domain.verdicts.verdict import Outcome, Verdict, Verdicts


class Tally(NamedTuple):
    """How often a release showed one symptom and how often not; hidden and skipped runs do not count."""

    bad: int = 0
    good: int = 0

    @property
    def runs(self) -> int:
        """Runs that say something about the symptom."""
        return self.bad + self.good


NOTHING = Tally()


@dataclass(frozen=True, kw_only=True)
class ReleaseState:
    """What is known of one release: the verdicts of its trials, or why none can be had."""

    runs: tuple[Verdicts, ...] = ()
    blocked: Reason | None = None

    @property
    def tried(self) -> bool:
        """Whether a trial or a refusal is on record."""
        return bool(self.runs) or self.blocked is not None

    def verdict(self, symptom: Symptom) -> Verdict | None:
        """The verdict over its own runs, by majority; None while nothing is known.

        A flaky release is judged better with its neighbours in view: see `harness.domain.search.posterior.settle`.
        """
        if self.blocked is not None:
            return Verdict(outcome=Outcome.SKIP, reason=self.blocked)
        votes = [run[symptom] for run in self.runs if symptom in run]
        decided = [vote for vote in votes if vote.outcome is not Outcome.SKIP]
        if not decided:
            return votes[-1] if votes else None
        bad = [vote for vote in decided if vote.outcome is Outcome.BAD]
        return bad[0] if 2 * len(bad) >= len(decided) else next(v for v in decided if v.outcome is Outcome.GOOD)

    def showing(self, symptom: Symptom, outcome: Outcome) -> list[Verdict]:
        """Verdicts of its runs with one outcome for one symptom; none when the release is blocked."""
        runs = self.runs if self.blocked is None else ()
        return [run[symptom] for run in runs if symptom in run and run[symptom].outcome is outcome]

    @cached_property
    def tallies(self) -> Mapping[Symptom, Tally]:
        """Deciding runs by symptom; counted once, because the search asks for them after every trial."""
        counts: dict[Symptom, Tally] = {}
        for run in self.runs if self.blocked is None else ():
            for symptom, verdict in run.items():
                if verdict.outcome is not Outcome.SKIP:
                    bad, good = counts.get(symptom, NOTHING)
                    failed = verdict.outcome is Outcome.BAD
                    counts[symptom] = Tally(bad=bad + failed, good=good + (not failed))
        return counts

    def tally(self, symptom: Symptom) -> Tally:
        """Count the runs that decide one symptom."""
        return self.tallies.get(symptom, NOTHING)


History = Sequence[ReleaseState]


def seen_symptoms(history: History, symptoms: Sequence[Symptom]) -> list[Symptom]:
    """The symptoms asked for or, when none were, those that any run of any release shows.

    A single run counts: a flaky symptom may never win a majority.
    """
    if symptoms:
        return list(symptoms)
    seen = {symptom for state in history for symptom, tally in state.tallies.items() if tally.bad}
    return [symptom for symptom in Symptom if symptom in seen]
