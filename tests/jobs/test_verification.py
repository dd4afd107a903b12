"""Verifying a fix: reference, without and with, for each release, from small real objects behind the protocols."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import InfrastructureError
from harness.domain.fixes.grades import Grade
from harness.domain.trials.entry import Entry
from harness.domain.trials.observation import EndingKind, FixFacts, Stage
from harness.domain.trials.trial import FinishedTrial, Trial
from harness.domain.trials.variant import Variant
from harness.jobs import verification
from harness.jobs.verification import Pair, Verification, bracket, grade_pairs, grade_release
from tests.examples import case, ending, observation, release, timeline, weights
from tests.fakes import TWO, Heard, MemoryJournal, TableEnvironments, TableTrials, untestable

NAN = Symptom.NONFINITE_METRIC
SICK = observation({"loss": math.nan})
VERSIONS = ["3.7.0", "3.8.0", "3.9.0", "3.10.0"]


def asked(*fixes, versions=VERSIONS, **changes):
    given = {
        "case": case(expects=NAN),
        "releases": timeline(versions).releases,
        "variant": TWO,
        "fixes": fixes,
        "targets": (NAN,),
    }
    return Verification(**{**given, **changes})


def fixed(observed, outcome="applied", detail=""):
    return replace(observed, fix=FixFacts(name="f", outcome=outcome, detail=detail))


def grades(question, journal):
    held = journal.entries()
    return {
        r.version: grade_release(question, r, [e for e in held if e.release == r.version], question.fixes[0]).grade
        for r in question.releases
    }


class TestVerify:
    def test_every_release_is_tried_without_and_with_the_fix_in_one_call(self):
        question = asked("f", "g")
        table = {"3.7.0": "good", "3.8.0": "nan", "3.9.0": "wrong", "3.10.0": "good"}
        trials = TableTrials(
            {"3.7.0": "nan", "3.8.0": "nan", "3.9.0": "nan", "3.10.0": "good"}, fixed={"f": table, "g": table}
        )
        journal, heard = MemoryJournal(), Heard()
        verification.verify(question, TableEnvironments(), trials, journal, heard)
        assert grades(question, journal) == {
            "3.7.0": Grade.PROVEN,
            "3.8.0": Grade.NO_EFFECT,
            "3.9.0": Grade.MASKS,
            "3.10.0": Grade.NOT_REPRODUCED,
        }
        assert [t.variant for t in trials.ran[:4]] == [Variant(), TWO, replace(TWO, fix="f"), replace(TWO, fix="g")]
        told = [(e.release, e.detail, e.left) for e in heard.events if e.kind == "done"]
        assert told[0] == ("3.7.0", "f: proven, g: proven", 3)
        assert told[-1] == ("3.10.0", "f: not reproduced, g: not reproduced", 0)

    def test_an_untestable_release_is_inconclusive_with_its_reason(self):
        question = asked("f", versions=["3.7.0"])
        journal = MemoryJournal()
        verification.verify(question, TableEnvironments(untestable("3.7.0")), TableTrials({}), journal, Heard())
        graded = grade_release(question, release("3.7.0"), journal.entries(), "f")
        assert (graded.grade, graded.reason) == (Grade.INCONCLUSIVE, "3.7.0: no wheel for this Python")

    def test_what_was_never_run_is_inconclusive(self):
        graded = grade_release(asked("f"), release("3.7.0"), [], "f")
        assert (graded.grade, graded.reason) == (Grade.INCONCLUSIVE, "not run")

    def test_a_failing_machine_stops_it_and_keeps_what_is_finished(self):
        question = asked("f", versions=["3.7.0", "3.8.0"])
        environments = TableEnvironments({"3.8.0": InfrastructureError("the disk is full")})
        trials, journal = TableTrials({"3.7.0": "nan"}, fixed={"f": {"3.7.0": "good"}}), MemoryJournal()
        with pytest.raises(InfrastructureError):
            verification.verify(question, environments, trials, journal, Heard())
        assert grades(question, journal) == {"3.7.0": Grade.PROVEN, "3.8.0": Grade.INCONCLUSIVE}

    def test_resuming_runs_only_what_is_missing(self):
        question = asked("f", versions=["3.7.0", "3.8.0"])
        trials = TableTrials(dict.fromkeys(VERSIONS, "nan"), fixed={"f": dict.fromkeys(VERSIONS, "good")})
        journal = MemoryJournal()
        verification.verify(question, TableEnvironments(), trials, journal, Heard())
        again = TableEnvironments()
        verification.verify(question, again, trials, journal, Heard())
        assert again.prepared == []
        torn = MemoryJournal(journal.entries()[:-1])
        verification.verify(question, again, trials, torn, Heard())
        assert again.prepared == ["3.8.0"]
        assert grades(question, torn) == {"3.7.0": Grade.PROVEN, "3.8.0": Grade.PROVEN}

    def test_a_release_that_never_gets_complete_is_tried_once(self):
        class Forgetful(TableTrials):
            def run(self, environment, case, trials):
                return super().run(environment, case, trials)[:1]

        question, environments = asked("f", versions=["3.7.0"]), TableEnvironments()
        trials = Forgetful({"3.7.0": "nan"}, fixed={"f": {"3.7.0": "good"}})
        verification.verify(question, environments, trials, MemoryJournal(), Heard())
        assert environments.prepared == ["3.7.0"]


class FlakyTrials(TableTrials):
    """Shows the symptom in some repeats only, and never with the fix."""

    def __init__(self, bad_repeats):
        super().__init__({})
        self.bad_repeats = bad_repeats

    def _observe(self, case, trial):
        if trial.variant.replicas == 1:
            return observation()
        if trial.variant.fix is not None:
            return fixed(observation())
        return SICK if trial.repeat in self.bad_repeats else observation()


class TestRepeats:
    @pytest.mark.parametrize(
        ("repeats", "bad", "expected"),
        [
            (1, {0}, Grade.PROVEN),
            (3, {0, 1, 2}, Grade.PROVEN),
            (4, {0, 1}, Grade.INCONCLUSIVE),
            (8, set(range(7)), Grade.PROVEN),
            (4, set(), Grade.NOT_REPRODUCED),
        ],
    )
    def test_a_flaky_symptom_must_stay_away_longer_than_luck_explains(self, repeats, bad, expected):
        question = asked("f", versions=["3.7.0"], case=case(repeats=repeats))
        journal = MemoryJournal()
        trials = FlakyTrials(bad)
        verification.verify(question, TableEnvironments(), trials, journal, Heard())
        assert len(trials.ran) == 3 * repeats
        graded = grade_release(question, question.releases[0], journal.entries(), "f")
        assert graded.grade is expected
        if expected is Grade.INCONCLUSIVE:
            assert graded.reason.endswith("may stay away by chance (6%): ask for more --repeats")

    def test_one_bad_run_with_the_fix_is_enough(self):
        pairs = [pair(SICK, fixed(observation())), pair(SICK, fixed(SICK))]
        assert grade_pairs(case(), "3.9.0", pairs, [NAN]).grade is Grade.NO_EFFECT

    def test_one_run_in_which_the_fix_was_not_applied_is_enough(self):
        pairs = [pair(SICK, fixed(observation())), pair(SICK, fixed(SICK, "absent", "nothing to patch"))]
        graded = grade_pairs(case(), "3.9.0", pairs, [NAN])
        assert (graded.grade, graded.reason) == (Grade.ABSENT, "nothing to patch")

    def test_an_untestable_release_is_not_repeated(self):
        environments = TableEnvironments(untestable("3.7.0"))
        question = asked("f", versions=["3.7.0"], case=case(repeats=3))
        verification.verify(question, environments, TableTrials({}), MemoryJournal(), Heard())
        assert environments.prepared == ["3.7.0"]


def pair(without, patched):
    return Pair(reference=observation(), without=without, patched=patched)


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


class TestShows:
    def test_any_run_counts(self):
        entries = [entry(SICK, repeat=1), entry(observation(), repeat=0)]
        assert verification.shows(case(), entries, TWO, [NAN])
        assert verification.shows(case(), entries, TWO, [])
        assert not verification.shows(case(), entries, TWO, [Symptom.WRONG_WEIGHTS])

    def test_nothing_shows_where_nothing_ran(self):
        assert not verification.shows(case(), [], TWO, [NAN])


def entry(observed, repeat):
    trial = Trial(release="3.9.0", variant=TWO, repeat=repeat)
    return Entry(release="3.9.0", finished=FinishedTrial(trial=trial, observation=observed, seconds=0.0))
