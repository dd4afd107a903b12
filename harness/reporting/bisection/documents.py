"""Every report of a search that becomes a file; Markdown and HTML are templates."""

from __future__ import annotations

from harness.domain.findings.evidence import Evidence
from harness.domain.findings.finding import Finding
from harness.reporting.bisection import json_report, junit_report
from harness.reporting.moved_companions import moved_lines, partings
from harness.reporting.pages import bisection_page
from harness.reporting.templating import environment


def markdown(finding: Finding) -> str:
    """``report.md``: can be pasted into an issue; the verdict sentence stands first."""
    return environment().get_template("report.md").render(finding=finding, moved_lines=moved_lines, partings=partings)


def html(finding: Finding, evidence: Evidence | None = None) -> str:
    """``report.html``: one self-contained page with pictures, light and dark; nothing is loaded from outside."""
    return bisection_page.html(finding, evidence, paste=markdown(finding))


RENDERERS = {
    "report.json": json_report.json_text,
    "report.md": markdown,
    "report.html": html,
    "junit.xml": junit_report.junit,
}


def texts(finding: Finding, evidence: Evidence | None = None) -> dict[str, str]:
    """Return the content of each file of the run's folder by its name: the reports, then a lock per environment.

    Args:
        finding: The answer.
        evidence: What stands behind it, for the pictures; None: it is not at hand.
    """
    reports = {
        name: html(finding, evidence) if render is html else render(finding) for name, render in RENDERERS.items()
    }
    locks = {f"locks/{key}.txt": "\n".join(lock) + "\n" for key, lock in finding.locks.items()}
    return {**reports, **locks}
