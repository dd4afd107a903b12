"""Write every report of a finding into the run's folder, whole or not at all."""

from __future__ import annotations

from pathlib import Path

from harness.adapters.storage.files import write_whole
from harness.domain.findings.finding import Finding
from harness.reporting.bisection import html_report, json_report, junit_report, markdown_report

RENDERERS = {
    "report.json": json_report.render,
    "report.md": markdown_report.render,
    "report.html": html_report.render,
    "junit.xml": junit_report.render,
}


def write_all(finding: Finding, folder: Path) -> None:
    """Render all reports first, then write them."""
    rendered = {name: render(finding) for name, render in RENDERERS.items()}
    for name, content in rendered.items():
        write_whole(folder / name, content)
    locks = folder / "locks"
    locks.mkdir(exist_ok=True)
    for key, lock in finding.locks.items():
        write_whole(locks / f"{key}.txt", "\n".join(lock) + "\n")


def json_text(finding: Finding) -> str:
    """The JSON report without its final newline, for stdout."""
    return json_report.render(finding).rstrip("\n")
