"""The truth table of the words, row by row, and what it must never do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.nights import BELIEVED, CHANGES, UNDECIDED, Evidence, Word, decide, healthy
from harness.core.verdicts import Outcome

G, B, S = Outcome.GOOD, Outcome.BAD, Outcome.SKIP
THREE_BAD, THREE_GOOD = (B, B, B), (G, G, G)

TABLE = [
    ("a fault", Evidence(fault=True, runs=THREE_BAD), Word.INFRASTRUCTURE),
    ("no run", Evidence(), Word.INSUFFICIENT),
    ("nothing decided", Evidence(runs=(S, S)), Word.INSUFFICIENT),
    ("runs disagree", Evidence(runs=(B, G, B)), Word.FLAKY),
    ("a hidden run beside agreeing ones", Evidence(runs=(B, S, B, B), before=G), Word.NEW),
    ("a change beside a sick control", Evidence(runs=THREE_BAD, before=G, control_healthy=False), Word.SUSPICIOUS),
    ("a recovery beside a sick control", Evidence(runs=THREE_GOOD, before=B, control_healthy=False), Word.SUSPICIOUS),
    ("a change seen once", Evidence(runs=(B,), before=G), Word.SUSPICIOUS),
    ("a change of the same build", Evidence(runs=THREE_BAD, before=G, same_build=True), Word.SUSPICIOUS),
    ("bad and recorded", Evidence(runs=(B,), expected_bad=True, before=G), Word.AS_EXPECTED),
    ("bad again", Evidence(runs=(B,), before=B), Word.STILL_BAD),
    ("bad again beside a sick control", Evidence(runs=(B,), before=B, control_healthy=False), Word.STILL_BAD),
    ("bad, and the control is as well", Evidence(runs=(B,), before=B, ever_bad=False), Word.STILL_BAD),
    ("bad after good, bad once before", Evidence(runs=THREE_BAD, before=G, ever_bad=True), Word.REGRESSED),
    (
        "bad and no longer excused",
        Evidence(runs=THREE_BAD, before=B, before_expected=True, ever_bad=True),
        Word.REGRESSED,
    ),
    (
        "no longer excused on the same build: nothing contradicts",
        Evidence(runs=THREE_BAD, before=B, before_expected=True, ever_bad=True, same_build=True),
        Word.REGRESSED,
    ),
    ("bad after good", Evidence(runs=THREE_BAD, before=G), Word.NEW),
    ("bad and nothing known", Evidence(runs=THREE_BAD), Word.NEW),
    ("bad once where it is known to be bad", Evidence(runs=(B,), before=B, ever_bad=True), Word.STILL_BAD),
    ("one run more than asked for", Evidence(runs=(B, B, B, B), before=G), Word.NEW),
    ("one run less than asked for", Evidence(runs=(B, B), before=G), Word.SUSPICIOUS),
    ("bad again on the same build", Evidence(runs=THREE_BAD, before=B, same_build=True), Word.STILL_BAD),
    ("a recovery on the same build", Evidence(runs=THREE_GOOD, before=B, same_build=True), Word.SUSPICIOUS),
    (
        "good where bad is recorded, on the build that was good",
        Evidence(runs=THREE_GOOD, before=G, expected_bad=True, same_build=True),
        Word.FIXED,
    ),
    ("good where bad is recorded", Evidence(runs=THREE_GOOD, expected_bad=True, before=G), Word.FIXED),
    ("good after bad", Evidence(runs=THREE_GOOD, before=B), Word.FIXED),
    ("good after good", Evidence(runs=(G,), before=G), Word.AS_EXPECTED),
    ("good and nothing known", Evidence(runs=(G,)), Word.AS_EXPECTED),
]


@pytest.mark.parametrize(("evidence", "word"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_the_table(evidence: Evidence, word: Word) -> None:
    assert decide(evidence) is word


outcomes = st.sampled_from([G, B, S])
evidence = st.builds(
    Evidence,
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
def test_a_change_is_believed_only_with_enough_agreeing_runs_and_a_healthy_control(given: Evidence) -> None:
    if decide(given) in CHANGES:
        decided = [outcome for outcome in given.runs if outcome is not S]
        assert not given.fault
        assert given.control_healthy
        assert len(set(decided)) == 1
        assert len(decided) >= given.confirmations


@given(evidence)
def test_every_word_is_either_believed_or_leaves_everything_as_it_was(given: Evidence) -> None:
    word = decide(given)
    assert (word in BELIEVED) != (word in UNDECIDED | {Word.INSUFFICIENT})


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
