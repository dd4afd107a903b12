"""The truth table of the words, row by row, and what it must never do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.domain.nightly.nights import BELIEVED, CHANGES, UNDECIDED, Status, StatusEvidence, decide, healthy
from harness.domain.verdicts.verdict import Outcome

G, B, S = Outcome.GOOD, Outcome.BAD, Outcome.SKIP
THREE_BAD, THREE_GOOD = (B, B, B), (G, G, G)

TABLE = [
    ("a fault", StatusEvidence(fault=True, runs=THREE_BAD), Status.INFRASTRUCTURE),
    ("no run", StatusEvidence(), Status.INSUFFICIENT),
    ("nothing decided", StatusEvidence(runs=(S, S)), Status.INSUFFICIENT),
    ("runs disagree", StatusEvidence(runs=(B, G, B)), Status.FLAKY),
    ("a hidden run beside agreeing ones", StatusEvidence(runs=(B, S, B, B), before=G), Status.NEW),
    (
        "a change beside a sick control",
        StatusEvidence(runs=THREE_BAD, before=G, control_healthy=False),
        Status.SUSPICIOUS,
    ),
    (
        "a recovery beside a sick control",
        StatusEvidence(runs=THREE_GOOD, before=B, control_healthy=False),
        Status.SUSPICIOUS,
    ),
    ("a change seen once", StatusEvidence(runs=(B,), before=G), Status.SUSPICIOUS),
    ("a change of the same build", StatusEvidence(runs=THREE_BAD, before=G, same_build=True), Status.SUSPICIOUS),
    ("bad and recorded", StatusEvidence(runs=(B,), expected_bad=True, before=G), Status.AS_EXPECTED),
    ("bad again", StatusEvidence(runs=(B,), before=B), Status.STILL_BAD),
    ("bad again beside a sick control", StatusEvidence(runs=(B,), before=B, control_healthy=False), Status.STILL_BAD),
    ("bad, and the control is as well", StatusEvidence(runs=(B,), before=B, ever_bad=False), Status.STILL_BAD),
    ("bad after good, bad once before", StatusEvidence(runs=THREE_BAD, before=G, ever_bad=True), Status.REGRESSED),
    (
        "bad and no longer excused",
        StatusEvidence(runs=THREE_BAD, before=B, before_expected=True, ever_bad=True),
        Status.REGRESSED,
    ),
    (
        "no longer excused on the same build: nothing contradicts",
        StatusEvidence(runs=THREE_BAD, before=B, before_expected=True, ever_bad=True, same_build=True),
        Status.REGRESSED,
    ),
    ("bad after good", StatusEvidence(runs=THREE_BAD, before=G), Status.NEW),
    ("bad and nothing known", StatusEvidence(runs=THREE_BAD), Status.NEW),
    ("bad once where it is known to be bad", StatusEvidence(runs=(B,), before=B, ever_bad=True), Status.STILL_BAD),
    ("one run more than asked for", StatusEvidence(runs=(B, B, B, B), before=G), Status.NEW),
    ("one run less than asked for", StatusEvidence(runs=(B, B), before=G), Status.SUSPICIOUS),
    ("bad again on the same build", StatusEvidence(runs=THREE_BAD, before=B, same_build=True), Status.STILL_BAD),
    ("a recovery on the same build", StatusEvidence(runs=THREE_GOOD, before=B, same_build=True), Status.SUSPICIOUS),
    (
        "good where bad is recorded, on the build that was good",
        StatusEvidence(runs=THREE_GOOD, before=G, expected_bad=True, same_build=True),
        Status.FIXED,
    ),
    ("good where bad is recorded", StatusEvidence(runs=THREE_GOOD, expected_bad=True, before=G), Status.FIXED),
    ("good after bad", StatusEvidence(runs=THREE_GOOD, before=B), Status.FIXED),
    ("good after good", StatusEvidence(runs=(G,), before=G), Status.AS_EXPECTED),
    ("good and nothing known", StatusEvidence(runs=(G,)), Status.AS_EXPECTED),
]


@pytest.mark.parametrize(("evidence", "status"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_the_table(evidence: StatusEvidence, status: Status) -> None:
    assert decide(evidence) is status


outcomes = st.sampled_from([G, B, S])
evidence = st.builds(
    StatusEvidence,
    fault=st.booleans(),
    runs=st.lists(outcomes, max_size=5).map(tuple),
    expected_bad=st.booleans(),
    before=st.sampled_from([None, G, B]),
    before_expected=st.booleans(),
    ever_bad=st.booleans(),
    control_healthy=st.booleans(),
    same_build=st.booleans(),
    confirmations=st.integers(1, 4),
)


@given(evidence)
def test_a_change_is_believed_only_with_enough_agreeing_runs_and_a_healthy_control(given: StatusEvidence) -> None:
    if decide(given) in CHANGES:
        decided = [outcome for outcome in given.runs if outcome is not S]
        assert not given.fault
        assert given.control_healthy
        assert len(set(decided)) == 1
        assert len(decided) >= given.confirmations


@given(evidence)
def test_every_word_is_either_believed_or_leaves_everything_as_it_was(given: StatusEvidence) -> None:
    status = decide(given)
    assert (status in BELIEVED) != (status in UNDECIDED | {Status.INSUFFICIENT})


@pytest.mark.parametrize(
    ("control", "known", "expected_bad", "vouches"),
    [
        ((), None, False, False),
        ((G,), None, False, True),
        ((B,), None, False, False),
        ((B,), None, True, True),
        ((B,), B, False, True),
        ((G,), B, False, False),
        ((B,), G, True, False),
        ((S,), S, False, True),
        ((S,), G, False, False),
        ((G, B), G, False, False),
    ],
)
def test_the_control_vouches_when_it_says_what_it_said(
    control: tuple[Outcome, ...], known: Outcome | None, expected_bad: bool, vouches: bool
) -> None:
    assert healthy(control, known, expected_bad=expected_bad) is vouches
