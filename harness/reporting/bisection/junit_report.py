"""``junit.xml`` for CI: bad is a failure, not testable is skipped with its reason, not run is skipped too."""

from __future__ import annotations

import junitparser

from harness.domain.findings.finding import Finding, ReleaseResult
from harness.domain.verdicts.verdict import Outcome
from harness.reporting.junit import Result, document, junit_case
from harness.reporting.text import clean


def junit(finding: Finding) -> str:
    """Return the report as JUnit XML, one test case per release."""
    question = finding.question
    cases = (
        junit_case(
            f"{question.package} {release.version}",
            question.case,
            _result(release),
            seconds=sum(trial.seconds for trial in release.trials),
        )
        for release in finding.releases
    )
    return document("harness bisect", f"{question.case} on {question.package}", cases)


def _result(release: ReleaseResult) -> Result | None:
    match release.verdict:
        case Outcome.BAD:
            symptoms = ", ".join(symptom.value for symptom in release.symptoms)
            return junitparser.Failure(clean(release.reason), symptoms)
        case Outcome.SKIP:
            return junitparser.Skipped(clean(release.reason) or "could not be tested")
        case None:
            return junitparser.Skipped("not run")
        case Outcome.GOOD:
            return None
