"""The frame of every JUnit report."""

from __future__ import annotations

from xml.etree import ElementTree

import junitparser

from harness.reporting import junit
from tests.examples import HOSTILE


def test_counts_names_and_seconds():
    cases = [
        junit.junit_case("keras 3.5.0", "identity", None, seconds=1.5),
        junit.junit_case("keras 3.6.0", "identity", junitparser.Failure("loss is nan", "nonfinite-metric")),
        junit.junit_case("keras 3.7.0", "identity", junitparser.Error("no disk")),
        junit.junit_case("keras 3.8.0", "identity", junitparser.Skipped("not run")),
    ]
    root = ElementTree.fromstring(junit.document("harness bisect", "identity on keras", cases))
    assert (root.tag, root.attrib["name"]) == ("testsuites", "harness bisect")
    assert [root.attrib[n] for n in ("tests", "failures", "errors", "skipped")] == ["4", "1", "1", "1"]
    found = list(root.iter("testcase"))
    assert [[child.tag for child in case] for case in found] == [[], ["failure"], ["error"], ["skipped"]]
    assert float(found[0].attrib["time"]) == 1.5
    assert "time" not in found[1].attrib


def test_names_from_outside_leave_it_well_formed():
    text = junit.document("t", HOSTILE, [junit.junit_case(HOSTILE, HOSTILE, None)])
    assert ElementTree.fromstring(text).find(".//testcase") is not None
    assert "\x1b" not in text
