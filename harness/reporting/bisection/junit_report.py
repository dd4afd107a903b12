"""``junit.xml`` for CI: bad is a failure, not testable is skipped with its reason, not run is skipped too."""

from __future__ import annotations

import junitparser

from harness.domain.findings.finding import Finding, ReleaseResult
from harness.domain.verdicts.verdict import Outcome
from harness.reporting.text import clean


def render(finding: Finding) -> str:
    """Return the report as JUnit XML, one test case per release."""
    suite = junitparser.TestSuite(clean(f"{finding.question.case} on {finding.question.package}"))
    for release in finding.releases:
        suite.add_testcase(_testcase(finding, release))
    document = junitparser.JUnitXml("harness bisect")
    document.add_testsuite(suite)
    document.update_statistics()
    text: str = document.tostring().decode()
    return text + "\n"


def _testcase(finding: Finding, release: ReleaseResult) -> junitparser.TestCase:
    name = clean(f"{finding.question.package} {release.version}")
    case = junitparser.TestCase(
        name, classname=clean(finding.question.case), time=sum(t.seconds for t in release.trials)
    )
    match release.verdict:
        case Outcome.BAD:
            symptoms = ", ".join(s.value for s in release.symptoms)
            case.result = [junitparser.Failure(clean(release.reason), symptoms)]
        case Outcome.SKIP:
            case.result = [junitparser.Skipped(clean(release.reason) or "could not be tested")]
        case None:
            case.result = [junitparser.Skipped("not run")]
        case Outcome.GOOD:
            pass
    return case
