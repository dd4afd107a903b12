"""What is asked for beside the package under test."""

from __future__ import annotations

import pytest

from harness.adapters.environments.companions import wanted
from harness.domain.errors import UsageError


def test_pins_lie_over_companions_and_the_package_under_test_is_none() -> None:
    made = wanted("toykeras", ["toynumpy<2", "toykeras"], ["ToyNumpy==1.0"], [])
    assert made.requirements == ("ToyNumpy==1.0",)
    with pytest.raises(UsageError, match="under test"):
        wanted("toykeras", [], ["toykeras==1"], [])


def test_the_stable_sibling_of_a_nightly_is_kept_out() -> None:
    assert wanted("keras-nightly", [], [], []).overrides == ('keras ; sys_platform == "never"',)
    assert wanted("keras", [], [], []).overrides == ()
