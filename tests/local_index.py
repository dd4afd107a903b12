"""A package index on loopback that speaks the simple API, as JSON and as HTML, and can be told to misbehave."""

from __future__ import annotations

import contextlib
import hashlib
import html
import json
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.toys import Toy, write

JSON = "application/vnd.pypi.simple.v1+json"
HTML = "application/vnd.pypi.simple.v1+html"

Fault = Callable[[BaseHTTPRequestHandler, bytes], None]
"""Answers a request in its own way; it gets the body that an honest index would send."""


@dataclass(frozen=True, kw_only=True)
class Served:
    """One file of the index with what the page says of it."""

    toy: Toy
    path: Path
    sha256: str


class _Server(ThreadingHTTPServer):
    """Prints nothing when a client hangs up."""

    def handle_error(self, request: Any, client_address: Any) -> None: ...


class LocalIndex:
    """Publishes toys; `faults` maps the end of a path to the way in which it fails."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.faults: dict[str, Fault] = {}
        self.asked: list[str] = []
        self.json = True
        self.ended = threading.Event()
        self._files: dict[str, list[Served]] = {}
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self.address = f"http://127.0.0.1:{self.port}/simple/"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def publish(self, toys: Iterable[Toy]) -> None:
        """Write the files of these releases and list them."""
        for toy in toys:
            path = write(toy, self.folder)
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            self._files.setdefault(toy.name, []).append(Served(toy=toy, path=path, sha256=digest))

    def publish_bytes(self, toy: Toy, content: bytes) -> None:
        """List a release whose file is really these bytes: what is broken was published so."""
        path = write(toy, self.folder)
        path.write_bytes(content)
        self._files.setdefault(toy.name, []).append(
            Served(toy=toy, path=path, sha256=hashlib.sha256(content).hexdigest())
        )

    def withdraw(self, name: str, version: str) -> None:
        """List a release no more; its file is gone too."""
        for one in [one for one in self._files[name] if one.toy.version == version]:
            one.path.unlink()
            self._files[name].remove(one)

    def close(self) -> None:
        """Stop; connections that stall are let go."""
        self.ended.set()
        self._server.shutdown()
        self._server.server_close()

    def body(self, path: str, accept: str) -> tuple[str, bytes] | None:
        """Content type and body of a path, or None when it does not exist."""
        if path.startswith("/files/"):
            file = self.folder / path.rsplit("/", 1)[1]
            return ("application/octet-stream", file.read_bytes()) if file.is_file() else None
        served = self._files.get(path.removeprefix("/simple/").strip("/"))
        if served is None:
            return None
        if self.json and JSON in accept:
            return JSON, json.dumps(_json_page(served)).encode()
        return HTML, _html_page(served).encode()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        index = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path = self.path.split("?")[0]
                index.asked.append(path)
                found = index.body(path, self.headers.get("Accept", ""))
                fault = next((f for end, f in index.faults.items() if path.endswith(end)), None)
                if fault is not None:
                    fault(self, found[1] if found else b"")
                elif found is None:
                    self.send_error(404)
                else:
                    respond(self, found[1], kind=found[0])

            do_HEAD = do_GET  # noqa: N815

            def log_message(self, *_: Any) -> None: ...

        return Handler


def respond(
    handler: BaseHTTPRequestHandler, body: bytes, *, kind: str = "text/html", length: int | None = None
) -> None:
    """Send a whole answer; `length` is what the header claims."""
    handler.send_response(200)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(body) if length is None else length))
    handler.end_headers()
    if handler.command == "GET":
        handler.wfile.write(body)


def says(kind: str, body: bytes) -> Fault:
    """Answer with this instead."""
    return lambda handler, _: respond(handler, body, kind=kind)


def fails_with(status: int) -> Fault:
    """Answer with an HTTP error."""
    return lambda handler, _: handler.send_error(status)


def answers(status: int, kind: str = "", location: str = "") -> Fault:
    """Answer with this status and no body; without a content type unless one is given."""

    def send(handler: BaseHTTPRequestHandler, _: bytes) -> None:
        handler.send_response(status)
        for name, value in (("Content-Type", kind), ("Location", location)):
            if value:
                handler.send_header(name, value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return send


def breaks_off(handler: BaseHTTPRequestHandler, body: bytes) -> None:
    """Promise everything, send half and hang up."""
    respond(handler, body[: len(body) // 2], kind="application/octet-stream", length=len(body))


def stalls(index: LocalIndex) -> Fault:
    """Accept the request and never answer."""
    return lambda handler, _: void(index.ended.wait())


def trickles(index: LocalIndex) -> Fault:
    """Send one byte after the other, for ever: no pause is long enough to be a timeout."""

    def send(handler: BaseHTTPRequestHandler, body: bytes) -> None:
        respond(handler, b"", kind=JSON, length=1 << 30)
        with contextlib.suppress(OSError):
            while not index.ended.wait(0.02):
                handler.wfile.write(b" ")

    return send


LOGIN = b'<!DOCTYPE html><html><body>Please <a href="/login">log in</a></body></html>'
"""What a proxy or a gate sends in the place of everything."""


REFUSALS: dict[str, Fault] = {
    "401": answers(401),
    "403": answers(403),
    "404": answers(404),
    "410": answers(410),
    "204": answers(204),
    "redirect": answers(302),
    "login page": says("text/html", LOGIN),
    "nothing": says("text/html", b""),
    "foreign bytes": says("application/octet-stream", b"\0" * 5000),
}
"""What an index, a proxy or a gate answers in the place of a page or a file."""


def corrupts(handler: BaseHTTPRequestHandler, body: bytes) -> None:
    """Send other bytes than the page promised."""
    respond(handler, body[:-40] + b"\0" * 40, kind="application/octet-stream")


def times(count: int, fault: Fault, honest: Fault) -> Fault:
    """Fail this often and be honest afterwards."""
    left = [count]

    def answer(handler: BaseHTTPRequestHandler, body: bytes) -> None:
        left[0] -= 1
        (fault if left[0] >= 0 else honest)(handler, body)

    return answer


def sends_file(handler: BaseHTTPRequestHandler, body: bytes) -> None:
    """Answer honestly with a file."""
    respond(handler, body, kind="application/octet-stream")


def void(_: object) -> None:
    """Drop a value."""


def _json_page(served: Iterable[Served]) -> dict[str, Any]:
    files = [
        {
            "filename": one.path.name,
            "url": f"/files/{one.path.name}",
            "hashes": {"sha256": one.sha256},
            "requires-python": one.toy.requires_python,
            "yanked": False if one.toy.yanked is None else one.toy.yanked or True,
            "size": one.path.stat().st_size,
            **({"upload-time": f"{one.toy.uploaded:%Y-%m-%dT%H:%M:%SZ}"} if one.toy.uploaded else {}),
        }
        for one in served
    ]
    name = next(iter(served)).toy.name
    return {"meta": {"api-version": "1.1"}, "name": name, "files": files, "versions": []}


def _html_page(served: Iterable[Served]) -> str:
    links = []
    for one in served:
        attributes = f'href="/files/{one.path.name}#sha256={one.sha256}"'
        if one.toy.requires_python:
            attributes += f' data-requires-python="{html.escape(one.toy.requires_python)}"'
        if one.toy.yanked is not None:
            attributes += f' data-yanked="{html.escape(one.toy.yanked)}"'
        links.append(f"<a {attributes}>{one.path.name}</a>")
    return "<!DOCTYPE html><html><body>" + "\n".join(links) + "</body></html>"
