"""What to do about a symptom, in sentences."""

from __future__ import annotations

import pytest

from harness.domain.cases.symptoms import Symptom
from harness.domain.fixes.advice import causes, sentence, workarounds
from harness.domain.fixes.grades import FixResult, Grade, Graded
from tests.domain.fixes.graded import BAD, NAN, SKIP, WEIGHTS, verdicts


class TestSentence:
    def test_stretches_and_advice(self):
        graded = [
            Graded(version=version, grade=found, reason="")
            for version, found in zip(
                ["3.6.0", "3.7.0", "3.8.0", "3.9.0", "3.9.1", "3.10.0"],
                [Grade.ABSENT, Grade.MASKS, Grade.PROVEN, Grade.PROVEN, Grade.MASKS, Grade.BREAKS],
                strict=True,
            )
        ]
        assert sentence("it", graded) == (
            "it cures 3.8.0 to 3.9.0; takes the symptom away but leaves wrong values on 3.7.0, 3.9.1; breaks 3.10.0; "
            "finds nothing to patch in 3.6.0: use it only where it cures."
        )

    @pytest.mark.parametrize(
        ("found", "told"),
        [
            (Grade.PROVEN, "it cures 1.0: use it only where it cures."),
            (Grade.MASKS, "it takes the symptom away but leaves wrong values on 1.0: use it nowhere."),
            (Grade.NO_EFFECT, "it does nothing for 1.0: use it nowhere."),
            (Grade.BREAKS, "it breaks 1.0: use it nowhere."),
            (Grade.ABSENT, "it finds nothing to patch in 1.0: use it nowhere."),
            (Grade.NOT_REPRODUCED, "it is not needed on 1.0: use it nowhere."),
            (Grade.INCONCLUSIVE, "it could not be judged on 1.0: use it nowhere."),
        ],
    )
    def test_each_grade_has_its_words(self, found, told):
        assert sentence("it", [Graded(version="1.0", grade=found, reason="")]) == told

    def test_where_it_cures_nowhere(self):
        told = sentence("it", [Graded(version="3.9.0", grade=Grade.NO_EFFECT, reason="")])
        assert told == "it does nothing for 3.9.0: use it nowhere."

    def test_without_any_release(self):
        assert sentence("it", []) == "it was not tried on any release."


class TestCauses:
    def test_the_keys_whose_change_makes_it_go_away(self):
        fixes = [
            swept("sum->NONE", ("bad", "good"), ("bad", "good")),
            swept("sum->MEAN", ("bad", "good"), ("bad", "bad")),
            swept("mean->NONE", ("bad", "bad"), ("bad", "skip")),
            swept("none->SUM", ("good", "good"), ("good", "good")),
        ]
        assert causes(fixes[:3]) == [
            "nonfinite-metric on 3.8.0 hangs on the key sum: gone with sum->NONE, sum->MEAN",
            "nonfinite-metric on 3.9.0 hangs on the key sum: gone with sum->NONE",
        ]
        assert causes(fixes[3:]) == []

    def test_several_keys_and_a_release_that_says_nothing(self):
        fixes = [
            swept("sum->NONE", ("bad", "good"), ("skip", "good")),
            swept("mean->NONE", ("bad", "good"), ("bad", "good")),
        ]
        assert causes(fixes) == [
            "nonfinite-metric on 3.8.0 hangs on the key sum, mean: gone with sum->NONE, mean->NONE",
        ]

    def test_a_change_on_a_release_that_could_not_be_tried_took_nothing_away(self):
        tried = FixResult(
            name="sum->NONE",
            sentence="",
            releases=(Graded(version="3.9.0", grade=Grade.MASKS, reason="", by_symptom={NAN.value: ("bad", "good")}),),
        )
        untried = FixResult(name="mean->NONE", sentence="", releases=(blocked(),))
        assert causes([tried, untried]) == [
            "nonfinite-metric on 3.9.0 hangs on the key sum: gone with sum->NONE",
        ]

    def test_nothing_was_tried(self):
        assert causes([]) == []
        assert causes([FixResult(name="sum->NONE", sentence="", releases=(blocked(),))]) == []


