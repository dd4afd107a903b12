"""Grades of a fix from pairs of runs, and the negative controls of all verification."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.domain.cases.symptoms import Symptom
from harness.domain.fixes.grades import Grade
from harness.domain.fixes.pairs import Pair, bracket, grade_pairs, paired
from harness.domain.trials.observation import EndingKind, FixFacts, Observation, Stage
from tests.examples import case, ending, observation, weights

NAN = Symptom.NONFINITE_METRIC
SICK = observation({"loss": math.nan})


def fixed(observed: Observation, outcome: str = "applied", detail: str = "") -> Observation:
    return replace(observed, fix=FixFacts(name="f", outcome=outcome, detail=detail))


def pair(without: Observation, patched: Observation) -> Pair:
    return Pair(reference=observation(), without=without, patched=patched)


class TestPaired:
    @given(st.sets(st.integers(0, 5)), st.sets(st.integers(0, 5)), st.sets(st.integers(0, 5)))
    def test_a_pair_needs_both_of_its_runs_and_its_reference_is_of_the_same_repeat(self, references, without, patched):
        """A repeat without one of the two runs says nothing of the fix."""

        def runs(repeats: set[int], kind: int) -> dict[int, Observation]:
            return {repeat: observation({"loss": 10.0 * kind + repeat}) for repeat in repeats}

        made = paired(runs(references, 0), runs(without, 1), runs(patched, 2), runs(references, 3))
        assert {p.without.final["loss"] - 10 for p in made} == without & patched
        for one in made:
            repeat = one.without.final["loss"] - 10
            assert one.patched.final["loss"] - 20 == repeat
            for reference, kind in ((one.reference, 0), (one.patched_reference, 3)):
                assert (reference.final["loss"] - 10 * kind if reference else None) == (
                    repeat if repeat in references else None
                )

    def test_without_another_environment_there_is_no_second_reference(self):
        (made,) = paired({0: observation()}, {0: SICK}, {0: observation()})
        assert made.patched_reference is None


class TestGradePairs:
    def test_one_bad_run_with_the_fix_is_enough(self):
        pairs = [pair(SICK, fixed(observation())), pair(SICK, fixed(SICK))]
        assert grade_pairs(case(), "3.9.0", pairs, [NAN]).grade is Grade.NO_EFFECT

    def test_one_run_in_which_the_fix_was_not_applied_is_enough(self):
        pairs = [pair(SICK, fixed(observation())), pair(SICK, fixed(SICK, "absent", "nothing to patch"))]
        graded = grade_pairs(case(), "3.9.0", pairs, [NAN])
        assert (graded.grade, graded.reason) == (Grade.ABSENT, "nothing to patch")

    @pytest.mark.parametrize(("sick", "grade"), [(4, Grade.PROVEN), (2, Grade.INCONCLUSIVE)])
    def test_a_flaky_symptom_must_stay_away_longer_than_luck_explains(self, sick, grade):
        pairs = [pair(SICK if n < sick else observation(), fixed(observation())) for n in range(4)]
        graded = grade_pairs(case(), "3.9.0", pairs, [NAN])
        assert graded.grade is grade
        assert graded.reason.endswith("may stay away by chance (6%): ask for more --repeats") is (sick == 2)


class TestBracket:
    """The negative controls: what must never be taken for a cure."""

    def graded(self, without, patched, **changes):
        given = {"reference": observation(), "targets": [NAN], **changes}
        return bracket(case(), "3.9.2", given.pop("reference"), without, patched, given.pop("targets"), **given)

    def test_a_fix_that_does_nothing(self):
        assert self.graded(SICK, fixed(SICK)).grade is Grade.NO_EFFECT

    def test_a_fix_that_hides_nan(self):
        graded = self.graded(SICK, fixed(observation({"loss": 0.0}), detail="nan_to_num"))
        assert graded.grade is Grade.MASKS
        assert graded.reason == (
            "nonfinite-metric is gone, but wrong-metric: loss is 0, reference 0.0873 (tolerance 0.001) "
            "(what the fix did: nan_to_num)"
        )
        assert (graded.reference, graded.patched) == ({"loss": 0.0873}, {"loss": 0.0})

    @pytest.mark.parametrize(
        ("files", "named"),
        [(("docs/a.md",), "docs/a.md"), (tuple(f"f{n}" for n in range(7)), "f0, f1, f2, f3, f4 and 2 more")],
    )
    def test_files_of_a_patch_that_were_left_out_are_named(self, files, named):
        facts = FixFacts(name="x.diff", outcome="applied", left_out=files)
        graded = self.graded(SICK, replace(observation(), fix=facts))
        assert graded.grade is Grade.PROVEN
        assert graded.reason.endswith(f"(not in the package, so left out of the patch: {named})")

    def test_a_fix_that_takes_the_metric_away(self):
        assert self.graded(SICK, fixed(observation({"accuracy": 1.0}))).grade is Grade.MASKS

    def test_a_fix_that_trains_less(self):
        reference = observation(steps={"loss": (0.1,) * 256})
        graded = self.graded(SICK, fixed(observation(steps={"loss": (0.1,) * 8})), reference=reference)
        assert graded.grade is Grade.INCONCLUSIVE

    def test_a_fix_that_changes_where_training_starts(self):
        assert (
            self.graded(SICK, fixed(observation(weights=weights(initial_digest="other")))).grade is Grade.INCONCLUSIVE
        )

    def test_a_fix_that_trains_on_one_replica(self):
        """The probe refuses a model that is not under the strategy."""
        refused = observation({}, weights=None, ending=ending(EndingKind.REFUSED, Stage.BUILD, message="on 1 replica"))
        graded = self.graded(SICK, fixed(refused))
        assert (graded.grade, graded.reason) == (
            Grade.INCONCLUSIVE,
            "with the fix it cannot be told: on 1 replica",
        )

    def test_a_fix_that_raises(self):
        raised = observation(
            {}, weights=None, ending=ending(EndingKind.RAISED, Stage.FIX, exception="KeyError", message="'sum'")
        )
        for without in (SICK, observation()):
            graded = self.graded(without, raised)
            assert graded.grade is Grade.BREAKS
            assert graded.reason == "the fix itself ends the trial: KeyError: 'sum' (while: fix)"

    def test_a_fix_that_ends_the_process(self):
        left = observation({}, weights=None, ending=ending(EndingKind.EXITED, Stage.FIX, exit_code=0))
        graded = self.graded(SICK, left)
        assert (graded.grade, graded.reason) == (
            Grade.BREAKS,
            "the fix itself ends the trial: left with exit code 0 (while: fix)",
        )

    def test_a_reference_that_failed(self):
        failed = observation({}, ending=ending(EndingKind.RAISED, Stage.TRAIN, exception="ValueError", message="no"))
        assert self.graded(SICK, fixed(observation()), reference=failed).grade is Grade.INCONCLUSIVE

    def test_a_reference_that_is_nan_in_the_cured_metric(self):
        reference = observation({"loss": 0.0873, "mae": math.nan})
        without = observation({"loss": 0.0873, "mae": math.nan})
        graded = self.graded(without, fixed(observation({"loss": 0.0873, "mae": 0.0})), reference=reference)
        assert graded.grade is Grade.INCONCLUSIVE

    def test_no_reference_at_all(self):
        assert self.graded(SICK, fixed(observation()), reference=None).grade is Grade.INCONCLUSIVE

    def test_a_cure(self):
        graded = self.graded(SICK, fixed(observation()))
        assert graded.grade is Grade.PROVEN
        assert graded.by_symptom[NAN.value] == ("bad", "good")
        assert math.isnan(graded.without["loss"])

    def test_another_release_is_held_against_a_reference_of_its_own(self):
        own = observation({"loss": 0.5})
        assert self.graded(SICK, own, patched_reference=observation({"loss": 0.5})).grade is Grade.PROVEN
        assert self.graded(SICK, own).grade is Grade.MASKS
