"""The truth table of claims."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.domain.cases.case import Claim
from harness.domain.cases.symptoms import Symptom
from harness.domain.fixes import claims
from harness.domain.fixes.claims import ClaimEvidence, ClaimResult
from harness.domain.trials.variant import Variant
from harness.domain.verdicts.reasons import recorded
from harness.domain.verdicts.verdict import Outcome, Verdict
from tests.examples import case

NAN, WRONG, RAISES = Symptom.NONFINITE_METRIC, Symptom.WRONG_METRIC, Symptom.EXCEPTION
GOOD = Verdict(outcome=Outcome.GOOD)
BAD = Verdict(outcome=Outcome.BAD, reason=recorded("loss is nan"), signature="s")
SKIP = Verdict(outcome=Outcome.SKIP, reason=recorded("hidden by exception: ValueError"))


def claim(predicts: str = "", **changes: object) -> Claim:
    return Claim(**{"says": "it is so", "predicts": predicts, **changes})  # type: ignore[arg-type]


class TestWeigh:
    @pytest.mark.parametrize(
        ("predicts", "verdicts", "answer", "reason"),
        [
            ("good", {NAN: BAD, RAISES: GOOD}, ClaimResult.REFUTED, "nonfinite-metric: loss is nan"),
            (
                "good",
                {NAN: BAD, RAISES: BAD},
                ClaimResult.REFUTED,
                "nonfinite-metric: loss is nan; exception: loss is nan",
            ),
            ("good", {NAN: GOOD, WRONG: GOOD}, ClaimResult.SUPPORTED, "no symptom shows"),
            (
                "good",
                {NAN: SKIP, RAISES: GOOD, WRONG: SKIP},
                ClaimResult.SUPPORTED,
                "no symptom shows; not looked at: nonfinite-metric, wrong-metric",
            ),
            ("good", {NAN: SKIP, WRONG: SKIP}, ClaimResult.NOT_TESTABLE, "hidden by exception: ValueError"),
            (
                "nonfinite-metric",
                {NAN: GOOD, WRONG: BAD, RAISES: BAD},
                ClaimResult.REFUTED,
                "nonfinite-metric does not show, but wrong-metric: loss is nan; exception: loss is nan",
            ),
            ("good", {NAN: GOOD, WRONG: SKIP}, ClaimResult.SUPPORTED, "no symptom shows; not looked at: wrong-metric"),
            ("good", {NAN: SKIP}, ClaimResult.NOT_TESTABLE, "hidden by exception: ValueError"),
            ("finite", {NAN: BAD, WRONG: GOOD}, ClaimResult.REFUTED, "nonfinite-metric: loss is nan"),
            ("finite", {NAN: GOOD, WRONG: BAD}, ClaimResult.SUPPORTED, "nothing raises and all is finite"),
            ("finite", {NAN: SKIP, WRONG: BAD}, ClaimResult.NOT_TESTABLE, "hidden by exception: ValueError"),
            ("finite", {WRONG: GOOD}, ClaimResult.NOT_TESTABLE, "nothing was looked for"),
            ("good", {}, ClaimResult.NOT_TESTABLE, "nothing was looked for"),
            ("nonfinite-metric", {NAN: BAD}, ClaimResult.SUPPORTED, "nonfinite-metric: loss is nan"),
            ("nonfinite-metric", {NAN: GOOD}, ClaimResult.REFUTED, "nonfinite-metric does not show"),
            (
                "nonfinite-metric",
                {NAN: GOOD, WRONG: BAD},
                ClaimResult.REFUTED,
                "nonfinite-metric does not show, but wrong-metric: loss is nan",
            ),
            ("nonfinite-metric", {NAN: SKIP}, ClaimResult.NOT_TESTABLE, "hidden by exception: ValueError"),
            ("wrong-weights", {NAN: GOOD}, ClaimResult.NOT_TESTABLE, "the case does not look for wrong-weights"),
        ],
    )
    def test_each_row_of_the_table(self, predicts, verdicts, answer, reason):
        assert claims.weigh(claim(predicts), verdicts) == (answer, reason)

    @given(
        st.sampled_from(["good", "finite", *(symptom.value for symptom in Symptom)]),
        st.dictionaries(st.sampled_from(Symptom), st.sampled_from([GOOD, BAD, SKIP])),
    )
    def test_every_answer_has_its_reason(self, predicts, verdicts):
        assert claims.weigh(claim(predicts), verdicts)[1]


class TestConclude:
    def evidence(self, *answers: ClaimResult) -> list[ClaimEvidence]:
        return [
            ClaimEvidence(version=f"1.{n}", trial="2 replicas", answer=answer, reason="why")
            for n, answer in enumerate(answers)
        ]

    @pytest.mark.parametrize(
        ("answers", "answer", "reason"),
        [
            ([ClaimResult.SUPPORTED, ClaimResult.REFUTED], ClaimResult.REFUTED, "1.1, 2 replicas: why"),
            ([ClaimResult.NOT_TESTABLE, ClaimResult.SUPPORTED], ClaimResult.SUPPORTED, "1.1, 2 replicas: why"),
            ([ClaimResult.NOT_TESTABLE], ClaimResult.NOT_TESTABLE, "1.0, 2 replicas: why"),
            ([], ClaimResult.NOT_TESTABLE, "not run"),
        ],
    )
    def test_one_refutation_refutes(self, answers, answer, reason):
        made = claims.conclude(claim("good"), self.evidence(*answers))
        given = tuple(self.evidence(*answers))
        assert made == claims.ClaimFinding(claim=claim("good"), answer=answer, reason=reason, evidence=given)

    def test_what_cannot_be_tested_says_why(self):
        asked = claim(untestable="there is no TPU here")
        assert claims.conclude(asked, self.evidence(ClaimResult.REFUTED)) == claims.ClaimFinding(
            claim=asked, answer=ClaimResult.NOT_TESTABLE, reason="there is no TPU here"
        )


@pytest.mark.parametrize(
    ("variant", "words"),
    [
        (Variant(), "1 replica"),
        (Variant(replicas=8, strategy="mirrored", options=(("fault", "on"),)), "8 replicas, fault=on"),
        (
            Variant(replicas=2, strategy="mirrored", options=(("fault", "on"), ("remedy", "clip"))),
            "2 replicas, fault=on, remedy=clip",
        ),
    ],
)
def test_a_trial_is_named_by_what_the_claim_speaks_of(variant, words):
    assert claims.words(variant) == words


@pytest.mark.parametrize(
    ("predicts", "looks"), [("good", False), ("finite", False), ("wrong-metric", True), ("wrong-weights", True)]
)
def test_only_claims_about_values_compare_values_on_one_replica(predicts, looks):
    assert claims.looks_at_values(claim(predicts)) is looks


def test_the_replicas_are_the_claim_s_or_the_case_s():
    assert claims.replicas_of(case(replicas=4), claim("good")) == 4
    assert claims.replicas_of(case(replicas=4), claim("good", replicas=1)) == 1
