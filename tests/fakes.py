"""Small real objects behind the protocols: a journal in memory, and environments and trials driven by a table.

The table says what each release really does; nothing is patched, so that the jobs run as they are.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence

from harness.domain.cases.case import Case, Level
from harness.domain.errors import HarnessError, Untestable
from harness.domain.findings.question import Question
from harness.domain.findings.run import RunHeader, SharedEnvironment
from harness.domain.releases.release import Release, Timeline
from harness.domain.search.policy import Policy
from harness.domain.trials.entry import Entry
from harness.domain.trials.observation import EndingKind, FixFacts, NonFinite, Observation, Stage
from harness.domain.trials.trial import Environment, FinishedTrial, Trial
from harness.domain.trials.variant import Variant
from harness.jobs.protocols import Event
from tests.examples import ending, observation, weights

TWO = Variant(replicas=2, strategy="mirrored")

SHOWN: Mapping[str, Callable[[], Observation]] = {
    "good": observation,
    "nan": lambda: observation(
        {"loss": math.nan}, first_nonfinite_metric=NonFinite(name="loss", step=125, value=math.nan)
    ),
    "raises": lambda: observation(
        {},
        weights=None,
        ending=ending(EndingKind.RAISED, Stage.BUILD, exception="ValueError", message="aggregation MEAN"),
    ),
    "wrong": lambda: observation({"loss": 0.5}),
    "wrong weights": lambda: observation(weights=weights(values={"kernel": (9.0,), "bias": (0.25,)})),
    "refused": lambda: observation({}, weights=None, ending=ending(EndingKind.REFUSED, message="needs a TPU")),
    "exit 1": lambda: observation({}, weights=None, ending=ending(EndingKind.EXITED, Stage.SCRIPT, exit_code=1)),
    "exit 0": lambda: observation({}, weights=None, ending=ending(EndingKind.EXITED, Stage.SCRIPT, exit_code=0)),
    "exit 139": lambda: observation({}, weights=None, ending=ending(EndingKind.EXITED, Stage.SCRIPT, exit_code=139)),
}
"""What a trial on several replicas shows, by the word that stands in a table."""


class MemoryJournal:
    """A journal that a test can look into, and that can be torn off after some entries."""

    def __init__(self, entries: Sequence[Entry] = ()) -> None:
        self._entries = list(entries)
        self._guard = threading.Lock()

    def record(self, entry: Entry) -> None:
        with self._guard:
            self._entries.append(entry)

    def entries(self) -> Sequence[Entry]:
        with self._guard:
            return tuple(self._entries)


class TableEnvironments:
    """Every release has an environment, but for those that the table calls untestable or failing."""

    def __init__(self, failures: Mapping[str, HarnessError] | None = None) -> None:
        self.failures = dict(failures or {})
        self.prepared: list[str] = []

    def prepare(self, release: Release) -> Environment:
        self.prepared.append(release.version)
        if release.version in self.failures:
            raise self.failures[release.version]
        return Environment(
            key=f"key-{release.version}",
            executable="/environments/python",
            python="3.11.7",
            lock=(f"{release.requirement} --hash=sha256:0",),
            seconds={"resolve": 0.25, "build": 0.5},
        )


class TableTrials:
    """A model is always right on one replica; else the table says what shows, and a fix has a table of its own."""

    def __init__(self, shown: Mapping[str, str], *, fixed: Mapping[str, Mapping[str, str]] | None = None) -> None:
        self.shown = dict(shown)
        self.fixed = {name: dict(table) for name, table in (fixed or {}).items()}
        self.ran: list[Trial] = []

    def run(self, environment: Environment, case: Case, trials: Sequence[Trial]) -> Sequence[FinishedTrial]:
        assert environment.key == f"key-{trials[0].release}"
        self.ran += trials
        return [FinishedTrial(trial=trial, observation=self._observe(case, trial), seconds=0.0) for trial in trials]

    def _observe(self, case: Case, trial: Trial) -> Observation:
        if trial.variant.replicas == 1 and case.level is Level.MODEL:
            return observation()
        if trial.variant.fix is None:
            return SHOWN[self.shown[trial.release]]()
        made = SHOWN[self.fixed[trial.variant.fix][trial.release]]()
        return observation(
            made.final,
            ending=made.ending,
            weights=made.weights,
            fix=FixFacts(name=trial.variant.fix, outcome="applied"),
        )


class Heard:
    """A listener that remembers."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def notify(self, event: Event) -> None:
        self.events.append(event)


def untestable(*versions: str, reason: str = "no wheel for this Python") -> dict[str, HarnessError]:
    """Environments that cannot be had."""
    return {version: Untestable(f"{version}: {reason}") for version in versions}


def header(case: Case, timeline: Timeline, policy: Policy | None = None) -> RunHeader:
    """The first line of a journal that asks for every symptom on two replicas."""
    return RunHeader(
        question=Question(
            case=case.name,
            case_digest=case.digest,
            package=case.package,
            first=timeline.versions[0],
            last=timeline.versions[-1],
            releases=timeline.versions,
        ),
        case=case,
        timeline=timeline,
        policy=policy or Policy(),
        setting=SharedEnvironment(harness="0.1.0", python="3.11.7", platform="linux x86_64", mode="fixed"),
        reproduce="harness bisect identity",
        index_seconds=0.5,
    )
