"""Symptoms that are read from what a trial printed."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.domain.cases.case import DEFAULT_TOLERANCE, Case, Level, Tolerance
from harness.domain.cases.symptoms import Symptom
from harness.domain.trials.observation import EndingKind, Observation, Stage
from harness.domain.trials.reading import reading, same
from harness.domain.verdicts.judgement import judge
from harness.domain.verdicts.read_rules import levels_of, reading_in, value_tolerance
from harness.domain.verdicts.reasons import NO_REASON, ReasonKind
from harness.domain.verdicts.verdict import Outcome, Verdict
from tests.examples import case, ending, observation, script

VALUE, WARNING, RAISED = Symptom.CHANGED_VALUE, Symptom.WARNING, Symptom.EXCEPTION
GOOD, BAD, SKIP = Outcome.GOOD, Outcome.BAD, Outcome.SKIP
SCRIPT = case(level=Level.SCRIPT, value="loss (.*)")


def printed(text: str, code: int = 0) -> Observation:
    return script(code, output=f"loss {text}\n")


def on_value(about: Case, seen: Observation, baseline: Observation | None = None) -> Verdict:
    return judge(about, seen, None, baseline)[VALUE]


class TestValue:
    @pytest.mark.parametrize(
        ("own", "right", "outcome"),
        [
            ("0.25", "0.25", GOOD),
            ("0.2500001", "0.25", GOOD),
            ("0.26", "0.25", BAD),
            ("nan", "nan", GOOD),
            ("nan", "0.25", BAD),
            ("0.25", "inf", BAD),
            ("-inf", "inf", BAD),
            ("adam", "sgd", BAD),
            ("7.4", "0.0", BAD),
        ],
    )
    def test_it_is_compared_with_another_release_or_with_what_the_case_says(self, own, right, outcome):
        assert on_value(SCRIPT, printed(own), printed(right)).outcome is outcome
        stated = case(level=Level.SCRIPT, value="loss (.*)", equals=right)
        assert on_value(stated, printed(own)).outcome is outcome

    def test_the_reason_has_both_values(self):
        assert str(on_value(SCRIPT, printed("7.4"), printed("0.0")).reason) == "7.4, not 0.0 (tolerance 0.001)"

    def test_a_model_is_compared_with_one_replica_where_it_names_nothing_else(self):
        about = case(value="loss (.*)")
        alone = observation(output="loss 1")
        assert judge(about, observation(output="loss 2"), alone)[VALUE].outcome is BAD
        assert judge(about, observation(output="loss 1"), alone)[VALUE].outcome is GOOD
        assert judge(about, observation(output="loss 1"), None)[VALUE].reason.kind is ReasonKind.NO_BASELINE

    def test_all_numbers_of_a_model_are_compared_with_a_reference_release(self):
        about = case(reference="3.6.0")
        before = observation({"loss": 0.5, "mae": 1.0})
        assert judge(about, observation({"loss": 0.5, "mae": 1.0}), None, before)[VALUE].outcome is GOOD
        changed = judge(about, observation({"loss": 0.5, "mae": 2.0}), None, before)[VALUE]
        assert str(changed.reason) == "loss 0.5, mae 2, not loss 0.5, mae 1 (tolerance 0.001)"
        assert judge(about, observation({}), None, before)[VALUE].reason.kind is ReasonKind.NO_VALUE

    @pytest.mark.parametrize(
        ("seen", "baseline", "kind"),
        [
            (script(0, output="nothing"), printed("1"), ReasonKind.NO_VALUE),
            (printed("1"), None, ReasonKind.NO_BASELINE),
            (printed("1"), script(0, output="nothing"), ReasonKind.NO_BASELINE),
            (printed("1"), printed("2", code=1), ReasonKind.NO_BASELINE),
            (printed("1", code=1), printed("2"), ReasonKind.HIDDEN),
            (printed("1", code=125), printed("2"), ReasonKind.SCRIPT_SKIPS),
        ],
    )
    def test_no_value_is_never_good(self, seen, baseline, kind):
        verdict = on_value(SCRIPT, seen, baseline)
        assert (verdict.outcome, verdict.reason.kind) == (SKIP, kind)
        assert str(verdict.reason)

    def test_what_the_last_step_before_an_exception_printed_is_no_value(self):
        assert judge(SCRIPT, printed("1", code=1), None, printed("2"))[RAISED].outcome is BAD

    def test_a_case_that_does_not_ask_has_no_such_symptom(self):
        assert VALUE not in judge(case(), observation(), observation())
        assert VALUE not in judge(case(level=Level.SCRIPT), printed("1"), None)

    def test_metrics_that_are_not_compared_leave_the_usual_tolerance_for_the_value(self):
        assert value_tolerance(case(tolerance=Tolerance(metric=None))) == DEFAULT_TOLERANCE
        assert value_tolerance(case(tolerance=Tolerance(metric=0.1))) == 0.1


class TestWarning:
    ABOUT = case(level=Level.SCRIPT, warning="structure of .?inputs")
    LINE = "/x/functional.py:225: UserWarning: The structure of `inputs` doesn't match"

    def test_it_is_found_in_the_output_and_in_the_lines_that_were_cut_out_of_it(self):
        for seen in (script(0, output=f"a\n{self.LINE}\nb"), script(0, output="b", warnings=(self.LINE,))):
            verdict = judge(self.ABOUT, seen, None)[WARNING]
            assert verdict.outcome is BAD
            assert str(verdict.reason) == "it warns: UserWarning: The structure of `inputs` doesn't match"
            assert verdict.signature == "warning | UserWarning: The structure of `inputs` doesn't match"

    def test_a_place_that_is_part_of_what_was_asked_for_stays(self):
        about = case(level=Level.SCRIPT, warning="functional.py:225: UserWarning")
        assert "functional.py:225: UserW" in str(judge(about, script(0, output=self.LINE), None)[WARNING].reason)

    def test_it_is_good_without_and_unseen_where_the_script_ended_before(self):
        assert judge(self.ABOUT, script(0), None)[WARNING].outcome is GOOD
        assert judge(self.ABOUT, script(1), None)[WARNING].hidden
        assert judge(self.ABOUT, script(1, output=self.LINE), None)[WARNING].outcome is BAD

    def test_a_model_may_warn_too(self):
        about = case(warning="structure")
        assert judge(about, observation(output=self.LINE), observation())[WARNING].outcome is BAD
        refused = observation({}, ending=ending(EndingKind.REFUSED, Stage.DEVICES, message="no TPU"))
        assert judge(about, refused, observation())[WARNING].outcome is SKIP


VALUES = st.one_of(st.floats(), st.floats(0, 1), st.sampled_from([0.0, 1.0, 1.0005, 1.001, math.nan, math.inf]))
GROUPS = st.lists(st.lists(VALUES.map(lambda value: reading(repr(value))), min_size=1, max_size=3), max_size=8)


class TestLevels:
    def test_plateaus(self):
        groups = [[reading(text)] for text in ("1", "1.0001", "2", "nan", "nan", "2.0001", "adam")]
        levels = levels_of(groups, 1e-3)
        assert sorted(sorted(one.text for one in level) for level in levels) == [
            ["1", "1.0001"],
            ["2", "2.0001"],
            ["adam"],
            ["nan", "nan"],
        ]

    def test_what_varies_within_one_release_is_one_value(self):
        assert len(levels_of([[reading("1"), reading("2")], [reading("2")], [reading("1")]], 1e-3)) == 1

    def test_a_value_between_two_joins_them(self):
        apart = [[reading("1")], [reading("1.0018")]]
        assert len(levels_of(apart, 1e-3)) == 2
        assert len(levels_of([*apart, [reading("1.0009")]], 1e-3)) == 1

    @given(GROUPS, st.sampled_from([0.0, 1e-3, 0.1]))
    def test_every_value_has_one_level_and_close_values_share_it(self, groups, tolerance):
        levels = levels_of(groups, tolerance)
        assert sorted(id(one) for level in levels for one in level) == sorted(id(one) for g in groups for one in g)
        for level in levels:
            for other in levels:
                if level is not other:
                    assert not any(same(one, two, tolerance, 1e-7) for one in level for two in other)

    @given(GROUPS, st.sampled_from([0.0, 1e-3, 0.1]), st.randoms())
    def test_the_order_does_not_matter(self, groups, tolerance, random):
        def as_sets(levels):
            return {frozenset(map(id, level)) for level in levels}

        shuffled = list(groups)
        random.shuffle(shuffled)
        assert as_sets(levels_of(shuffled, tolerance)) == as_sets(levels_of(groups, tolerance))

    def test_a_reason_gives_back_its_value(self):
        for text in ("7.4", "nan", "adam"):
            found = reading_in(on_value(SCRIPT, printed(text), printed("0")).reason)
            assert (found.text, same(found, reading(text), 0.0, 0.0)) == (text, True)
        assert reading_in(NO_REASON).text == ""
