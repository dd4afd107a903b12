"""JUnit XML as CI services read it: the frame that all JUnit reports share."""

from __future__ import annotations

from collections.abc import Iterable

import junitparser

from harness.reporting.text import clean

LIMIT = 2000  # characters of a message
Result = junitparser.Failure | junitparser.Error | junitparser.Skipped


def document(title: str, suite: str, cases: Iterable[junitparser.TestCase]) -> str:
    """Return a document of one suite with its counts."""
    made = junitparser.TestSuite(clean(suite))
    made.add_testcases(list(cases))
    whole = junitparser.JUnitXml(title)
    whole.add_testsuite(made)
    whole.update_statistics()
    text: str = whole.tostring().decode()
    return text + "\n"


def junit_case(name: str, classname: str, result: Result | None, seconds: float | None = None) -> junitparser.TestCase:
    """Return one test case; without a result it has passed."""
    made = junitparser.TestCase(clean(name), classname=clean(classname), time=seconds)
    if result is not None:
        made.result = [result]
    return made
