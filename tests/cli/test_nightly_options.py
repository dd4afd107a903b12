"""The options of a night: what makes a replay; each option reaches its field in test_options."""

from __future__ import annotations

import pytest

from harness.cli import nightly_options
from harness.domain.errors import UsageError


def test_a_replay_has_its_days():
    made = nightly_options.request(simulate=True, since="2024-11-01", until="2024-11-30", jobs=2)
    assert (made.simulated, made.since, made.until, made.jobs) == (True, "2024-11-01", "2024-11-30", 2)


def test_tonight_has_none():
    made = nightly_options.request(simulate=False, since=None, until=None)
    assert (made.simulated, made.since, made.until) == (False, "", "")


@pytest.mark.parametrize(
    ("simulate", "since", "until"),
    [(True, None, None), (True, "2024-11-01", None), (True, None, "2024-11-30"), (False, "2024-11-01", "2024-11-30")],
)
def test_days_and_the_wish_for_a_replay_go_together(simulate, since, until):
    with pytest.raises(UsageError, match="needs its nights") as refused:
        nightly_options.request(simulate=simulate, since=since, until=until)
    assert refused.value.hint == "give all three"
