"""Every report of a night that becomes a file of the night's folder."""

from __future__ import annotations

from collections.abc import Sequence

from harness.domain.nightly.alerts import Alert, JudgedNight
from harness.reporting.nightly import junit_report, night_report


def texts(night: JudgedNight, open_alerts: Sequence[Alert]) -> dict[str, str]:
    """Return the content of each report by its file name."""
    return {
        "report.md": night_report.markdown(night, open_alerts),
        "report.json": night_report.json_text(night, open_alerts),
        "junit.xml": junit_report.junit(night),
        "summary.md": night_report.summary(night, open_alerts),
    }
