"""The report of a night arrives as it was sent, and no failure shows the address."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from harness.adapters import webhook
from harness.domain.errors import InfrastructureError
from tests.adapters.serving import serving


class Server(ThreadingHTTPServer):
    """Takes what is posted to /hook and refuses the rest."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.posted: list[tuple[str, bytes]] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.posted.append((self.headers["Content-Type"], body))
        self.send_response(200 if self.path == "/hook" else 401)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name in the standard library
        """Stay quiet."""


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    with serving(made):
        yield made


def test_the_json_arrives_as_it_was_sent(server: Server) -> None:
    text = '{"night": "2024-11-01", "note": "\u00e4 \u2192"}'
    assert webhook.post(f"{server.address}/hook", text) == 200
    assert server.posted == [("application/json", text.encode())]


def test_a_refusal_is_said_without_the_address(server: Server) -> None:
    with pytest.raises(InfrastructureError, match="HTTP 401") as failure:
        webhook.post(f"{server.address}/secret-path", "{}")
    assert "secret-path" not in str(failure.value)


def test_a_server_that_is_not_there_is_said_without_the_address() -> None:
    with pytest.raises(InfrastructureError, match="does not answer") as failure:
        webhook.post("http://127.0.0.1:9/secret-path", "{}")
    assert "secret-path" not in str(failure.value)


@pytest.mark.parametrize("address", ["no address", "http://", "ftp://127.0.0.1/secret-path"])
def test_an_address_that_is_none_is_said(address: str) -> None:
    with pytest.raises(InfrastructureError) as failure:
        webhook.post(address, "{}")
    assert failure.value.where == "--webhook"
    assert "secret-path" not in str(failure.value)
