"""junit.xml: what a CI shows."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.reporting.bisection import junit_report
from tests.reporting import examples


def cases(finding) -> dict[str, ElementTree.Element]:
    root = ElementTree.fromstring(junit_report.junit(finding))
    return {case.attrib["name"]: case for case in root.iter("testcase")}


@pytest.mark.parametrize("finding", [examples.everyday, examples.hostile])
def test_it_is_well_formed_whatever_the_texts_hold(finding):
    """XML 1.0 cannot hold control characters at all, escaped or not."""
    root = ElementTree.fromstring(junit_report.junit(finding()))
    assert root.tag == "testsuites"
    assert len(list(root.iter("testcase"))) == len(finding().releases)


def test_bad_is_a_failure_with_its_symptom_and_skip_a_skip_with_its_reason():
    found = cases(examples.everyday())
    results = {
        name.removeprefix("keras "): [(child.tag, child.attrib.get("message", "")[:40]) for child in case]
        for name, case in found.items()
    }
    assert results == {
        "3.5.0": [],
        "3.6.0": [],
        "3.7.0": [("failure", "exception: ValueError: aggregation MEAN ")],
        "3.8.0": [("failure", "nonfinite-metric: loss is nan, mae is na")],
        "3.9.0": [("skipped", "not run")],
        "3.9.1": [("skipped", "cannot be installed: no wheel for 3.11")],
        "3.9.2": [("failure", "nonfinite-metric: loss is nan, mae is na")],
        "3.10.0": [],
    }
    assert found["keras 3.7.0"][0].attrib["type"] == "exception"


def test_the_counts_are_those_of_the_releases():
    root = ElementTree.fromstring(junit_report.junit(examples.everyday()))
    assert {n: root.attrib[n] for n in ("tests", "failures", "errors", "skipped")} == {
        "tests": "8",
        "failures": "3",
        "errors": "0",
        "skipped": "2",
    }


ANY = st.text(st.characters())  # half a surrogate pair too: a file name need not be text


@given(ANY, ANY, ANY)
def test_any_name_and_any_reason_give_a_document_that_can_be_read(case, reason, version):
    known = examples.everyday()
    releases = [replace(one, version=version or "1", reason=reason) for one in known.releases]
    made = replace(known, question=replace(known.question, case=case, package=case), releases=tuple(releases))
    root = ElementTree.fromstring(junit_report.junit(made).encode())
    assert len(list(root.iter("testcase"))) == len(releases)
