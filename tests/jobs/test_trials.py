"""What `run` and `repro` share."""

from __future__ import annotations

import pytest
from harness.jobs.single import variant_of

from harness.domain.trials.variant import Variant
from tests.examples import case


@pytest.mark.parametrize(
    ("about", "variant"),
    [
        (case(), Variant(replicas=2, strategy="mirrored")),
        (case(replicas=4, strategy="tpu"), Variant(replicas=4, strategy="tpu")),
        (case(replicas=1), Variant()),
    ],
)
def test_the_trial_that_is_judged_is_the_case_s_own(about, variant):
    assert variant_of(about) == variant


def test_switches_belong_to_the_trial():
    assert variant_of(case(), [("fault", "on")]).options == (("fault", "on"),)
