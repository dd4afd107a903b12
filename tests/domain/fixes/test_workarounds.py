"""The truth table of remedies, and the trials that each needs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.domain.cases.case import Level, Workaround
from harness.domain.errors import UsageError
from harness.domain.fixes import workarounds
from harness.domain.fixes.grades import Grade, Graded
from harness.domain.fixes.workarounds import Effect, Measured, WorkaroundRow
from harness.domain.trials.variant import Variant
from tests.examples import case

SWITCHES = {
    "fault": ("silent_log", "zero_norm", "none"),
    "remedy": ("none", "log_epsilon"),
    "policy": ("mixed_float16", "float32"),
}
CASE = case(parameters=SWITCHES)
EPSILON = Workaround(
    name="log_epsilon",
    title="an epsilon inside the logarithm",
    options={"remedy": "log_epsilon"},
    against={"fault": "silent_log"},
)
FAULT = (("fault", "silent_log"),)
BOTH = (*FAULT, ("remedy", "log_epsilon"))


def graded(grade: Grade, **by_symptom: tuple[str, str]) -> Graded:
    return Graded(version="1.0", grade=grade, reason="why", by_symptom=by_symptom)


GONE, STILL, HIDDEN, HEALTHY = ("bad", "good"), ("bad", "bad"), ("bad", "skip"), ("good", "good")


class TestTold:
    @pytest.mark.parametrize(
        ("found", "cured", "right"),
        [
            (graded(Grade.NOT_REPRODUCED, nan=HEALTHY), Effect.MOOT, Effect.MOOT),
            (graded(Grade.BREAKS, nan=("good", "bad")), Effect.MOOT, Effect.NO),
            (graded(Grade.INCONCLUSIVE, nan=("skip", "good")), Effect.OPEN, Effect.OPEN),
            (graded(Grade.INCONCLUSIVE), Effect.OPEN, Effect.OPEN),
            (graded(Grade.NO_EFFECT, nan=STILL), Effect.NO, Effect.NO),
            (graded(Grade.MASKS, nan=GONE, wrong=STILL), Effect.NO, Effect.NO),
            (graded(Grade.INCONCLUSIVE, nan=GONE, wrong=HIDDEN), Effect.OPEN, Effect.OPEN),
            (graded(Grade.INCONCLUSIVE, nan=HIDDEN, wrong=STILL), Effect.NO, Effect.NO),
            (graded(Grade.NO_EFFECT, nan=GONE), Effect.NO, Effect.NO),
            (graded(Grade.PROVEN, nan=HEALTHY), Effect.OPEN, Effect.OPEN),
            (graded(Grade.BREAKS, nan=HIDDEN, exception=("good", "bad")), Effect.NO, Effect.NO),
            (graded(Grade.INCONCLUSIVE, nan=HIDDEN), Effect.OPEN, Effect.OPEN),
            (graded(Grade.MASKS, nan=GONE, wrong=("skip", "bad")), Effect.YES, Effect.NO),
            (graded(Grade.INCONCLUSIVE, nan=GONE, wrong=("skip", "skip")), Effect.YES, Effect.OPEN),
            (graded(Grade.PROVEN, nan=GONE, wrong=("skip", "good")), Effect.YES, Effect.YES),
        ],
    )
    def test_each_row_of_the_table(self, found, cured, right):
        assert workarounds.effects(found) == (cured, right)

    @given(
        st.sampled_from(Grade),
        st.dictionaries(
            st.sampled_from(["nan", "wrong", "exception"]),
            st.tuples(*[st.sampled_from(["good", "bad", "skip"])] * 2),
        ),
    )
    def test_only_what_is_cured_is_right(self, grade, by_symptom):
        """Nothing is called right unless it was proven, and nothing cured that still shows."""
        cured, right = workarounds.effects(Graded(version="1", grade=grade, reason="", by_symptom=by_symptom))
        if right is Effect.YES:
            assert (cured, grade) == (Effect.YES, Grade.PROVEN)
        if cured is Effect.YES:
            assert STILL not in by_symptom.values()


class TestAttempt:
    def test_on_several_replicas_each_trial_has_its_own_settings_as_reference(self):
        made = workarounds.attempt(CASE, EPSILON, 2)
        assert made.without == Variant(replicas=2, strategy="mirrored", options=FAULT)
        assert made.patched == Variant(replicas=2, strategy="mirrored", options=BOTH)
        assert (made.reference, made.patched_reference) == (Variant(options=FAULT), Variant(options=BOTH))
        assert made.variants == (made.reference, made.patched_reference, made.without, made.patched)

    def test_on_one_replica_the_reference_has_no_fault(self):
        made = workarounds.attempt(CASE, EPSILON, 1)
        assert (made.without, made.patched) == (Variant(options=FAULT), Variant(options=BOTH))
        sound = Variant(options=(("fault", "none"), ("remedy", "none")))
        assert (made.reference, made.patched_reference) == (sound, sound)
        assert made.variants == (sound, made.without, made.patched)

    def test_what_cannot_be_off_stays_as_the_fault_sets_it(self):
        remedy = Workaround(name="r", title="t", against={"fault": "silent_log", "policy": "float32"})
        sound = workarounds.attempt(CASE, remedy, 1).reference
        assert sound is not None
        assert sound.options == (("fault", "none"), ("policy", "float32"), ("remedy", "none"))

    def test_a_switch_of_the_remedy_alone_is_no_fault_that_could_be_off(self):
        """Without the remedy's own switch nothing is left to be off, so there is no reference."""
        only = case(parameters={"remedy": ("none", "log_epsilon"), "policy": ("mixed_float16",)})
        remedy = Workaround(name="r", title="t", options={"remedy": "log_epsilon"})
        assert workarounds.attempt(only, remedy, 1).reference is None
        assert workarounds.sound(only, ()) == Variant(options=(("remedy", "none"),))

    def test_a_reference_with_a_setting_that_the_case_does_not_have_names_the_case(self):
        with pytest.raises(UsageError, match="has no value 'silent'") as raised:
            workarounds.sound(CASE, (("fault", "none"), ("policy", "silent")))
        assert raised.value.where == "repro_cases/identity.py"

    def test_the_settings_of_the_remedy_win_over_those_of_the_fault(self):
        remedy = Workaround(
            name="r", title="t", options={"fault": "none"}, against={"fault": "silent_log", "policy": "float32"}
        )
        made = workarounds.attempt(CASE, remedy, 1)
        assert made.without == Variant(options=(("fault", "silent_log"), ("policy", "float32")))
        assert made.patched == Variant(options=(("fault", "none"), ("policy", "float32")))

    def test_a_fault_that_the_case_does_not_have_is_told(self):
        wrong = Workaround(name="half", title="t", against={"fault": "silent"})
        with pytest.raises(UsageError, match="has no value 'silent'") as raised:
            workarounds.attempt(CASE, wrong, 1)
        assert raised.value.where == "repro_cases/identity.py, workarounds.half"

    def test_a_fault_that_cannot_be_off_leaves_no_reference(self):
        always = case(parameters={"fault": ("silent_log",), "remedy": ("none", "log_epsilon")})
        assert workarounds.attempt(always, EPSILON, 1).reference is None

    def test_a_script_speaks_for_itself(self):
        made = workarounds.attempt(case(level=Level.SCRIPT, parameters=SWITCHES), EPSILON, 2)
        assert made == workarounds.PlannedTrials(
            without=Variant(replicas=2, strategy="mirrored", options=FAULT),
            patched=Variant(replicas=2, strategy="mirrored", options=BOTH),
        )
        assert made.variants == (made.without, made.patched)

    def test_a_setting_that_the_case_does_not_have_is_told(self):
        wrong = Workaround(name="half", title="t", options={"remedy": "log_epsilom"})
        with pytest.raises(UsageError, match="has no value 'log_epsilom'") as raised:
            workarounds.attempt(CASE, wrong, 1)
        assert raised.value.where == "repro_cases/identity.py, workarounds.half"


def test_a_remedy_is_summed_up_in_one_sentence():
    cells = tuple(
        Measured(version="1.0", replicas=1, cured=cured, right=right, graded=graded(Grade.MASKS))
        for cured, right in [
            (Effect.YES, Effect.YES),
            (Effect.YES, Effect.NO),
            (Effect.YES, Effect.OPEN),
            (Effect.NO, Effect.NO),
            (Effect.MOOT, Effect.MOOT),
        ]
    )
    rows = [
        WorkaroundRow(remedy=EPSILON, cells=cells),
        WorkaroundRow(remedy=EPSILON, cells=cells[4:]),
        WorkaroundRow(remedy=EPSILON, cells=cells[:1]),
        WorkaroundRow(remedy=EPSILON, cells=cells[2:4]),
    ]
    assert workarounds.sentences(rows) == [
        "log_epsilon: cures 3 of 4, right in 1, leaves wrong values in 1, whether it is right cannot be told in 1.",
        "log_epsilon: the fault shows nowhere.",
        "log_epsilon: cures 1 of 1, right in 1.",
        "log_epsilon: cures 1 of 2, right in 0, whether it is right cannot be told in 1.",
    ]
