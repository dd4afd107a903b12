"""The text of an alert: it always fits, it can always be found again, and nothing in it is markup of somebody else."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from harness.domain.nightly.alerts import Alert, nightly_history
from harness.domain.verdicts.verdict import Outcome
from harness.reporting.nightly.alert_report import body, comment, document, key_comment, texts
from tests.examples import HOSTILE
from tests.golden.test_reports import golden
from tests.nights import BAD, bad, fixed, good, look, record


def alert(nights: int, reason: str = "loss is nan") -> Alert:
    shown = look(Outcome.BAD, reason)
    return nightly_history(
        [good(0), record(1, shown, shown, shown), *(record(2 + n, shown) for n in range(nights))]
    ).alerts[0]


def test_it_begins_with_its_hidden_key_and_says_the_rest_in_order() -> None:
    one = nightly_history([good(0), bad(1), record(2, BAD), fixed(3)]).alerts[0]
    lines = body(one).splitlines()
    assert lines[0] == key_comment(one) == f"<!-- harness-alarm: {one.key} -->"
    assert "gone from" in lines[1]
    assert "State: open; good nights in a row: 1. Last seen 2024-11-03" in body(one)
    assert document(one).startswith("# \\[nightly\\] identity: nonfinite-metric on keras-nightly")


@pytest.mark.parametrize(
    ("nights", "limit", "form"),
    [
        (3, 60_000, "4 nights</summary>"),
        (300, 8_000, "equal ones folded"),
        (300, 600, "Nights: 1 new, 300 still bad."),
    ],
)
def test_the_evidence_gives_way_in_stages(nights: int, limit: int, form: str) -> None:
    text = body(alert(nights), limit)
    assert form in text
    assert len(text) < limit


def test_many_changing_nights_are_cut() -> None:
    history = [good(0), bad(1)]
    for day in range(2, 400, 2):
        history += [fixed(day), bad(day + 1)]
    one = nightly_history(history).alerts[0]
    text = body(one, 12_000)
    assert "rows left out" in text
    assert len(text) < 12_000


@given(st.integers(0, 200), st.text(max_size=400), st.integers(2_000, 60_000))
def test_it_fits_whatever_was_said(nights: int, reason: str, limit: int) -> None:
    text = body(alert(nights, reason or "x"), limit)
    assert len(text) < limit
    assert key_comment(alert(nights)) in text


def test_a_hostile_reason_is_only_text() -> None:
    one = alert(1, HOSTILE)
    for text in (body(one), comment(one, one.changes[0])):
        rest = "\n".join(line for line in text.splitlines() if not line.startswith("<!-- harness-"))
        assert not re.search(r"(?<!\\)<(?!/?(details|summary)>)", rest)
        assert "\x1b" not in text
        assert "@maintainer" not in text


def test_the_whole_document(snapshot: SnapshotAssertion) -> None:
    one = nightly_history([good(0), bad(1), record(2, BAD), fixed(3)]).alerts[0]
    assert document(one) == golden(snapshot, "md")
    assert texts(one) == {"alert.md": document(one)}
