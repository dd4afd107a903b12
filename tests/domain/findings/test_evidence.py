"""What stands behind a finding, read from its journal."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import datetime, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.domain.findings import assemble, evidence
from harness.domain.findings.evidence import Evidence, curve, deviation, differences, ended, installed, places
from harness.domain.releases.release import Exclusion, Order, Release
from harness.domain.trials.entry import Entry
from harness.domain.trials.observation import Ending, EndingKind, Observation, Stage, WeightFacts
from harness.domain.trials.trial import FinishedTrial, Trial
from tests.domain.findings.test_assemble import CASE, ENVIRONMENT, entry, pair
from tests.examples import ending, observation, timeline
from tests.fakes import TWO, header
from tests.reporting import examples


def weights(*values: float, name: str = "kernel") -> WeightFacts:
    return WeightFacts(count=len(values), finite=True, initial_digest="d", values={name: values} if values else None)


def release(version: str, day: int, yanked: str | None = None) -> Release:
    return Release(
        package="keras", version=version, released=datetime(2025, 1, day, tzinfo=timezone.utc), yanked=yanked
    )


FINISHED = Ending(kind=EndingKind.FINISHED, stage=Stage.EVALUATE)


class TestDeviation:
    @pytest.mark.parametrize(
        ("own", "reference", "expected"),
        [
            (None, weights(1.0), None),
            (weights(1.0), None, None),
            (weights(), weights(1.0), None),
            (weights(1.0), weights(), None),
            (weights(1.0, name="other"), weights(1.0), None),
            (weights(1.0, 2.5), weights(1.0, 2.0), 0.25),
            (weights(0.5), weights(0.0), 0.5),
        ],
    )
    def test_as_a_share_of_the_largest_weight(self, own, reference, expected):
        assert deviation(own, reference) == expected

    def test_not_finite_is_nan(self):
        found = deviation(weights(math.inf), weights(1.0))
        assert found is not None
        assert math.isnan(found)


class TestCurve:
    def seen(self, *values: float) -> Observation:
        return Observation(ending=FINISHED, steps={"loss": values})

    def test_what_was_not_recorded_is_none(self):
        assert curve(self.seen(), "reference", "loss") is None
        assert curve(self.seen(1.0), "reference", "mae") is None

    @given(st.lists(st.floats(), min_size=1, max_size=2000))
    def test_thinned_out_with_both_ends_and_the_first_that_is_not_finite(self, values):
        found = curve(self.seen(*values), "reference", "loss")
        assert found is not None
        shown = [step for step, _ in found.points]
        assert shown[0] == 1
        assert shown[-1] == found.steps == len(values)
        assert len(shown) <= evidence.MOST_POINTS + 2
        assert found.nonfinite == next((n for n, v in enumerate(values, 1) if not math.isfinite(v)), None)
        assert found.nonfinite is None or found.nonfinite in shown


@pytest.mark.parametrize(
    ("ending", "sentence"),
    [
        (FINISHED, "finished"),
        (Ending(kind=EndingKind.RAISED, stage=Stage.TRAIN, exception="ValueError"), "raised ValueError (while: train)"),
        (Ending(kind=EndingKind.RAISED, stage=Stage.TRAIN), "raised an exception (while: train)"),
        (Ending(kind=EndingKind.EXITED, stage=Stage.SCRIPT, exit_code=3), "exit code 3 (while: script)"),
        (Ending(kind=EndingKind.SIGNALLED, stage=Stage.TRAIN, signal=9), "killed by signal 9 (while: train)"),
        (Ending(kind=EndingKind.TIMED_OUT, stage=Stage.TRAIN), "timed-out (while: train)"),
    ],
)
def test_how_a_trial_ended(ending, sentence):
    assert ended(ending) == sentence


def test_what_locked_lines_install():
    lines = ["Keras==3.9.0 --hash=sha256:aa", "keras-x @ git+file:///clone@abc"]
    assert installed(lines) == {"keras": "3.9.0", "keras-x": "git+file:///clone@abc"}


def test_what_differs_between_two_environments():
    assert differences({"a": "1", "b": "1", "c": "1"}, {"a": "2", "b": "1", "d": "1"}) == [
        ("a", "1", "2"),
        ("c", "1", ""),
        ("d", "", "1"),
    ]


class TestPlaces:
    def test_a_yanked_release_stands_between_its_neighbours(self):
        timeline = (release("1.0", 1), release("3.0", 3))
        left_out = (
            Exclusion(release=release("2.0", 2, yanked="broken"), reason="yanked: broken"),
            Exclusion(release=release("2.5rc0", 2), reason="pre-release"),
        )
        found = list(places(timeline, left_out, Order.VERSION))
        assert [(p.version, p.released, p.yanked, p.tried) for p in found] == [
            ("1.0", "2025-01-01", None, True),
            ("2.0", "2025-01-02", "broken", False),
            ("3.0", "2025-01-03", None, True),
        ]

    def test_without_yanked_releases_the_order_of_the_timeline_stands(self):
        timeline = (Release(package="keras", version="3.0"), release("1.0", 1))
        assert [(p.version, p.released) for p in places(timeline, (), Order.DATE)] == [
            ("3.0", None),
            ("1.0", "2025-01-01"),
        ]


def test_without_a_journal_there_is_the_axis_alone():
    found = evidence.without_evidence(examples.everyday())
    assert [place.version for place in found.places] == [r.version for r in examples.everyday().releases]
    assert found.of("3.5.0") == evidence.NOTHING
    assert Evidence().places == ()


def stepped(one: Entry) -> Entry:
    """The same trial with the loss after each step."""
    assert one.finished is not None
    seen = replace(one.finished.observation, steps={"loss": (2.0, 1.0)})
    return replace(one, finished=replace(one.finished, observation=seen))


class TestGather:
    def gathered(self, *entries: Entry) -> Evidence:
        told = header(CASE, timeline(["1.0", "1.1", "1.2"]))
        return evidence.gather(told, entries, assemble.compose(told, entries))

    def test_curves_of_the_sides_of_a_transition_alone(self):
        made = (*pair("1.0", "good"), *pair("1.1", "good"), *pair("1.2", "nan"))
        found = self.gathered(*map(stepped, made))
        assert not found.of("1.0").curves
        assert [c.variant for c in found.of("1.1").curves] == ["reference", "2 replicas"]
        assert found.of("1.2").python == "3.11.7"
        assert found.of("1.2").packages["keras"] == "1.0"
        assert [(t.variant, t.ended) for t in found.of("1.0").trials] == [
            ("reference", "finished"),
            ("2 replicas", "finished"),
        ]

    def test_a_release_that_could_not_be_built_has_no_environment(self):
        found = self.gathered(Entry(release="1.0", untestable="no wheel")).of("1.0")
        assert found == evidence.NOTHING

    def test_a_side_whose_trials_are_not_there_has_no_curve(self):
        told = header(CASE, timeline(["1.0", "1.1"]))
        made = assemble.compose(told, [*pair("1.0", "good"), *pair("1.1", "nan")])
        found = evidence.gather(told, [entry("1.1", TWO, "nan")], made).of("1.1")
        assert found.deviation is None
        assert len(found.curves) <= 1

    def test_what_a_trial_printed_ends_with_its_traceback(self):
        seen = replace(observation(), output="x" * 5000)
        seen = replace(seen, ending=replace(ending(EndingKind.RAISED, Stage.TRAIN), traceback="the end"))
        one = FinishedTrial(trial=Trial(release="1.0", variant=TWO), observation=seen, seconds=1.0)
        (trial,) = self.gathered(Entry(release="1.0", environment=ENVIRONMENT, finished=one)).of("1.0").trials
        assert trial.output.endswith("x\nthe end")
        assert len(trial.output) == evidence.MOST_OUTPUT
