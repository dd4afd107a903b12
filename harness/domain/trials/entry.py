"""One line of a run's journal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.domain.trials.crossing import Crossing
from harness.domain.trials.trial import Environment, FinishedTrial


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One line of the journal: a finished trial, or a release that cannot be tested.

    Attributes:
        release: Version; of a crossing its label, which is no release of the timeline.
        environment: Where the trial ran.
        finished: The trial.
        untestable: Why the release says nothing.
        seconds: What it cost, by phase; on the first entry of each probe only.
        crossing: Whose companions the trial had, where they were not its own.
    """

    release: str
    environment: Environment | None = None
    finished: FinishedTrial | None = None
    untestable: str | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    crossing: Crossing | None = None
