"""Grades of a fix: the truth table row by row, and that nothing is ever proven by accident."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.domain.cases.case import Level, Tolerance
from harness.domain.cases.symptoms import Symptom
from harness.domain.fixes.grades import Grade
from harness.domain.fixes.grading import grade, luck, worst
from harness.domain.trials.observation import EndingKind, FixFacts, Stage
from harness.domain.verdicts.reasons import recorded
from harness.domain.verdicts.verdict import GOOD, Outcome, Verdict
from tests.domain.fixes.graded import BAD, NAN, SKIP, WEIGHTS, WRONG, verdicts
from tests.examples import case, ending, observation

OTHER = Verdict(outcome=Outcome.BAD, reason=recorded("another failure"), signature="two")
APPLIED = observation(fix=FixFacts(name="f", outcome="applied"))
MODEL = case()

OUTCOMES = st.sampled_from([GOOD, BAD, OTHER, SKIP])
VERDICTS = st.fixed_dictionaries(dict.fromkeys(Symptom, OUTCOMES))
TARGETS = st.lists(st.sampled_from(Symptom), unique=True, max_size=3)


def hidden(by, verdict=BAD):
    """One symptom shows, and hides all others."""
    return dict.fromkeys(Symptom, SKIP) | {by: verdict}


nan, wrong, apart = {"nonfinite_metric": BAD}, {"wrong_metric": BAD}, {"wrong_weights": BAD}
unseen = {"nonfinite_metric": SKIP}
untold, gone = "it cannot be told: cannot be told", "nonfinite-metric is gone"


class TestTruthTable:
    """Every row of the table at the head of the module."""

    @pytest.mark.parametrize("without", [verdicts(), verdicts(nonfinite_metric=BAD), hidden(NAN)])
    @pytest.mark.parametrize(
        ("outcome", "expected"),
        [("absent", Grade.ABSENT), ("refused", Grade.INCONCLUSIVE), ("maybe", Grade.INCONCLUSIVE)],
    )
    def test_a_fix_that_was_not_applied(self, without, outcome, expected):
        seen = observation(fix=FixFacts(name="f", outcome=outcome, detail="no such function"))
        assert grade(MODEL, without, verdicts(), seen, [NAN]) == (expected, "no such function")

    def test_without_a_sentence_of_its_own_the_word_stands_for_it(self):
        seen = observation(fix=FixFacts(name="f", outcome="refused"))
        assert grade(MODEL, verdicts(), verdicts(), seen, [NAN])[1] == "the fix says: refused"

    @pytest.mark.parametrize("without", [verdicts(), verdicts(nonfinite_metric=BAD)])
    @pytest.mark.parametrize("symptom", [Symptom.EXCEPTION, Symptom.KILLED, Symptom.TIMEOUT])
    def test_a_fix_that_ends_the_trial(self, without, symptom):
        seen = observation(ending=ending(EndingKind.RAISED, Stage.FIX))
        assert grade(MODEL, without, hidden(symptom), seen, [NAN]) == (
            Grade.BREAKS,
            "the fix itself ends the trial: it shows",
        )

    def test_a_fix_that_was_killed_by_the_machine(self):
        seen = observation(ending=ending(EndingKind.SIGNALLED, Stage.FIX, signal=9))
        found = grade(MODEL, verdicts(nonfinite_metric=BAD), dict.fromkeys(Symptom, SKIP), seen, [NAN])
        assert found == (Grade.INCONCLUSIVE, "with the fix it cannot be told: cannot be told")

    @pytest.mark.parametrize(
        ("without", "patched", "targets", "expected", "reason"),
        [
            # shows a target
            (nan, {"nonfinite_metric": OTHER}, [NAN], Grade.NO_EFFECT, "still there: nonfinite-metric: another"),
            (nan, nan, [], Grade.NO_EFFECT, "still there: nonfinite-metric: it shows"),
            (wrong, {"wrong_metric": SKIP, **nan}, [WRONG], Grade.BREAKS, "with the fix nonfinite-metric: it shows"),
            ({"exception": BAD}, {"exception": OTHER}, [], Grade.BREAKS, "with the fix exception: another failure"),
            (apart, {"wrong_weights": SKIP}, [], Grade.INCONCLUSIVE, f"with the fix {untold}"),
            (nan, wrong, [NAN], Grade.MASKS, "nonfinite-metric is gone, but wrong-metric: it shows"),
            ({**nan, **apart}, apart, [], Grade.MASKS, "nonfinite-metric is gone, but wrong-weights: it shows"),
            ({**nan, **apart}, {**apart, **unseen}, [NAN], Grade.INCONCLUSIVE, f"with the fix {untold}"),
            (nan, {"wrong_weights": SKIP}, [NAN], Grade.INCONCLUSIVE, f"{gone}, but not everything could be compared"),
            (nan, {}, [NAN], Grade.PROVEN, f"{gone} and every value equals the reference on one replica"),
            ({**nan, "wrong_metric": SKIP}, {}, [NAN, WRONG], Grade.PROVEN, f"{gone} and every value equals"),
            # shows none
            (unseen, {}, [WRONG, NAN], Grade.INCONCLUSIVE, f"without the fix {untold}"),
            ({}, unseen, [WRONG, NAN], Grade.INCONCLUSIVE, f"with the fix {untold}"),
            ({}, wrong, [NAN], Grade.BREAKS, "without the fix it does not fail so, with it wrong-metric: it shows"),
            (apart, {**apart, **wrong}, [NAN], Grade.BREAKS, "without the fix it does not fail so, with it"),
            (unseen, {}, [NAN], Grade.INCONCLUSIVE, f"without the fix {untold}"),
            ({}, unseen, [NAN], Grade.INCONCLUSIVE, f"with the fix {untold}"),
            ({}, {}, [NAN], Grade.NOT_REPRODUCED, "does not show the symptom without the fix, and not with it"),
            ({}, {"wrong_weights": SKIP}, [], Grade.NOT_REPRODUCED, "does not show"),
            (apart, {}, [NAN], Grade.NOT_REPRODUCED, "does not show"),
        ],
    )  # fmt: skip
    def test_with_the_fix_applied(self, without, patched, targets, expected, reason):
        found, told = grade(MODEL, verdicts(**without), verdicts(**patched), APPLIED, targets)
        assert (found, told[: len(reason)]) == (expected, reason)

    @pytest.mark.parametrize(
        ("without", "patched", "targets", "expected", "reason"),
        [
            (
                {**nan, **apart},
                {**apart, **nan},
                [],
                Grade.NO_EFFECT,
                "still there: nonfinite-metric: it shows; wrong-weights: it shows",
            ),
            (
                {**nan, **apart},
                {},
                [],
                Grade.PROVEN,
                "nonfinite-metric, wrong-weights is gone and every value equals the reference on one replica",
            ),
            (
                nan,
                {"wrong_metric": SKIP, "wrong_weights": Verdict(outcome=Outcome.SKIP, reason=recorded("no weights"))},
                [],
                Grade.INCONCLUSIVE,
                "nonfinite-metric is gone, but not everything could be compared: cannot be told",
            ),
            ({**nan, "exception": BAD}, {"exception": BAD}, [NAN], Grade.MASKS, f"{gone}, but exception: it shows"),
            ({"exception": BAD}, {"exception": BAD}, [], Grade.NO_EFFECT, "still there: exception: it shows"),
            (
                {"wrong_metric": BAD, "wrong_weights": SKIP},
                {"wrong_metric": BAD, "wrong_weights": SKIP},
                [WRONG, WEIGHTS],
                Grade.NO_EFFECT,
                "still there: wrong-metric: it shows",
            ),
            (
                {"wrong_weights": SKIP},
                {"wrong_weights": OTHER},
                [NAN],
                Grade.NOT_REPRODUCED,
                "does not show the symptom without the fix, and not with it",
            ),
        ],
    )
    def test_the_whole_reason(self, without, patched, targets, expected, reason):
        assert grade(MODEL, verdicts(**without), verdicts(**patched), APPLIED, targets) == (expected, reason)

    def test_a_fix_that_was_refused_a_place_is_no_broken_one(self):
        seen = observation(ending=ending(EndingKind.REFUSED, Stage.FIX))
        assert grade(MODEL, verdicts(nonfinite_metric=BAD), hidden(Symptom.EXCEPTION), seen, [NAN]) == (
            Grade.BREAKS,
            "with the fix exception: it shows",
        )
        at_work = observation(ending=ending(EndingKind.RAISED, Stage.TRAIN))
        assert grade(MODEL, verdicts(nonfinite_metric=BAD), hidden(Symptom.EXCEPTION), at_work, [NAN])[1] == (
            "with the fix exception: it shows"
        )

    def test_what_else_ends_a_fix_is_no_bad_end(self):
        """Only the symptoms of an early end say that the fix itself did it."""
        seen = observation(ending=ending(EndingKind.FINISHED, Stage.FIX))
        assert grade(MODEL, verdicts(nonfinite_metric=BAD), verdicts(wrong_metric=BAD), seen, [NAN])[0] is Grade.MASKS

    def test_a_failure_that_hides_what_was_shown(self):
        found, told = grade(MODEL, verdicts(nonfinite_metric=BAD), hidden(Symptom.EXCEPTION), APPLIED, [NAN])
        assert (found, told) == (Grade.BREAKS, "with the fix exception: it shows")

    def test_another_release_may_be_the_fix(self):
        """It says nothing of itself: what counts is how its trial went."""
        found, _ = grade(MODEL, verdicts(nonfinite_metric=BAD), verdicts(), observation(), [NAN])
        assert found is Grade.PROVEN

    def test_nothing_could_be_told_either_way(self):
        none = dict.fromkeys(Symptom, SKIP)
        assert grade(MODEL, none, none, APPLIED, [])[0] is Grade.INCONCLUSIVE
        assert grade(MODEL, verdicts(), none, APPLIED, [])[0] is Grade.INCONCLUSIVE
        assert grade(MODEL, {}, {}, APPLIED, [])[1] == "without the fix it cannot be told: not tested"


class TestWhatWasNeverLookedAt:
    """A target that the case does not compare is no proof, whatever else is right."""

    def test_beside_a_cured_one(self):
        without, patched = verdicts(nonfinite_metric=BAD), verdicts()
        for found in (without, patched):
            del found[WEIGHTS]
        assert grade(MODEL, without, patched, APPLIED, [NAN, WEIGHTS]) == (
            Grade.INCONCLUSIVE,
            "nonfinite-metric is gone, but not everything could be compared: the case does not look for wrong-weights",
        )

    def test_alone(self):
        found = verdicts()
        del found[WEIGHTS]
        assert grade(MODEL, found, found, APPLIED, [WEIGHTS]) == (
            Grade.INCONCLUSIVE,
            "without the fix it cannot be told: the case does not look for wrong-weights",
        )

    def test_a_symptom_that_is_not_judged_with_the_fix(self):
        patched = verdicts()
        del patched[NAN]
        assert grade(MODEL, verdicts(nonfinite_metric=BAD), patched, APPLIED, [])[0] is Grade.INCONCLUSIVE

    def test_a_new_symptom_that_was_not_judged_before(self):
        without = verdicts(nonfinite_metric=BAD)
        del without[WEIGHTS]
        assert grade(MODEL, without, verdicts(wrong_weights=BAD), APPLIED, [NAN])[0] is Grade.MASKS

    @pytest.mark.parametrize(
        ("about", "expected", "told"),  # the end of the reason
        [
            (
                case(tolerance=Tolerance(metric=None, weights=None)),
                Grade.INCONCLUSIVE,
                "compared: the case compares neither metrics nor weights",
            ),
            (
                case(tolerance=Tolerance(metric=None)),
                Grade.PROVEN,
                "gone and every weight equals the reference on one replica (metrics are not compared)",
            ),
            (
                case(tolerance=Tolerance(metric=0.1, weights=None)),
                Grade.PROVEN,
                "gone and every metric equals the reference on one replica within 0.1 (weights are not compared)",
            ),
            (
                case(tolerance=Tolerance(metric=0.1)),
                Grade.PROVEN,
                "gone and every value equals the reference on one replica",
            ),
            (case(level=Level.SCRIPT), Grade.PROVEN, "the script finds nothing else wrong"),
            (
                case(level=Level.SCRIPT, tolerance=Tolerance(metric=None, weights=None)),
                Grade.PROVEN,
                "gone and the script finds nothing else wrong",
            ),
        ],
    )
    def test_the_proof_says_what_it_rests_on(self, about, expected, told):
        found, reason = grade(about, verdicts(nonfinite_metric=BAD), verdicts(), APPLIED, [NAN])
        assert found is expected
        assert reason.endswith(told)


class TestProven:
    @given(VERDICTS, VERDICTS, TARGETS)
    def test_needs_a_symptom_before_and_nothing_but_good_after(self, without, patched, targets):
        """Never with a bad or skipped verdict, and never where no target showed."""
        found, reason = grade(MODEL, without, patched, APPLIED, targets)
        assert reason
        if found is Grade.PROVEN:
            assert set(patched.values()) == {GOOD}
            assert any(v.outcome is Outcome.BAD and (s in targets or not targets) for s, v in without.items())

    @given(VERDICTS, VERDICTS, TARGETS, st.sets(st.sampled_from(Symptom), min_size=1))
    def test_never_with_an_untouched_target(self, without, patched, targets, left_out):
        kept = {s: v for s, v in without.items() if s not in left_out}
        fixed = {s: v for s, v in patched.items() if s not in left_out}
        found, _ = grade(MODEL, kept, fixed, APPLIED, [*targets, *left_out])
        assert found is not Grade.PROVEN

    @given(VERDICTS, TARGETS)
    def test_never_by_a_fix_that_changes_nothing(self, found, targets):
        expected = {Grade.NO_EFFECT, Grade.NOT_REPRODUCED, Grade.INCONCLUSIVE}
        assert grade(MODEL, found, found, APPLIED, targets)[0] in expected

    @given(VERDICTS, VERDICTS, TARGETS, st.sampled_from(["absent", "refused", "", "proven"]))
    def test_never_by_a_fix_that_was_not_applied(self, without, patched, targets, outcome):
        seen = observation(fix=FixFacts(name="f", outcome=outcome))
        assert grade(MODEL, without, patched, seen, targets)[0] in {Grade.ABSENT, Grade.INCONCLUSIVE}

    @given(VERDICTS, VERDICTS, TARGETS)
    def test_a_healthy_release_never_proves_anything(self, without, patched, targets):
        healthy = {s: GOOD if v.outcome is Outcome.BAD else v for s, v in without.items()}
        found, _ = grade(MODEL, healthy, patched, APPLIED, targets)
        assert found in {Grade.BREAKS, Grade.NOT_REPRODUCED, Grade.INCONCLUSIVE}


class TestSeveralRuns:
    @given(st.lists(VERDICTS, min_size=1, max_size=4))
    def test_the_worst_verdict_counts(self, runs):
        for symptom, verdict in worst(runs).items():
            outcomes = {run[symptom].outcome for run in runs}
            assert verdict.outcome is next(o for o in (Outcome.BAD, Outcome.SKIP, Outcome.GOOD) if o in outcomes)

    def test_of_two_bad_ones_the_first_is_told(self):
        assert worst([{NAN: SKIP}, {NAN: BAD}, {NAN: OTHER}]) == {NAN: BAD}

    def test_a_symptom_that_always_shows_does_not_stay_away_by_luck(self):
        assert luck([{NAN: BAD}, {NAN: BAD, WRONG: GOOD}], 1) == 0.0

    def test_the_rarest_counts(self):
        runs = [{NAN: BAD, WRONG: GOOD}, {NAN: GOOD, WRONG: GOOD}, {NAN: BAD, WRONG: BAD}, {NAN: BAD, WRONG: GOOD}]
        assert luck(runs, 1) == 0.75
        assert luck(runs, 2) == 0.5625

    def test_an_undecided_run_does_not_hide_a_worse_one_and_is_not_hidden_by_a_good_one(self):
        assert worst([{NAN: GOOD}, {NAN: SKIP, WRONG: BAD}, {WRONG: SKIP}]) == {NAN: SKIP, WRONG: BAD}

    def test_a_flaky_one_may(self):
        assert luck([{NAN: BAD}, {NAN: GOOD}, {NAN: SKIP}, {}], 3) == 0.125

    def test_what_never_showed_needs_no_luck(self):
        assert luck([{NAN: GOOD}], 3) == 0.0
        assert luck([], 1) == 0.0
