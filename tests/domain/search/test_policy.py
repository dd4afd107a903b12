"""How hard a search is stands in its journal, and a resumed search is as hard as it was."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness import codec
from harness.domain.findings.transitions import CONFIDENCE
from harness.domain.search.policy import Policy


@given(st.from_type(Policy))
def test_it_comes_back_as_it_was(policy: Policy) -> None:
    """No limit (None) and no gap (0) are two answers, and neither becomes the other."""
    assert repr(codec.loads(Policy, codec.dumps(Policy, policy))) == repr(policy)


def test_a_journal_that_says_nothing_means_the_defaults():
    assert codec.loads(Policy, "{}") == Policy()
    assert Policy().confidence == CONFIDENCE
