"""Decisions for environments are told beside the caveats."""

from __future__ import annotations

from dataclasses import replace

from harness.domain.findings.finding import Answer, Conclusion
from harness.domain.findings.notes import with_notes
from harness.domain.trials.entry import Entry
from harness.domain.trials.trial import Environment, FinishedTrial, Trial
from harness.domain.trials.variant import Variant
from tests.examples import case, observation

CONCLUSION = Conclusion(answer=Answer.ANSWERED, sentence="s", history="h", coverage="c", caveats=("old",))
ENVIRONMENT = Environment(key="k", executable="python", python="3.11", lock=())


def entry(release, notes=(), environment=ENVIRONMENT):
    seen = FinishedTrial(
        trial=Trial(release=release, variant=Variant()), observation=observation(notes=notes), seconds=0
    )
    return Entry(release=release, finished=seen, environment=environment)


def test_each_is_told_once_with_its_releases():
    decided = replace(ENVIRONMENT, notes=("a stands in for b",))
    entries = [
        *(entry(release, environment=decided) for release in ("1.0", "1.0", "1.1")),
        entry("1.2", notes=("the module says 2.0",)),
        Entry(release="1.3", untestable="no wheel"),
    ]
    told = with_notes(CONCLUSION, case(), entries).caveats
    assert told == ("old", "1.0 (and 1 more): a stands in for b.", "1.2: the module says 2.0.")


def test_overrides_are_told():
    (_, told) = with_notes(CONCLUSION, case(overrides=("protobuf",)), []).caveats
    assert told == "What other packages require of protobuf was laid aside, as asked for by --override."


def test_nothing_decided_nothing_told():
    assert with_notes(CONCLUSION, case(), [entry("1.0")]) is CONCLUSION
