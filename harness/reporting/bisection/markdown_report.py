"""``report.md``: can be pasted into an issue; the verdict sentence stands first."""

from __future__ import annotations

from harness.domain.findings.finding import Finding
from harness.reporting.templating import environment


def markdown(finding: Finding) -> str:
    """Return the report as Markdown."""
    return environment().get_template("report.md").render(finding=finding)
