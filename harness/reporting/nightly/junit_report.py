"""``junit.xml`` of a night: a change is a failure, a fault an error, doubt is skipped with its reason."""

from __future__ import annotations

import junitparser

from harness.domain.nightly.alerts import JudgedNight
from harness.domain.nightly.nights import Status
from harness.reporting.nightly.night_report import NightlyRow, rows
from harness.reporting.text import clean


def render(night: JudgedNight) -> str:
    """Return the night as JUnit XML, one test case per case and word."""
    record = night.record
    suite = junitparser.TestSuite(f"{record.package} {record.nightly or record.night}")
    if record.fault:
        fault = junitparser.TestCase("the night itself", classname="nightly")
        fault.result = [junitparser.Error(clean(record.fault, 2000), Status.INFRASTRUCTURE.value)]
        suite.add_testcase(fault)
    for row in rows(night):
        suite.add_testcase(_testcase(row))
    document = junitparser.JUnitXml("harness nightly")
    document.add_testsuite(suite)
    document.update_statistics()
    text: str = document.tostring().decode()
    return text + "\n"


def _testcase(row: NightlyRow) -> junitparser.TestCase:
    name = f"{row.case} ({', '.join(row.symptoms)})" if row.symptoms else row.case
    case = junitparser.TestCase(name, classname=row.case)
    told = clean(row.reason, 2000) or row.word.value
    match row.word:
        case Status.NEW | Status.REGRESSED | Status.STILL_BAD | Status.FIXED:
            case.result = [junitparser.Failure(told, row.word.value)]
        case Status.INFRASTRUCTURE:
            case.result = [junitparser.Error(told, row.word.value)]
        case Status.FLAKY | Status.SUSPICIOUS | Status.INSUFFICIENT:
            case.result = [junitparser.Skipped(f"{row.word.value}: {told}")]
        case Status.AS_EXPECTED:
            pass
    return case
