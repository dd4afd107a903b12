"""A transition: the place where a symptom begins or ends, as a value and in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from harness.domain.cases.symptoms import Symptom
from harness.domain.releases.moves import Move
from harness.domain.verdicts.reasons import Reason, ReasonKind

FOLD = 12
"""More releases between two sides than this are listed by reason: a hundred nightlies make no cell of a table."""


class Kind(str, Enum):
    """A regression goes from good to bad, a recovery from bad to good; a change from one wrong value to another."""

    REGRESSION = "regression"
    RECOVERY = "recovery"
    CHANGE = "change"


@dataclass(frozen=True, kw_only=True)
class Untested:
    """A release between the two sides of a transition that says nothing, and why."""

    version: str
    reason: Reason


@dataclass(frozen=True, kw_only=True)
class Cause:
    """A change upstream that lies between the two sides: recorded as the cause, or the one commit between them.

    Attributes:
        link: The pull request or commit.
        title: What it changed, in a clause; of a commit its subject.
        found: This search narrowed the transition down to this commit.
        changes: The files that the commit changed, with the number of lines added and removed.
    """

    link: str
    title: str
    found: bool = False
    changes: tuple[str, ...] = ()

    @property
    def role(self) -> str:
        """How a report introduces it."""
        return "Commit found for" if self.found else "Known cause of"


class Parting(str, Enum):
    """What a transition comes from, where companions moved between its two sides."""

    RELEASE = "it is the release"
    COMPANIONS = "it is the companions"
    BOTH = "both together"
    EITHER = "each of the two alone"
    UNPARTED = "cannot be parted here"


@dataclass(frozen=True, kw_only=True)
class Confounding:
    """Companions that moved between the two sides of a transition, and what comes of the release, what of them.

    Attributes:
        moved: The companions that both sides have, at two versions: `reference` before, `version` after.
        parting: The answer.
        packages: Where companions do it, which; where it cannot be parted, those that are not parted from the release.
        sentence: The answer with its evidence.
    """

    moved: tuple[Move, ...]
    parting: Parting
    packages: tuple[str, ...] = ()
    sentence: str = ""

    @property
    def short(self) -> str:
        """The answer in a clause, for example ``it is numpy``."""
        names = ", ".join(self.packages)
        match self.parting:
            case Parting.COMPANIONS if names:
                return f"it is {names}"
            case Parting.UNPARTED if names:
                return f"the release and {names} cannot be parted here"
            case _:
                return self.parting.value


@dataclass(frozen=True, kw_only=True)
class Transition:
    """One change of one symptom: it lies after `last_before` and at the latest in `first_after`.

    Attributes:
        symptom: The symptom.
        kind: Regression, recovery, or a change from one wrong value to another.
        last_before: Last release that is known to be as before.
        first_after: First release that is known to be otherwise.
        untested: Releases between the two, each with the reason why it says nothing.
        confidence: Probability that the symptom changed between exactly these two.
        confirmed: Both sides were run often enough, and the confidence asked for is reached.
        rate: Share of failing runs in the bad range beside the transition; 1 when every run failed.
        note: What else a reader must know.
        causes: Changes upstream that explain it; empty: none is known.
        before: The value in `last_before`, where the symptom is a changed value.
        after: The value in `first_after`.
        confounding: Set where companions moved too between the two sides.
    """

    symptom: Symptom
    kind: Kind
    last_before: str
    first_after: str
    untested: tuple[Untested, ...] = ()
    confidence: float = 0.0
    confirmed: bool = False
    rate: float = 1.0
    note: str = ""
    causes: tuple[Cause, ...] = ()
    before: str = ""
    after: str = ""
    confounding: Confounding | None = None


@dataclass(frozen=True, kw_only=True)
class SignatureChange:
    """Inside one bad range the failure turns into another: a second cause, or the same one in other words."""

    symptom: Symptom
    last_before: str
    first_after: str
    before: str
    after: str


def folded(untested: Sequence[Untested]) -> tuple[Untested, ...]:
    """What lies between, release by release; where that is too much, one line per reason."""
    if len(untested) <= FOLD:
        return tuple(untested)
    by_sentence: dict[str, list[Untested]] = {}
    for one in untested:
        by_sentence.setdefault(str(one.reason), []).append(one)
    return tuple(
        Untested(
            version=alike[0].version
            if len(alike) == 1
            else f"{len(alike)} from {alike[0].version} to {alike[-1].version}",
            reason=alike[0].reason,
        )
        for alike in by_sentence.values()
    )


VERBS = {Kind.REGRESSION: "begins", Kind.RECOVERY: "ends", Kind.CHANGE: "goes on with another value"}
"""What a symptom does at a transition."""


def describe(transition: Transition) -> str:
    """One transition as a clause."""
    verb = VERBS[transition.kind]
    place = f"{transition.last_before} -> {transition.first_after}"
    values = f", {transition.before} becomes {transition.after}" if transition.before or transition.after else ""
    return f"{transition.symptom.value} {verb} {place}{values}{''.join(_reservations(transition))}"


def _reservations(transition: Transition) -> Iterator[str]:
    if transition.confounding is not None:
        yield f" (companions moved too: {transition.confounding.short})"
    not_run = sum(u.reason.kind is ReasonKind.NOT_RUN for u in transition.untested)
    if untestable := len(transition.untested) - not_run:
        yield f" ({untestable} between could not be tested)"
    if not_run:
        yield f" ({not_run} between {'was' if not_run == 1 else 'were'} not run)"
    if transition.rate < 1:
        yield f" (flaky: it shows in about {transition.rate:.0%} of the runs)".replace("%", " %")
    if not transition.confirmed:
        yield f" (not confirmed: {100 * transition.confidence:.3g} % sure)"
