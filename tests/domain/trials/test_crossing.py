"""A release beside the companions of another has a name of its own."""

from __future__ import annotations

from harness.domain.trials.crossing import Crossing


def test_the_label_says_whose_companions_and_is_no_version():
    assert Crossing(release="1.0", companions_of="1.1").label == "1.0 with the companions of 1.1"
    assert Crossing(release="1.0", companions_of="1.1", package="np").label == "1.0 with np of 1.1"
