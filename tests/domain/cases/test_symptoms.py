"""The order of the symptoms."""

from __future__ import annotations

from harness.domain.cases.symptoms import Symptom


def test_symptoms_stand_in_the_order_in_which_they_hide_each_other():
    assert [symptom.value for symptom in Symptom] == [
        "exception",
        "killed",
        "timeout",
        "import-error",
        "nonfinite-metric",
        "nonfinite-weights",
        "wrong-metric",
        "wrong-weights",
        "changed-value",
        "warning",
    ]
