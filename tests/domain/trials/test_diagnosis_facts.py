"""What a diagnosis saw is written by another process, perhaps of an older version."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from harness import codec
from harness.domain.trials.diagnosis_facts import DiagnosisFacts
from tests.adapters import samples  # noqa: F401 - it registers how mappings are drawn


@settings(max_examples=40)
@given(st.from_type(DiagnosisFacts))
def test_they_come_back_as_they_were(facts: DiagnosisFacts) -> None:
    assert repr(codec.loads(DiagnosisFacts, codec.dumps(DiagnosisFacts, facts))) == repr(facts)


def test_a_training_of_which_nothing_is_said_was_sound():
    facts = codec.loads(DiagnosisFacts, "{}")
    assert (facts.step, facts.bad, facts.shares, facts.weights_finite) == (None, (), (), True)
