"""A diagnosis on the terminal."""

from __future__ import annotations

import pytest

from harness.domain.diagnosis.diagnosis import Boundary, Diagnosis
from harness.reporting.trials.diagnosis_report import terminal
from tests.examples import HOSTILE, case
from tests.fakes import TWO
from tests.reporting.examples import printed

FOUND = Diagnosis(
    boundary=Boundary.COMPUTE,
    sentence="step 1, replica 1: loss is nan, in RealDiv",
    evidence=("data: finite", "loss: nan"),
    next_change="add an epsilon to the denominator",
)


def test_boundary_sentence_advice_and_evidence_stand_in_this_order():
    assert printed(terminal(case(), "3.9.0", TWO, FOUND)).splitlines() == [
        f"identity on keras 3.9.0, {TWO.label}",
        "boundary: compute",
        "step 1, replica 1: loss is nan, in RealDiv",
        "Try next: add an epsilon to the denominator",
        "What was looked at:",
        "  - data: finite",
        "  - loss: nan",
        "Disturbance by watching: none, the watched and the unwatched trial give the same numbers",
    ]


@pytest.mark.parametrize("boundary", Boundary)
def test_every_boundary_can_be_shown(boundary):
    found = Diagnosis(boundary=boundary, sentence="s", evidence=(), next_change="n", disturbance="loss differs")
    text = printed(terminal(case(), "3.9.0", TWO, found))
    assert f"boundary: {boundary.value}\n" in text
    assert "Disturbance by watching: loss differs\n" in text


def test_text_of_a_trial_is_text():
    found = Diagnosis(
        boundary=Boundary.DATA, sentence=HOSTILE, evidence=(HOSTILE,), next_change="n", disturbance=HOSTILE
    )
    text = printed(terminal(case(), "3.9.0", TWO, found))
    assert not [c for c in text if c != "\n" and (ord(c) < 32 or 0x7F <= ord(c) < 0xA0)]
