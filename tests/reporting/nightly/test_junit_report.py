"""junit.xml of a night: a change fails, a fault is an error, doubt is skipped."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from harness.domain.nightly.alerts import nightly_history
from harness.domain.nightly.nights import NightRecord
from harness.domain.verdicts.verdict import Outcome
from harness.reporting.nightly import junit_report
from tests.examples import HOSTILE
from tests.golden.test_reports import golden
from tests.nights import BAD, GOOD, bad, broken, fixed, good, look, record


def junit(*nights: NightRecord) -> str:
    return junit_report.junit(nightly_history(nights).nights[-1])


@pytest.mark.parametrize(
    ("nights", "result"),
    [
        ([good(0)], ""),
        ([good(0), bad(1)], "failure"),
        ([good(0), bad(1), record(2, BAD)], "failure"),
        ([good(0), bad(1), fixed(2)], "failure"),
        ([broken(0)], "error"),
        ([record(0, look(None, blocked="the canary is red"))], "skipped"),
        ([good(0), record(1, BAD, GOOD, BAD)], "skipped"),
        ([replace(good(0), stale_days=9)], ""),
    ],
)
def test_each_status_has_its_result(nights: list[NightRecord], result: str) -> None:
    root = ElementTree.fromstring(junit(*nights))
    assert [child.tag for case in root.iter("testcase") for child in case] == ([result] if result else [])


@pytest.mark.parametrize("nights", [[good(0), bad(1)], [broken(0)]], ids=["new", "broken"])
def test_the_whole_document(nights: list[NightRecord], snapshot: SnapshotAssertion) -> None:
    assert junit(*nights) == golden(snapshot, "xml")


def test_hostile_names_and_reasons_leave_it_well_formed() -> None:
    """XML 1.0 cannot hold control characters at all; a case may come from a file of any name."""
    hostile = look(Outcome.BAD, HOSTILE)
    name = HOSTILE.encode("utf-8", "ignore").decode()  # half a surrogate pair is no file name that could be read
    root = ElementTree.fromstring(junit(record(0, hostile, hostile, hostile, case=name)))
    assert len(list(root.iter("testcase"))) == 1


ANY = st.text(st.characters())  # half a surrogate pair too: a file name need not be text


@given(ANY, ANY, ANY)
def test_any_name_and_any_reason_give_a_document_that_can_be_read(case: str, reason: str, version: str) -> None:
    night = record(1, look(Outcome.BAD, reason or "x"), case=case, version=version or "1.0")
    root = ElementTree.fromstring(junit(record(0, GOOD, case=case), replace(night, fault=reason)).encode())
    assert len(list(root.iter("testcase"))) >= 1
