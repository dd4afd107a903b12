"""``report.html``: one self-contained page, light and dark, no script and nothing loaded from outside."""

from __future__ import annotations

from harness.domain.findings.finding import Finding
from harness.reporting.templating import environment


def html(finding: Finding) -> str:
    """Return the report as HTML."""
    return environment().get_template("report.html").render(finding=finding)
