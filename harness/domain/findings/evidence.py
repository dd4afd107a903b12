"""What the pictures of a report need beside the finding: the axis, curves, weights, environments, what trials printed.

It is made from the journal like the finding, and kept apart from it: `report.json` stays small.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harness.domain.findings.finding import Finding
from harness.domain.findings.run import RunHeader
from harness.domain.releases.companions import name_of, pin_of
from harness.domain.releases.release import Exclusion, Order, Release, sort
from harness.domain.trials.entry import Entry
from harness.domain.trials.observation import Ending, EndingKind, Observation, WeightFacts
from harness.domain.trials.trial import FinishedTrial
from harness.domain.trials.variant import Variant

MOST_POINTS = 240
"""Of one curve; more are thinned out evenly, a picture shows no more."""
MOST_OUTPUT = 1200
"""Characters of what a trial printed, from the end."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """One place of the axis: a release of the timeline, or one that was yanked and left out.

    Attributes:
        version: The release.
        released: Its date, ISO 8601; None: not known.
        yanked: Why it was yanked, "" without a reason; None: it was not.
        tried: It belongs to the timeline.
    """

    version: str
    released: str | None = None
    yanked: str | None = None
    tried: bool = True


@dataclass(frozen=True, kw_only=True)
class Curve:
    """A metric after each training step of one trial.

    Attributes:
        variant: Label of the trial.
        metric: Name of the metric.
        points: Step, counted from 1, and value.
        steps: How many steps there were.
        nonfinite: The first step whose value is not finite; None: all are.
    """

    variant: str
    metric: str
    points: tuple[tuple[int, float], ...]
    steps: int
    nonfinite: int | None = None


@dataclass(frozen=True, kw_only=True)
class TrialEvidence:
    """What one trial showed.

    Attributes:
        variant: Its label.
        repeat: Which of several equal ones.
        ended: How and where it ended.
        seconds: Wall time.
        cached: It was run for an earlier question.
        numbers: Final numbers.
        output: The end of what it printed, and the traceback.
    """

    variant: str
    repeat: int
    ended: str
    seconds: float
    cached: bool = False
    numbers: Mapping[str, float] = field(default_factory=dict)
    output: str = ""


@dataclass(frozen=True, kw_only=True)
class ReleaseEvidence:
    """What was seen in the environment of one release.

    Attributes:
        python: Version of its interpreter; "" where it was not built.
        isolation: What kept trials from changing it.
        packages: Version of every installed package by its name.
        deviation: Largest distance of a weight from the reference, as a share of the largest weight; None: not known.
        curves: Metrics step by step, of the releases beside a transition only.
        trials: Every trial.
    """

    python: str = ""
    isolation: str = ""
    packages: Mapping[str, str] = field(default_factory=dict)
    deviation: float | None = None
    curves: tuple[Curve, ...] = ()
    trials: tuple[TrialEvidence, ...] = ()


NOTHING = ReleaseEvidence()


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What stands behind a finding.

    Attributes:
        places: The axis, in the order of the timeline.
        releases: What was seen, by version.
        stages: Of the finer searches, in the order of `Finding.stages`.
    """

    places: tuple[Place, ...] = ()
    releases: Mapping[str, ReleaseEvidence] = field(default_factory=dict)
    stages: tuple[Evidence, ...] = ()

    def of(self, version: str) -> ReleaseEvidence:
        """What was seen of a release; nothing where it was not tried."""
        return self.releases.get(version, NOTHING)


def gather(header: RunHeader, entries: Sequence[Entry], finding: Finding) -> Evidence:
    """Collect what stands behind a finding from the journal that it was made of."""
    sides = {version for t in finding.transitions for version in (t.last_before, t.first_after)}
    by_release: dict[str, list[Entry]] = {}
    for entry in entries:
        by_release.setdefault(entry.release, []).append(entry)
    shared = header.setting.lock or header.setting.companions
    variant = header.question.variant
    return Evidence(
        places=tuple(places(header.timeline.releases, header.timeline.excluded, header.timeline.order)),
        releases={version: _seen(own, variant, shared, beside=version in sides) for version, own in by_release.items()},
    )


def without_evidence(finding: Finding) -> Evidence:
    """The axis alone, where there is no journal beside the finding."""
    return Evidence(places=tuple(Place(version=r.version, released=r.released) for r in finding.releases))


def places(releases: Sequence[Release], excluded: Sequence[Exclusion], order: Order) -> Iterator[Place]:
    """The releases of a timeline with the yanked ones that it leaves out put in between."""
    left_out = [one.release for one in excluded if one.release.yanked is not None]
    tried = {release.version for release in releases}
    both = sort([*releases, *left_out], order) if left_out else releases
    for release in both:
        yield Place(
            version=release.version,
            released=release.released.date().isoformat() if release.released else None,
            yanked=release.yanked,
            tried=release.version in tried,
        )


