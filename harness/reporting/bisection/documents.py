"""Every report of a search that becomes a file."""

from __future__ import annotations

from harness.domain.findings.finding import Finding
from harness.reporting.bisection import html_report, json_report, junit_report, markdown_report

RENDERERS = {
    "report.json": json_report.json_text,
    "report.md": markdown_report.markdown,
    "report.html": html_report.html,
    "junit.xml": junit_report.junit,
}


def texts(finding: Finding) -> dict[str, str]:
    """Return the content of each file of the run's folder by its name: the reports, then a lock per environment."""
    reports = {name: render(finding) for name, render in RENDERERS.items()}
    locks = {f"locks/{key}.txt": "\n".join(lock) + "\n" for key, lock in finding.locks.items()}
    return {**reports, **locks}
