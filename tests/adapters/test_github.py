"""The client against a server on this machine that speaks the part of the API that is used."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from harness.domain.errors import InfrastructureError
from harness.domain.nightly.alerts import Alert, nightly_history
from harness.domain.nightly.nights import NightRecord
from harness.domain.nightly.publishing import actions
from harness.reporting.nightly.alert_report import text
from tests.adapters.serving import serving
from tests.nights import BAD, bad, broken, fixed, good, record

pytest.importorskip("github")
from harness.adapters.github import LABEL, GitHubTracker

TOKEN = "a-token-of-the-tests"


class Server(ThreadingHTTPServer):
    """Issues and comments in memory; refuses a wrong token."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.issues: list[dict[str, Any]] = []
        self.comments: dict[int, list[dict[str, Any]]] = {}
        self.asked: list[str] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    """The five requests: list, create and edit issues; list and create comments."""

    server: Server

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name in the standard library
        """Stay quiet."""

    def answer(self, body: Any, status: int = 200) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def serve(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else {}
        self.server.asked.append(f"{self.command} {self.path.split('?')[0]}")
        if TOKEN not in (self.headers.get("Authorization") or ""):
            return self.answer({"message": "Bad credentials"}, 401)
        path = self.path.split("?")[0]
        found = re.fullmatch(r"/repos/o/r/issues(?:/(\d+)(/comments)?)?", path)
        assert found, path
        number, comments = int(found[1] or 0), bool(found[2])
        match self.command, bool(number), comments:
            case "GET", False, _:
                assert f"labels={LABEL}" in self.path
                assert "state=all" in self.path
                return self.answer(self.server.issues if "page=2" not in self.path else [])
            case "POST", False, _:
                return self.answer(self.create(body), 201)
            case "PATCH", True, False:
                self.server.issues[number - 1].update({k: v for k, v in body.items() if k != "state_reason"})
                return self.answer(self.server.issues[number - 1])
            case "GET", True, True:
                return self.answer(self.server.comments[number])
            case "POST", True, True:
                assert len(body["body"]) < 65536
                self.server.comments[number].append({"id": len(self.server.comments[number]) + 1, **body})
                return self.answer(self.server.comments[number][-1], 201)
            case _:
                raise AssertionError(path)

    def create(self, body: dict[str, Any]) -> dict[str, Any]:
        number = len(self.server.issues) + 1
        url = f"{self.server.address}/repos/o/r/issues/{number}"
        issue = {"number": number, "state": "open", "url": url, **body, "labels": [{"name": n} for n in body["labels"]]}
        self.server.issues.append(issue)
        self.server.comments[number] = []
        return issue

    do_GET = do_POST = do_PATCH = serve  # noqa: N815 - the names in the standard library


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    with serving(made):
        yield made


def publish(server: Server, *nights: NightRecord, token: str = TOKEN) -> list[str]:
    alerts: tuple[Alert, ...] = nightly_history(nights).alerts
    tracker = GitHubTracker("o/r", token, server.address)
    return tracker.perform(actions(alerts, {alert.key: text(alert) for alert in alerts}, tracker.posted()))


def test_the_life_of_an_issue(server: Server) -> None:
    nights: list[NightRecord] = [good(0), bad(1)]
    assert publish(server, *nights) == ["open #1: [nightly] identity: nonfinite-metric on keras-nightly"]
    assert publish(server, *nights) == []
    nights += [record(2, BAD), broken(3)]
    assert publish(server, *nights) == ["edit #1"]
    nights += [fixed(4)]
    assert publish(server, *nights) == ["edit #1", "comment #1"]
    nights += [good(5), good(6)]
    assert publish(server, *nights) == ["edit #1", "comment #1", "close #1"]
    assert server.issues[0]["state"] == "closed"
    nights += [bad(7)]
    assert publish(server, *nights) == ["reopen #1", "edit #1", "comment #1"]
    assert len(server.issues) == 1
    assert [c["body"].splitlines()[1].split("**")[1] for c in server.comments[1]] == ["fixed", "closed", "regressed"]


def test_an_issue_is_found_by_its_key_whatever_its_title_is(server: Server) -> None:
    publish(server, good(0), bad(1))
    server.issues[0]["title"] = "renamed by a person"
    assert publish(server, good(0), bad(1), record(2, BAD)) == ["edit #1"]
    assert server.issues[0]["title"] == "renamed by a person"


def test_issues_of_others_under_our_label_are_left_alone(server: Server) -> None:
    server.issues.append(
        {"number": 1, "state": "open", "title": "a question", "body": None, "labels": [{"name": LABEL}]}
    )
    server.comments[1] = []
    assert publish(server, good(0), bad(1)) == ["open #2: [nightly] identity: nonfinite-metric on keras-nightly"]


def test_a_refusal_says_what_to_do_and_not_the_token(server: Server) -> None:
    with pytest.raises(InfrastructureError, match="refused \\(401\\): Bad credentials") as error:
        publish(server, good(0), bad(1), token="wrong-token")
    assert "wrong-token" not in str(error.value)


def test_nobody_answers() -> None:
    tracker = GitHubTracker("o/r", TOKEN, "http://127.0.0.1:9")
    with pytest.raises(InfrastructureError, match="does not answer"):
        tracker.posted()
