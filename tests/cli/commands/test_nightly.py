"""The command line of the nights: what it refuses, and what it makes of a journal without running anything."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from harness.adapters.storage.nightly_journal import FileNightlyJournal, only_one
from harness.cli.commands import nightly
from harness.cli.publication import PublicationRequest
from harness.domain.errors import UsageError
from tests.cli.parsing import parse
from tests.nights import BAD, bad, broken, fixed, good, record


@pytest.fixture(autouse=True)
def _no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_TOKEN", "GH_TOKEN", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)


def state(tmp_path: Path, *nights: Any) -> Path:
    tmp_path.mkdir(exist_ok=True)
    book = FileNightlyJournal(tmp_path)
    for night in nights:
        book.end(night)
    return tmp_path


def run(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(nightly.command, list(words), standalone_mode=False)
    if result.exception:
        raise result.exception
    return int(result.return_value), result.output


def check(*words: str, environment: Mapping[str, str]) -> None:
    """Check a command line as the command does."""
    request, beside = parse("nightly", *words)
    report_only = beside.pop("report_only")
    nightly.check(
        request, PublicationRequest(state=request.state, **beside), report_only=report_only, environment=environment
    )


@pytest.mark.parametrize("name", ["GITHUB_TOKEN", "GH_TOKEN"])
def test_nightly_code_never_runs_beside_a_token(name: str) -> None:
    with pytest.raises(UsageError, match="a token lies in the environment"):
        check(environment={name: "secret"})
    check("--report-only", environment={name: "secret"})
    check(environment={})


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--github", "o/r"], "--github publishes"),
        (["--simulate"], "needs its nights"),
        (["--since", "2024-11-01", "--until", "2024-11-02"], "needs its nights"),
        (["--simulate", "--since", "a"], "needs its nights"),
        (["--simulate", "--since", "a", "--until", "b", "--report-only"], "--report-only does not"),
    ],
)
def test_what_cannot_be_meant_is_refused(words: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        check(*words, environment={})


def test_publishing_beside_nightly_code_may_be_tried_dry() -> None:
    check("--github", "o/r", "--dry-run", environment={})


@pytest.mark.parametrize(
    ("nights", "code"),
    [
        ([good(0)], 0),
        ([good(0), bad(1)], 3),
        ([good(0), bad(1), record(2, BAD)], 0),
        ([good(0), bad(1), fixed(2)], 4),
        ([broken(0)], 5),
    ],
)
def test_the_exit_code_is_that_of_the_last_night(tmp_path: Path, nights: list[Any], code: int) -> None:
    assert run("--report-only", "--state", str(state(tmp_path, *nights)))[0] == code


def test_everything_is_made_from_the_journal(tmp_path: Path) -> None:
    folder = state(tmp_path, good(0), bad(1))
    run("--report-only", "--state", str(folder))
    made = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert made == {
        "nights.jsonl",
        "history.sqlite",
        "alerts/identity-nonfinite-metric/alert.md",
        *(f"2024-11-02/{name}" for name in ("report.md", "report.json", "junit.xml", "summary.md")),
    }
    before = {name: (folder / name).read_bytes() for name in made if not name.endswith("sqlite")}
    run("--report-only", "--state", str(folder))
    assert {name: (folder / name).read_bytes() for name in before} == before


def test_a_dry_run_shows_what_would_be_opened(tmp_path: Path) -> None:
    folder = state(tmp_path, good(0), bad(1))
    _, output = run("--report-only", "--dry-run", "--github", "o/r", "--state", str(folder))
    assert "would open [nightly] identity: nonfinite-metric on keras-nightly" in output
    _, output = run("--report-only", "--dry-run", "--state", str(state(tmp_path / "quiet", good(0))))
    assert "nothing would be published" in output


def test_publishing_without_a_token_says_where_it_belongs(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no token"):
        run("--report-only", "--github", "o/r", "--state", str(state(tmp_path, good(0), bad(1))))


def test_ci_sees_annotations_and_a_summary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary"))
    _, output = run("--report-only", "--state", str(state(tmp_path / "state", good(0), bad(1))))
    assert "::error title=identity%3A new::nonfinite-metric: loss is nan" in output
    assert "# Night of 2024-11-02: 1 new" in (tmp_path / "summary").read_text()


def test_json_is_the_only_thing_on_stdout(tmp_path: Path) -> None:
    _, output = run("--report-only", "--json", "--state", str(state(tmp_path, good(0), bad(1))))
    assert json.loads(output)["night"]["judged"][0]["status"] == "new"


def test_an_empty_state_has_nothing_to_report(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no night to report"):
        run("--report-only", "--state", str(tmp_path))


def test_two_nights_at_once_change_nothing_and_end_inconclusive(tmp_path: Path) -> None:
    folder = state(tmp_path, good(0), bad(1))
    before = (folder / "nights.jsonl").read_bytes()
    with only_one(folder):
        assert run("--state", str(folder))[0] == 5
    assert (folder / "nights.jsonl").read_bytes() == before
