"""``junit.xml`` of a night: a change is a failure, a fault an error, doubt is skipped with its reason."""

from __future__ import annotations

from collections.abc import Iterator

import junitparser

from harness.domain.nightly.alerts import JudgedNight
from harness.domain.nightly.nights import Status
from harness.reporting.junit import LIMIT, Result, document, junit_case
from harness.reporting.nightly.night_report import NightlyRow, rows
from harness.reporting.text import clean


def junit(night: JudgedNight) -> str:
    """Return the night as JUnit XML, one test case per case and status."""
    record = night.record
    return document("harness nightly", f"{record.package} {record.nightly or record.night}", _cases(night))


def _cases(night: JudgedNight) -> Iterator[junitparser.TestCase]:
    if night.record.fault:
        fault = junitparser.Error(clean(night.record.fault, LIMIT), Status.INFRASTRUCTURE.value)
        yield junit_case("the night itself", "nightly", fault)
    for row in rows(night):
        name = f"{row.case} ({', '.join(row.symptoms)})" if row.symptoms else row.case
        yield junit_case(name, row.case, _result(row))


def _result(row: NightlyRow) -> Result | None:
    reason = clean(row.reason, LIMIT) or row.status.value
    match row.status:
        case Status.NEW | Status.REGRESSED | Status.STILL_BAD | Status.FIXED:
            return junitparser.Failure(reason, row.status.value)
        case Status.INFRASTRUCTURE:
            return junitparser.Error(reason, row.status.value)
        case Status.FLAKY | Status.SUSPICIOUS | Status.INSUFFICIENT:
            return junitparser.Skipped(f"{row.status.value}: {reason}")
        case Status.AS_EXPECTED:
            return None
