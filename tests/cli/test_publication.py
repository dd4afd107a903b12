"""What a night leaves behind: files, what CI shows, and what would be published; nothing here runs anything."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.adapters.storage.nightly_journal import FileNightlyJournal
from harness.cli import publication
from harness.cli.publication import PublicationRequest
from harness.domain.errors import UsageError
from tests.nights import bad, good


def request(folder: Path, *nights: Any, **changes: Any) -> PublicationRequest:
    folder.mkdir(parents=True, exist_ok=True)
    journal = FileNightlyJournal(folder)
    for night in nights:
        journal.end(night)
    return PublicationRequest(state=folder, **changes)


@pytest.fixture
def posted() -> Iterator[tuple[str, list[bytes]]]:
    """An address, and what was posted to it."""
    bodies: list[bytes] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
            """Nothing on stderr."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/", bodies
        server.shutdown()
        thread.join()


def test_the_webhook_gets_the_night_as_json(tmp_path, capsys, posted):
    address, bodies = posted
    assert publication.report(request(tmp_path, good(0), bad(1), webhook=address, as_json=True), {}) == 3
    (body,) = bodies
    assert json.loads(body) == json.loads(capsys.readouterr().out)


def test_a_dry_run_posts_nothing_and_says_how_much_it_would(tmp_path, capsys, posted):
    address, bodies = posted
    publication.report(request(tmp_path, good(0), webhook=address, dry_run=True), {})
    assert bodies == []
    shown = capsys.readouterr().out
    assert "characters of JSON to the webhook" in shown
    assert address not in shown, "it may hold a secret"


def test_ci_is_told_by_the_job_that_ran_the_night_alone(tmp_path, capsys):
    """The job that publishes to the tracker would write the same annotations a second time."""
    ci = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}
    publication.report(request(tmp_path / "run", good(0), bad(1)), ci)
    assert "::error " in capsys.readouterr().out
    assert (tmp_path / "summary").read_text().startswith("# Night of 2024-11-02")
    (tmp_path / "summary").unlink()
    publication.report(request(tmp_path / "other", good(0), bad(1), github="o/r", dry_run=True), ci)
    assert "::error " not in capsys.readouterr().out
    assert not (tmp_path / "summary").exists()


def test_without_a_token_a_dry_run_shows_what_an_empty_tracker_would_get(tmp_path, capsys):
    publication.report(request(tmp_path, good(0), bad(1), github="o/r", dry_run=True), {})
    assert "no token: shown as for an empty tracker\nwould open [nightly] identity" in capsys.readouterr().out
    with pytest.raises(UsageError, match="there is no token"):
        publication.report(request(tmp_path, github="o/r"), {})


def test_a_case_of_any_name_has_its_alert_in_a_folder_below_the_state(tmp_path):
    """It may come from a file of any name."""
    state = tmp_path / "state"
    publication.report(request(state, good(0, case="../../a case"), bad(1, case="../../a case")), {})
    (alert,) = tmp_path.rglob("alert.md")
    assert alert.is_relative_to(state / "alerts")
    assert alert.parent.name.endswith("a_case-nonfinite-metric")


def test_nothing_to_report_says_what_to_run(tmp_path):
    with pytest.raises(UsageError, match="no night to report") as refused:
        publication.report(request(tmp_path), {})
    assert "harness nightly" in str(refused.value)