def installed(lines: Iterable[str]) -> dict[str, str]:
    """Version by name of what some locked lines pin; what is pinned by an address has the address."""
    pins = [pin_of(line) for line in lines]
    return {name_of(pin): pin.split("==")[-1] if "==" in pin else pin.partition("@")[2].strip() for pin in pins}


def differences(before: Mapping[str, str], after: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Name, version before and version after of each package that differs; "" where it is not installed."""
    names = sorted({*before, *after})
    return [(name, before.get(name, ""), after.get(name, "")) for name in names if before.get(name) != after.get(name)]


def ended(ending: Ending) -> str:
    """How a trial ended, in a few words."""
    match ending.kind:
        case EndingKind.FINISHED:
            return "finished"
        case EndingKind.RAISED:
            return f"raised {ending.exception or 'an exception'} (while: {ending.stage.value})"
        case EndingKind.EXITED:
            return f"exit code {ending.exit_code} (while: {ending.stage.value})"
        case EndingKind.SIGNALLED:
            return f"killed by signal {ending.signal} (while: {ending.stage.value})"
        case _:
            return f"{ending.kind.value} (while: {ending.stage.value})"


def deviation(own: WeightFacts | None, reference: WeightFacts | None) -> float | None:
    """Largest distance of a weight from the reference, as a share of the largest weight of the reference.

    Returns:
        NaN where a weight is not finite; None where there is nothing to compare.
    """
    if own is None or reference is None or not own.values or not reference.values:
        return None
    pairs = [
        (mine, theirs)
        for name, values in reference.values.items()
        for mine, theirs in zip(own.values.get(name, ()), values, strict=False)
    ]
    if not pairs:
        return None
    if not all(math.isfinite(mine) and math.isfinite(theirs) for mine, theirs in pairs):
        return math.nan
    largest = max(abs(theirs) for _, theirs in pairs)
    distance = max(abs(mine - theirs) for mine, theirs in pairs)
    return distance / largest if largest else distance


def curve(observation: Observation, variant: str, metric: str) -> Curve | None:
    """One metric step by step, thinned out; None where it was not recorded."""
    values = observation.steps.get(metric, ())
    if not values:
        return None
    first = next((step for step, value in enumerate(values, 1) if not math.isfinite(value)), None)
    stride = -(-len(values) // MOST_POINTS)
    shown = {*range(1, len(values) + 1, stride), len(values), *([first] if first else [])}
    return Curve(
        variant=variant,
        metric=metric,
        points=tuple((step, values[step - 1]) for step in sorted(shown)),
        steps=len(values),
        nonfinite=first,
    )


def _seen(entries: Sequence[Entry], variant: Variant, shared: Iterable[str], *, beside: bool) -> ReleaseEvidence:
    environment = next((entry.environment for entry in entries if entry.environment), None)
    finished = [entry.finished for entry in entries if entry.finished]
    own, reference = (_first(finished, one) for one in (variant, variant.reference))
    return ReleaseEvidence(
        python=environment.python if environment else "",
        isolation=environment.isolation if environment else "",
        packages=installed((*shared, *environment.lock)) if environment else {},
        deviation=deviation(own.weights, reference.weights) if own and reference else None,
        curves=tuple(_curves(reference, own, variant)) if beside else (),
        trials=tuple(map(_trial, finished)),
    )


def _curves(reference: Observation | None, own: Observation | None, variant: Variant) -> Iterator[Curve]:
    """The first metric that a trial recorded, of the reference and of the trial."""
    metric = next((name for seen in (own, reference) if seen for name in seen.steps), "")
    for seen, label in ((reference, variant.reference.label), (own, variant.label)):
        if seen is not None and (found := curve(seen, label, metric)):
            yield found


def _first(finished: Sequence[FinishedTrial], variant: Variant) -> Observation | None:
    own = [one for one in finished if one.trial.variant == variant]
    return min(own, key=lambda one: one.trial.repeat).observation if own else None


def _trial(one: FinishedTrial) -> TrialEvidence:
    seen = one.observation
    printed = "\n".join(filter(None, [seen.output.strip(), (seen.ending.traceback or "").strip()]))
    return TrialEvidence(
        variant=one.trial.variant.label,
        repeat=one.trial.repeat,
        ended=ended(seen.ending),
        seconds=round(one.seconds, 3),
        cached=one.cached,
        numbers=seen.numbers,
        output=printed[-MOST_OUTPUT:],
    )
