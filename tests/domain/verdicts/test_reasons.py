"""A reason is data first and a sentence last: every kind has its sentence, and nobody reads one again."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import codec
from harness.domain.cases.symptoms import Symptom
from harness.domain.nightly.nights import CaseResult, NightRecord
from harness.domain.trials.observation import NonFinite, Stage
from harness.domain.verdicts.reasons import NO_REASON, NOT_RUN, Number, Reason, ReasonKind, recorded, text
from harness.domain.verdicts.verdict import Outcome, Verdict, bad
from tests.nights import record

RAISED = Reason(kind=ReasonKind.EXCEPTION, name="ValueError", detail="bad shape", stage=Stage.TRAIN)
DIFFERS = Reason(
    kind=ReasonKind.METRIC_DIFFERS,
    numbers=tuple(Number(name=f"m{n}", value=None if n else 0.5, reference=1 / 3) for n in range(5)),
    tolerance=1e-3,
)
NUMBERED = st.builds(
    Reason,
    kind=st.sampled_from(ReasonKind),
    detail=st.text(),
    name=st.text(),
    stage=st.none() | st.sampled_from(Stage),
    seconds=st.floats(),
    exit_code=st.none() | st.integers(),
    hidden_by=st.none() | st.sampled_from(Symptom),
    cause=st.none() | st.just(RAISED),
    numbers=st.lists(st.builds(Number, name=st.text(), value=st.none() | st.floats())).map(tuple),
    first=st.none() | st.just(NonFinite(name="loss", step=7, value=float("inf"))),
    counts=st.tuples(st.integers(), st.integers()),
)


@pytest.mark.parametrize(
    ("reason", "sentence"),
    [
        (NO_REASON, ""),
        (NOT_RUN, "not run"),
        (RAISED, "ValueError: bad shape (while: train)"),
        (replace(RAISED, stage=None, detail=""), "ValueError: no message"),
        (Reason(kind=ReasonKind.EXIT_CODE, exit_code=3, detail="boom"), "exit code 3: boom"),
        (Reason(kind=ReasonKind.EXITED, exit_code=3), "left with exit code 3"),
        (
            Reason(kind=ReasonKind.HIDDEN, hidden_by=Symptom.EXCEPTION, cause=RAISED),
            "hidden by exception: ValueError: bad shape (while: train)",
        ),
        (Reason(kind=ReasonKind.NOT_STARTED, cause=RAISED), f"failed before the case could start: {RAISED}"),
        (
            DIFFERS,
            (
                "m0 is 0.5, reference 0.333333, m1 is missing, reference 0.333333, m2 is missing, reference 0.333333 "
                "(tolerance 0.001)"
            ),
        ),
        (
            replace(DIFFERS, kind=ReasonKind.WEIGHTS_DIFFER, counts=(3, 4)),
            (
                "m0 is 0.5, reference 0.333333 and 4 more (tolerance 0.001); "
                "trained 3 of the 4 steps of the reference on one replica"
            ),
        ),
        (
            Reason(kind=ReasonKind.REFERENCE_NOT_FINITE, name="mae"),
            "the reference on one replica has no finite mae to compare with",
        ),
    ],
)
def test_each_has_its_sentence(reason: Reason, sentence: str) -> None:
    assert text(reason) == str(reason) == sentence


class TestAnyReason:
    @given(NUMBERED)
    def test_it_has_a_sentence_whatever_its_fields_are(self, reason: Reason) -> None:
        """No kind is without a writer, and no writer is without a field that it needs."""
        assert isinstance(text(reason), str)

    @given(NUMBERED)
    def test_a_reader_is_told_something(self, reason: Reason) -> None:
        """Only what is good, and what repeats a text from outside, may have nothing to say."""
        repeats = {ReasonKind.NONE, ReasonKind.RECORDED, ReasonKind.EXCLUDED, ReasonKind.UNTESTABLE}
        assert text(reason) or reason.kind in repeats

    @given(NUMBERED)
    def test_in_json_it_is_its_sentence_and_that_is_read_back(self, reason: Reason) -> None:
        """What is written once reads the same for ever."""
        written = codec.to_json(Verdict, bad(reason, "s"))
        assert written == {"outcome": "bad", "reason": text(reason), "signature": "s"}
        assert text(codec.loads(Verdict, codec.dumps(Verdict, bad(reason, "s"))).reason) == text(reason)


def test_a_night_of_the_first_version_is_read():
    """Nights were written with the sentence; the same line is read, and written again as it was."""
    seen = Verdict(outcome=Outcome.BAD, reason=recorded("loss is nan"), signature="nonfinite-metric | loss")
    before = '{"verdicts": {"nonfinite-metric": {"outcome": "bad", "reason": "loss is nan", "signature": "x"}}}'
    read = codec.loads(CaseResult, before)
    assert read.verdicts == {Symptom.NONFINITE_METRIC: replace(seen, signature="x")}
    night = record(0, CaseResult(verdicts={Symptom.NONFINITE_METRIC: seen}))
    assert codec.loads(NightRecord, codec.dumps(NightRecord, night)) == night


def test_a_good_verdict_needs_none():
    assert recorded("") == NO_REASON
    assert codec.to_json(Verdict, Verdict(outcome=Outcome.GOOD)) == {"outcome": "good", "reason": "", "signature": ""}
