"""A refusal ends a trial without a word about the release."""

from __future__ import annotations

from harness.domain.trials.observation import EndingKind
from harness.probe.refusals import Refused


def test_its_text_is_the_reason():
    assert str(Refused("no TPU answers")) == "no TPU answers"


def test_a_refusal_anywhere_in_a_trial_skips_it(probe):
    """The probe knows its own exception by its class, wherever it is raised."""
    (seen,) = probe("raise sys.modules['harness_probe.refusals'].Refused('not on this machine')")
    assert (seen.ending.kind, seen.ending.message) == (EndingKind.REFUSED, "not on this machine")
    assert seen.ending.exception is None


def test_one_of_the_same_name_does_not(probe):
    (seen,) = probe("class Refused(Exception): pass\nraise Refused('no')")
    assert seen.ending.kind is EndingKind.RAISED
