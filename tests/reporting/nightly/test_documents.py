"""The files of a night by name."""

from __future__ import annotations

from harness.domain.nightly.alerts import nightly_history
from harness.reporting.nightly import documents, junit_report, night_report
from tests.nights import bad, good


def test_each_file_of_a_night_by_its_name() -> None:
    history = nightly_history([good(0), bad(1)])
    night, alerts = history.nights[-1], history.open_alerts
    assert alerts
    assert documents.texts(night, alerts) == {
        "report.md": night_report.markdown(night, alerts),
        "report.json": night_report.json_text(night, alerts),
        "junit.xml": junit_report.junit(night),
        "summary.md": night_report.summary(night, alerts),
    }