def swept(name, *outcomes):
    releases = [
        Graded(version=version, grade=Grade.MASKS, reason="", by_symptom={NAN.value: told})
        for version, told in zip(["3.8.0", "3.9.0"], outcomes, strict=True)
    ]
    return FixResult(name=name, sentence="", releases=tuple(releases))


def blocked():
    return Graded(version="3.9.0", grade=Grade.INCONCLUSIVE, reason="cannot be installed")


class TestWorkarounds:
    def test_releases_that_behave_alike_share_a_sentence(self):
        rows = [
            ("3.6.0", verdicts(wrong_weights=BAD)),
            ("3.7.0", verdicts(nonfinite_metric=BAD)),
            ("3.8.0", verdicts(nonfinite_metric=BAD)),
            ("3.10.0", verdicts()),
            ("3.11.0", dict.fromkeys(Symptom, SKIP)),
            ("3.12.0", {}),
        ]
        assert workarounds("keras", rows, [NAN]) == [
            f"pin keras 3.6.0: does not show {NAN.value}, but is not right: wrong-weights (wrong-weights: it shows)",
            "pin keras 3.7.0 to 3.8.0: no workaround, shows nonfinite-metric (it shows)",
            "pin keras 3.10.0: does not show nonfinite-metric and nothing else that the case looks for",
            "pin keras 3.11.0 to 3.12.0: could not be tested (cannot be told)",
        ]

    def test_what_could_not_be_compared_is_not_called_right(self):
        rows = [("3.9.0", verdicts(wrong_metric=SKIP)), ("3.10.0", verdicts(nonfinite_metric=SKIP))]
        assert workarounds("keras", rows, [NAN]) == [
            "pin keras 3.9.0: does not show nonfinite-metric; whether it is right could not be told (cannot be told)",
            "pin keras 3.10.0: could not be tested (cannot be told)",
        ]

    def test_all_that_shows_is_named_and_the_first_is_explained(self):
        rows = [
            ("1.0", verdicts(nonfinite_metric=BAD, wrong_weights=BAD)),
            ("2.0", verdicts(wrong_metric=BAD, wrong_weights=BAD)),
        ]
        assert workarounds("keras", rows, [NAN, WEIGHTS]) == [
            "pin keras 1.0: no workaround, shows nonfinite-metric, wrong-weights (it shows)",
            "pin keras 2.0: no workaround, shows wrong-weights (it shows)",
        ]
        assert workarounds("keras", rows[1:], [NAN, Symptom.TIMEOUT]) == [
            (
                "pin keras 2.0: does not show nonfinite-metric, timeout, but is not right: wrong-metric, wrong-weights "
                "(wrong-metric: it shows; wrong-weights: it shows)"
            )
        ]

    def test_equal_releases_that_are_not_neighbours_have_their_own_sentences(self):
        sick = verdicts(nonfinite_metric=BAD)
        rows = [("1.0", verdicts()), ("2.0", sick), *((version, verdicts()) for version in ("3.0", "3.5", "4.0"))]
        assert [told.split(":")[0] for told in workarounds("keras", rows, [NAN])] == [
            "pin keras 1.0",
            "pin keras 2.0",
            "pin keras 3.0 to 4.0",
        ]

    def test_without_targets_any_symptom_counts(self):
        told = workarounds("keras", [("3.9.0", verdicts(wrong_weights=BAD)), ("3.10.0", verdicts()), ("4.0", {})], [])
        assert told == [
            "pin keras 3.9.0: no workaround, shows wrong-weights (it shows)",
            "pin keras 3.10.0: does not show any symptom and nothing else that the case looks for",
            "pin keras 4.0: could not be tested (not tested)",
        ]
